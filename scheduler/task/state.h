// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: state.h
// -----------------------------------------------------------------------------
//
// The state word of a task: nine bits and a reference count. Internal to the
// scheduler.
//
// # Bits
//
//   kRunning       A thread is polling the task, destroying its future, or
//                  tracing it. Only this thread touches the future.
//   kComplete      The future is destroyed. The output is there, or was taken.
//   kNotified      The task must be polled: it is in a run queue, or, while it
//                  is running, goes back to one when the poll ends. Has no
//                  meaning once the task is complete.
//   kJoinInterest  A JoinHandle exists. If kComplete is set too, the handle
//                  must take or destroy the output.
//   kCancelled     The future must be destroyed instead of polled.
//   kJoinWaker     A waker must be called on completion. Never changes once
//                  the task is complete.
//   kTraced        Set together with kRunning: the running thread only reads
//                  where the future waits, and leaves the future unchanged.
//   kTracerHolds   Set together with kTraced: the tracer has the hold of the
//                  run queue.
//   kRejoined      The handle has taken a waker back at least once.
//
// # References
//
// The list of all tasks (until completion), the JoinHandle and every waker have
// one reference each. A run queue that has the task also has one, called the
// hold. The hold passes to the thread that takes the task from the queue.
// Dropping the last reference frees the task.
//
// # Transitions
//
//   who                 from                 to
//   BeginRunning        (new)                Running: no other thread knows it
//   StartRunning        Notified             Running
//                       Notified Cancelled   Running Cancelled: to be cancelled
//                       Running | Complete   unchanged: another thread ended it
//                       Traced               TracerHolds: the hold is left to
//                                            the tracer
//   Continue            Running              unchanged: see below
//                       Running Notified     Running
//                       Running Cancelled    unchanged: to be cancelled
//   SuspendRunning      Running              (idle); the hold is dropped
//                       Running Notified, or Notified; the hold goes to a queue
//                       the poll yielded
//                       Running Cancelled    unchanged: to be cancelled
//   CompleteRunning     Running              Complete; drops references if no
//                                            work is left
//   Wake, WakeAndDrop   (idle)               Notified; to a queue
//                       Running              Running Notified
//                       Notified | Complete  unchanged
//   Abort               (idle)               Notified Cancelled; to a queue
//                       Running              Running Notified Cancelled
//                       Notified             Notified Cancelled
//                       Complete | Cancelled unchanged
//   TakeOverToCancel    (idle) | Notified    Running Cancelled: to be cancelled
//                       Running              Running Cancelled: left to the
//                                            running thread
//                       Complete | Traced    unchanged; if Traced, try again
//                                            after the trace
//   SetJoinWaker        (none)               JoinWaker
//                       Complete             unchanged
//   TakeJoinWaker       JoinWaker            Rejoined
//                       Complete             unchanged
//   DropHandle          JoinInterest         (none); the waker and the
//                         and JoinWaker      reference of the handle are
//                                            dropped
//                       Complete             unchanged
//   BeginTrace          (idle)               Running Traced TracerHolds, with a
//                                            new reference
//                       Notified             Running Traced Notified
//                       Running | Complete   unchanged: not traced
//   EndTrace            Traced               (none); a queue still has the hold
//                       Traced TracerHolds   (idle); the hold is dropped
//                       Traced TracerHolds   Notified; the hold goes to a queue
//                         Notified
//
// Bits that a row does not name keep their values. A task taken over for
// cancellation keeps kNotified: a queue may still have the task, and finds it
// complete.
//
// A task that has yielded may go to a queue while still in the running state.
// To all other threads the poll has not ended. The task thereby skips a
// suspension and a start. The queue then orders one poll after the other. A
// wake or an abort meanwhile sets bits in the state, and `Continue()` checks
// these bits. A shutdown leaves the cancellation to the running thread, even if
// the running thread only takes the task out of the queue (task::Discard()). A
// new task may go to such a queue in the same way, and then needs no start at
// all.
//
// To all other threads a tracer is the running thread: a wake meanwhile only
// sets kNotified, an abort also kCancelled, and EndTrace then puts the task
// into a queue if necessary. There are two exceptions. A thread that took the
// task from a queue must not drop the hold, because the task must still be
// polled. A thread that shuts the task down waits for the end of the trace: it
// must not leave the cancellation to the tracer, which need not be a worker.
//
// Every transition except BeginRunning and Continue is a read-modify-write,
// even if it changes nothing. A Wake of a notified task must still release: the
// next poll acquires from the state word what the waking thread did (tokio
// #7622).
//
// # Ordering
//
// Release and acquire are the two halves of each read-modify-write. If the code
// has both and the table lists only one, nothing relies on the other half: it
// comes with `Update()`.
//
//   who                 order    what for, and what it pairs with
//   BeginRunning        relaxed  publishing the task to other threads orders it
//   StartRunning        acquire  SuspendRunning: what the last poll left in the
//                                future; Wake and Abort: what was done before
//                                them; EndTrace: the trace is over
//   Continue            relaxed  if neither notified nor cancelled: the queue
//                                orders the polls
//                       acquire  otherwise: Wake and Abort, as in StartRunning
//   SuspendRunning      release  StartRunning, TakeOverToCancel, BeginTrace:
//                                what the poll has left in the future
//                       acquire  Abort and TakeOverToCancel, if the task must
//                                be cancelled: what was done before them
//   CompleteRunning     release  IsComplete, JoinState, SetJoinWaker,
//                                TakeJoinWaker and DropHandle, if they find the
//                                task complete: the output; and the last
//                                reference
//                       acquire  SetJoinWaker: the words of the waker, even if
//                                the exchange fails; and other references
//   Wake, WakeAndDrop   release  StartRunning, Continue: what was done before;
//                                WakeAndDrop: the last reference
//                       acquire  WakeAndDrop, of the last reference
//   Abort               release  StartRunning, Continue, SuspendRunning: what
//                                was done before
//   TakeOverToCancel    acquire  as in StartRunning
//                       release  Continue and SuspendRunning, if the running
//                                thread cancels: what was done before
//   SetJoinWaker        release  CompleteRunning: the words of the waker
//                       acquire  CompleteRunning, if complete: the output
//   TakeJoinWaker       acquire  CompleteRunning, if complete: the output
//   DropHandle          release  the last reference
//                       acquire  CompleteRunning, if complete: the output
//   BeginTrace          acquire  SuspendRunning: what is traced
//   EndTrace            release  StartRunning, TakeOverToCancel: what is traced
//                                does not change before the trace is over
//   IsComplete,         acquire  CompleteRunning: the output
//     JoinState
//   HasJoinInterest     relaxed  only the last reference needs what the handle
//                                did
//   IsOnlyReference     acquire  Unref and all other drops of references: their
//                                uses come before the task is freed
//   Ref                 relaxed  the caller has a reference, which lasts
//   Unref               release  the last reference
//                       acquire  of the last reference: all those before it
//
// A read-modify-write between a release and its acquire, such as the Ref of
// another waker, does no harm: it continues the release sequence.
//
// # Who destroys the output
//
// CompleteRunning and DropHandle are read-modify-writes of one word, so one
// comes first. If DropHandle is first, the running thread destroys the output.
// The thread may do so before completing the task, because no new JoinHandle
// can appear. If CompleteRunning is first, the handle takes or drops the
// output, and then drops its reference.
//
// # Who owns the join waker
//
// The join waker is two words in the header, and the reference that the words
// represent.
//
//   1. Only the handle writes the words, and only while kJoinWaker is clear.
//   2. While kJoinWaker is set the words do not change. The handle and the
//      thread that completes the task may read the words.
//   3. If the completing thread finds kJoinWaker set, it owns the reference.
//      Waking uses up the reference, so nothing is left to drop. The words
//      stay, but no longer represent anything.
//   4. In any other case the handle owns the reference: TakeJoinWaker or
//      DropHandle has cleared kJoinWaker, or SetJoinWaker has come too late.
//   5. A handle that finds the task complete leaves words and reference alone.
//   6. If kJoinWaker is set, the completing thread reads the words before it
//      completes the task, because completion also drops the thread's
//      references, and the task may then be freed. If kJoinWaker has remained
//      set, the words are unchanged by rule 2. If it may have been cleared and
//      set again meanwhile, kRejoined is set: the completing thread then keeps
//      its references until it has read the words again. The words are atomic
//      because a read may race with a write; the result of such a read is not
//      used.
//
// If the handle is destroyed before completion, its waker is destroyed too
// (tokio #6986); otherwise the call consumes the waker. If the handle is
// destroyed between completion and the call, the running thread already has the
// words, or has a reference to the task that keeps them (tokio #2096).
//
// A handle that finds kJoinWaker set, and the task not complete, may compare
// its waker with the words by rule 2, even if the task completes meanwhile. If
// they are equal the handle need not do anything: completion comes later, and
// calls the waker. The waker's executor ensures that the poll finds the task
// complete: everything before a wake happens before the resulting poll.

#ifndef ROUSE_SCHEDULER_TASK_STATE_H_
#define ROUSE_SCHEDULER_TASK_STATE_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/mutable_step.h"

namespace rouse::task {

class State {
 public:
  // Constructs the state of a new task, which has a JoinHandle and a hold. The
  // third reference is for the list of all tasks, to which a task from outside
  // the scheduler is added later.
  State() : word_(3 * kReference | kJoinInterest | kNotified) {}

  bool IsComplete() const {
    // Acquire pairs with the release of CompleteRunning: the output is visible.
    return (word_.load(std::memory_order_acquire) & kComplete) != 0;
  }

  // Puts a new task into the running state. Called by the thread that made the
  // task, before any other thread knows the task.
  void BeginRunning() {
    // Relaxed: publishing the task to other threads orders this store.
    word_.store(3 * kReference | kJoinInterest | kRunning,
                std::memory_order_relaxed);
  }

  enum class Start { kPoll, kCancel, kSkip, kTraced };

  // Starts a poll. Called by the thread that took the task from a queue. kSkip:
  // another thread has ended the task, and the caller must still drop the hold.
  // kTraced: another thread is tracing the task, and now has the hold.
  Start StartRunning() {
    // The usual case, without the questions below.
    if (TryChange(kRunning | kComplete | kNotified | kCancelled | kTraced,
                  kNotified, kRunning - kNotified)) {
      return Start::kPoll;
    }
    return Update([](uint64_t& word) {
      if ((word & kTraced) != 0) {
        word |= kTracerHolds;
        return Start::kTraced;
      }
      if (MutableCondition((word & (kRunning | kComplete)) != 0)) {
        return Start::kSkip;
      }
      word = (word & ~kNotified) | kRunning;
      return (word & kCancelled) != 0 ? Start::kCancel : Start::kPoll;
    });
  }

  // Like `StartRunning()`, for a task that went to the queue in the running
  // state. Returns kPoll or kCancel.
  Start Continue() {
    // Relaxed: if this load sees a Wake, the exchange below acquires what the
    // waking thread did. A Wake missed by this load finds the task not
    // notified, and causes another poll.
    const uint64_t word = word_.load(std::memory_order_relaxed);
    ABSL_ASSERT((word & kRunning) != 0 && (word & (kComplete | kTraced)) == 0);
    if (ABSL_PREDICT_TRUE((word & (kNotified | kCancelled)) == 0)) {
      return Start::kPoll;
    }
    return Update([](uint64_t& word) {
      word &= ~kNotified;
      return (word & kCancelled) != 0 ? Start::kCancel : Start::kPoll;
    });
  }

  enum class Suspend { kIdle, kReschedule, kCancel };

  // Ends a poll that returned pending. Called by the running thread. `yielded`
  // counts as a wake. kIdle: the hold has been dropped, and the task may be
  // freed.
  Suspend SuspendRunning(bool yielded = false) {
    // The usual case, without the questions below. The list of all tasks has a
    // reference, so this is not the last one.
    if (!yielded && TryChange(kNotified | kCancelled, 0,
                              uint64_t{0} - kRunning - kReference)) {
      return Suspend::kIdle;
    }
    return Update([yielded](uint64_t& word) {
      if ((word & kCancelled) != 0) return Suspend::kCancel;
      word &= ~kRunning;
      if (yielded) word |= kNotified;
      if (MutableCondition((word & kNotified) != 0)) {
        return Suspend::kReschedule;
      }
      // The list of all tasks has a reference, so this is not the last one.
      ABSL_ASSERT(word >= 2 * kReference);
      word -= kReference;
      return Suspend::kIdle;
    });
  }

  enum class Complete { kDone, kLast, kWakeJoiner, kWakeRejoined, kDropOutput };

  // Completes the task. Called by the running thread when the output is in
  // place, or has been dropped because no handle exists.
  //
  //   kDone          The caller's `references` have been dropped, and the task
  //                  may be freed.
  //   kLast          The caller's `references` have been dropped, and the
  //                  caller must free the task.
  //   kWakeJoiner    The caller's `references` have been dropped, and the task
  //                  may be freed. The caller owns the join waker, which the
  //                  last call of `read_join_waker()` has read.
  //   kWakeRejoined  The caller keeps its references. The caller owns the join
  //                  waker, and must still read the waker's words.
  //   kDropOutput    The caller keeps its references. No handle exists, and the
  //                  caller must drop the output.
  template <class F>
  Complete CompleteRunning(uint64_t references, bool output_dropped,
                           F read_join_waker) {
    // Acquire, even if the exchange fails, pairs with the release of
    // SetJoinWaker, for the words that are read before the exchange.
    uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      uint64_t next = word;
      const Complete result = Completed(next, references, output_dropped);
      if (result == Complete::kWakeJoiner) read_join_waker();
      // Release: the output is visible to the thread that takes or drops it.
      // Acquire: for the words that are read after the exchange.
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        return result;
      }
    }
  }

  // Returns whether a JoinHandle exists. Once false, the result stays false.
  bool HasJoinInterest() const {
    // Relaxed: the caller does not depend on what the handle did, until the
    // caller has the last reference.
    return (word_.load(std::memory_order_relaxed) & kJoinInterest) != 0;
  }

  // Wakes the task. Returns whether the caller must put the task into a queue,
  // with a new reference.
  bool Wake() {
    return Update([](uint64_t& word) {
      if ((word & (kComplete | kNotified)) != 0) return false;
      word |= kNotified;
      if (MutableCondition((word & kRunning) != 0)) return false;
      word += kReference;
      return true;
    });
  }

  enum class WakeByValue { kDone, kSubmit, kLast };

  // Like `Wake()`, for a waker that gives up its reference. kSubmit: the
  // reference goes to the queue. kLast: the reference was the last one.
  WakeByValue WakeAndDrop() {
    // The usual case, without the questions below.
    if (TryChange(kRunning | kComplete | kNotified, 0, kNotified)) {
      return WakeByValue::kSubmit;
    }
    return Update([](uint64_t& word) {
      if ((word & (kComplete | kNotified | kRunning)) == 0) {
        word |= kNotified;
        return WakeByValue::kSubmit;
      }
      if ((word & kComplete) == 0) word |= kNotified;
      word -= kReference;
      return word < kReference ? WakeByValue::kLast : WakeByValue::kDone;
    });
  }

  // Marks the task as cancelled. Returns whether the caller must put the task
  // into a queue, with a new reference.
  bool Abort() {
    return Update([](uint64_t& word) {
      if ((word & (kComplete | kCancelled)) != 0) return false;
      const bool idle = (word & (kRunning | kNotified)) == 0;
      word |= kCancelled | kNotified;
      if (idle) word += kReference;
      return idle;
    });
  }

  enum class TakeOver { kCancel, kLeave, kTraced };

  // Makes the caller the running thread in order to cancel the task. kLeave:
  // the task is complete, or another thread runs the task and then finds it
  // cancelled. kTraced: the state is unchanged.
  TakeOver TakeOverToCancel() {
    return Update([](uint64_t& word) {
      if ((word & kTraced) != 0) return TakeOver::kTraced;
      if ((word & kComplete) != 0) return TakeOver::kLeave;
      const bool idle = (word & kRunning) == 0;
      word |= kCancelled | kRunning;
      return idle ? TakeOver::kCancel : TakeOver::kLeave;
    });
  }

  // Begins a trace. Called by a thread that has a reference. Returns whether
  // the caller may trace the task until `EndTrace()`: false if a thread is
  // running the task, or the task is complete.
  bool BeginTrace() {
    return Update([](uint64_t& word) {
      if ((word & (kRunning | kComplete)) != 0) return false;
      if ((word & kNotified) == 0) {
        word |= kTracerHolds;
        word += kReference;
      }
      word |= kRunning | kTraced;
      return true;
    });
  }

  // Ends a trace. Called by the tracer. Returns whether the caller must put the
  // task into a queue, with the caller's hold.
  bool EndTrace() {
    return Update([](uint64_t& word) {
      ABSL_ASSERT((word & kTraced) != 0);
      const bool holds = (word & kTracerHolds) != 0;
      word &= ~(kRunning | kTraced | kTracerHolds);
      if (!holds) return false;
      if (MutableCondition((word & kNotified) != 0)) return true;
      // The caller has another reference, so this is not the last one.
      ABSL_ASSERT(word >= 2 * kReference);
      word -= kReference;
      return false;
    });
  }

  enum class Join { kComplete, kWakerSet, kWakerNotSet };

  // Returns whether the task is complete, and if not, whether a join waker is
  // set. Called by the JoinHandle.
  Join JoinState() const {
    // Acquire pairs with the release of CompleteRunning: the output is visible.
    const uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & kComplete) != 0) return Join::kComplete;
    return (word & kJoinWaker) != 0 ? Join::kWakerSet : Join::kWakerNotSet;
  }

  // Marks the join waker as set. Called by the JoinHandle, which has written
  // the waker. Returns false if the task is complete: the output is there, and
  // the handle still owns the waker.
  bool SetJoinWaker() {
    return Update([](uint64_t& word) {
      if ((word & kComplete) != 0) return false;
      word |= kJoinWaker;
      return true;
    });
  }

  // Gives the join waker back to the JoinHandle, which calls this. Returns
  // false if the task is complete: the output is there, and the handle does not
  // own the waker.
  bool TakeJoinWaker() {
    return Update([](uint64_t& word) {
      if ((word & kComplete) != 0) return false;
      word = (word & ~kJoinWaker) | kRejoined;
      return true;
    });
  }

  enum class Drop { kDone, kDropWaker, kComplete };

  // Gives up the handle's interest in the task. This is the last call of the
  // JoinHandle, except for the cleanup that the result requires.
  //
  //   kDone       The handle's reference is dropped, and the task may be freed.
  //   kDropWaker  The handle's reference is dropped, and the task may be freed.
  //               The caller must drop the join waker.
  //   kComplete   The caller owns the output, and keeps its reference.
  Drop DropHandle() {
    return Update([](uint64_t& word) {
      if ((word & kComplete) != 0) return Drop::kComplete;
      const bool waker = (word & kJoinWaker) != 0;
      word &= ~(kJoinInterest | kJoinWaker);
      // The list of all tasks has a reference, so this is not the last one.
      ABSL_ASSERT(word >= 2 * kReference);
      word -= kReference;
      return waker ? Drop::kDropWaker : Drop::kDone;
    });
  }

  // Returns whether the caller's `count` references are the only ones, so that
  // they need not be counted down. (No other thread could add a reference.)
  bool IsOnlyReference(uint64_t count = 1) const {
    // Acquire pairs with the release of Unref and of Update: use comes before
    // the end.
    return word_.load(std::memory_order_acquire) < (count + 1) * kReference;
  }

  void Ref() {
    // Relaxed: the caller has a reference.
    const uint64_t before =
        word_.fetch_add(kReference, std::memory_order_relaxed);
    // 2^54 wakers are a leak which would end in a use after free.
    if (ABSL_PREDICT_FALSE(before > UINT64_MAX / 2)) std::abort();
  }

  // Drops `count` references. Returns whether the last reference was among
  // them.
  bool Unref(uint64_t count = 1) {
    // Release pairs with the acquire of the last drop: use comes before the
    // end.
    const uint64_t before =
        word_.fetch_sub(count * kReference, std::memory_order_acq_rel);
    ABSL_ASSERT(before >= count * kReference);
    return before < (count + 1) * kReference;
  }

 private:
  static constexpr uint64_t kRunning = 1;
  static constexpr uint64_t kComplete = 2;
  static constexpr uint64_t kNotified = 4;
  static constexpr uint64_t kJoinInterest = 8;
  static constexpr uint64_t kCancelled = 16;
  static constexpr uint64_t kJoinWaker = 32;
  static constexpr uint64_t kTraced = 64;
  static constexpr uint64_t kTracerHolds = 128;
  static constexpr uint64_t kRejoined = 256;
  static constexpr uint64_t kReference = 512;

  // Applies CompleteRunning to `word`.
  static Complete Completed(uint64_t& word, uint64_t references,
                            bool output_dropped) {
    ABSL_ASSERT((word & kRunning) != 0 && (word & kComplete) == 0);
    word ^= kRunning | kComplete;
    Complete result = Complete::kDone;
    if ((word & kJoinInterest) == 0) {
      if (!output_dropped) return Complete::kDropOutput;
    } else if ((word & kJoinWaker) != 0) {
      if ((word & kRejoined) != 0) return Complete::kWakeRejoined;
      // The handle has a reference, so the caller's are not the last ones.
      result = Complete::kWakeJoiner;
    }
    word -= references * kReference;
    return word < kReference ? Complete::kLast : result;
  }

  // Adds `change` to the word if the bits of `mask` are `expected`, and returns
  // whether they were. May fail spuriously. Orders like `Update()`.
  bool TryChange(uint64_t mask, uint64_t expected, uint64_t change) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    return ABSL_PREDICT_TRUE((word & mask) == expected) &&
           word_.compare_exchange_weak(word, word + change,
                                       std::memory_order_acq_rel,
                                       std::memory_order_relaxed);
  }

  // Applies `change`, which edits the word and returns the result of the
  // update.
  template <class Change>
  std::invoke_result_t<Change&, uint64_t&> Update(Change change) {
    // Relaxed: the exchange below orders.
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      uint64_t next = word;
      const auto result = change(next);
      // Release: the effects of a waking thread, and of a poll on the future,
      // are visible to the thread that polls next; the output and the join
      // waker are visible to the threads that receive them. Acquire: the other
      // half of the pair.
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return result;
      }
    }
  }

  Atomic<uint64_t> word_;
};

}  // namespace rouse::task

#endif  // ROUSE_SCHEDULER_TASK_STATE_H_
