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
//   kRunning       a thread is polling the task, destroying its future, or
//                  tracing it, and is the only one that touches the future.
//   kComplete      the future is gone; the output is there, or was taken.
//   kNotified      the task is to be polled: it is in a run queue, or, while it
//                  is running, goes back to one when the poll ends. Of no
//                  meaning when it is complete.
//   kJoinInterest  a JoinHandle exists. Together with kComplete: the output is
//                  its to take or to destroy.
//   kCancelled     the future is to be destroyed instead of polled.
//   kJoinWaker     there is a waker to be called on completion. Never changes
//                  once the task is complete.
//   kTraced        with kRunning: that thread looks where the future waits, and
//                  leaves it as it is.
//   kTracerHolds   with kTraced: the tracer has the hold of the run queue.
//   kRejoined      the handle has taken a waker back, once at least.
//
// # References
//
// One each for the list of all tasks (until completion), a JoinHandle, every
// waker, and the hold of the run queue or of the thread that took it from
// there. The last one frees it.
//
// # Transitions
//
//   who                 from                 to
//   BeginRunning        (new)                Running: nobody else knows it yet
//   StartRunning        Notified             Running
//                       Notified Cancelled   Running Cancelled: to be cancelled
//                       Running | Complete   the same: another has ended it
//                       Traced               TracerHolds: the hold is left to
//                                            the tracer
//   Continue            Running              the same: see below
//                       Running Notified     Running
//                       Running Cancelled    the same: to be cancelled
//   SuspendRunning      Running              (idle); the hold is dropped
//                       Running Notified, or Notified; the hold goes to a queue
//                       the poll yielded
//                       Running Cancelled    the same: to be cancelled
//   CompleteRunning     Running              Complete; drops references if
//                                            nothing is left to be done
//   Wake, WakeAndDrop   (idle)               Notified; to a queue
//                       Running              Running Notified
//                       Notified | Complete  the same
//   Abort               (idle)               Notified Cancelled; to a queue
//                       Running              Running Notified Cancelled
//                       Notified             Notified Cancelled
//                       Complete | Cancelled the same
//   TakeOverToCancel    (idle) | Notified    Running Cancelled: to be cancelled
//                       Running              Running Cancelled: left to its
//                                            runner
//                       Complete | Traced    the same; Traced: to be tried
//                                            again when it is not
//   SetJoinWaker        (none)               JoinWaker
//                       Complete             the same
//   TakeJoinWaker       JoinWaker            Rejoined
//                       Complete             the same
//   DropHandle          JoinInterest         (none); the waker and the
//                         and JoinWaker      reference of the handle are
//                                            dropped
//                       Complete             the same
//   BeginTrace          (idle)               Running Traced TracerHolds, with a
//                                            new reference
//                       Notified             Running Traced Notified
//                       Running | Complete   the same: not traced
//   EndTrace            Traced               (none); a queue still has the hold
//                       Traced TracerHolds   (idle); the hold is dropped
//                       Traced TracerHolds   Notified; the hold goes to a queue
//                         Notified
//
// A task that has yielded may go to a queue as it is, running: for all others
// the poll has not ended. That spares its suspension and its next start. It is
// the queue then that orders one poll behind the other. Who wakes or aborts the
// task meanwhile has told its runner, which Continue() asks; and who shuts it
// down has left it to its runner, be it one that only takes it out of the queue
// (task::Discard()). A new task may go to such a queue in the same way, and has
// no start at all.
//
// What a row does not name stays. A task that was taken over keeps kNotified:
// a queue may still have it, and finds it complete.
//
// To all others a tracer is a runner: who wakes or aborts the task meanwhile
// sets kNotified, and leaves it at that. EndTrace then does what they would
// have done. Only who comes from a queue, with the hold, must not drop it: the
// task has still to be polled. And who shuts the task down must not leave it to
// a thread that is no worker: it waits.
//
// Every transition but BeginRunning and Continue is a read-modify-write, also
// one that changes nothing: a Wake that finds the task notified must still
// release, for the poll to come acquires from this word what the waking thread
// did (tokio #7622).
//
// # Ordering
//
// Release and acquire are the two halves of each read-modify-write. Where both
// are in the code and one is not below, nothing relies on that half: it comes
// with `Update()`.
//
//   who                 order    what for, and what it pairs with
//   BeginRunning        relaxed  what makes the task known to others orders
//   StartRunning        acquire  SuspendRunning: what the poll before has left
//                                in the future; Wake and Abort: what was done
//                                before them; EndTrace: the trace is over
//   Continue            relaxed  where nobody has told it anything: it is the
//                                queue that orders the polls
//                       acquire  else Wake and Abort, as StartRunning
//   SuspendRunning      release  StartRunning, TakeOverToCancel, BeginTrace:
//                                what the poll has left in the future
//                       acquire  Abort and TakeOverToCancel, if it is to be
//                                cancelled: what was done before them
//   CompleteRunning     release  IsComplete, JoinState, SetJoinWaker,
//                                TakeJoinWaker and DropHandle, which find it
//                                complete: the output; and the last reference
//                       acquire  SetJoinWaker: the words of the waker, also
//                                where the exchange fails; and other references
//   Wake, WakeAndDrop   release  StartRunning, Continue: what was done before;
//                                WakeAndDrop: the last reference
//                       acquire  WakeAndDrop, of the last reference
//   Abort               release  StartRunning, Continue, SuspendRunning: what
//                                was done before
//   TakeOverToCancel    acquire  as StartRunning
//                       release  Continue and SuspendRunning, if it is left to
//                                its runner: what was done before
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
//   HasJoinInterest     relaxed  what the handle did is for the last reference
//   IsOnlyReference     acquire  Unref and all else that drops references: they
//                                were used before the task is freed
//   Ref                 relaxed  the caller has a reference, which lasts
//   Unref               release  the last reference
//                       acquire  of the last reference: all those before it
//
// A read-modify-write between a release and its acquire, such as the Ref of
// another waker, breaks nothing: it goes on with what was released.
//
// # Who destroys the output
//
// CompleteRunning and DropHandle are read-modify-writes of one word, so one
// comes first. If that is DropHandle, the running thread; it may do so before
// it completes the task, for nobody can become interested again. Otherwise the
// handle, which takes the output or drops it, and then its reference.
//
// # Who owns the join waker
//
// It is two plain words in the header, and the reference that they stand for.
//
//   1. Only the handle writes the words, and only while kJoinWaker is clear.
//   2. While it is set the words stay what they are. The handle may read them,
//      and so may the thread that completes the task.
//   3. Whoever completes the task and finds kJoinWaker set has the reference.
//      It uses that up by waking, so that nothing is left to be dropped; the
//      words stay, and stand for nothing any more.
//   4. In any other case the reference is the handle's: when TakeJoinWaker or
//      DropHandle has cleared kJoinWaker, or SetJoinWaker has come too late.
//   5. A handle that finds the task complete leaves words and reference alone.
//   6. Whoever completes the task reads the words before it does, if kJoinWaker
//      is set: it drops its own references in the same step, and the task may
//      be gone. If kJoinWaker has remained set, they are what they were, by
//      rule 2. That it has been set anew meanwhile, kRejoined says: then the
//      references remain until the words have been read again. Since words may
//      be written that are read in vain, they are atomic.
//
// So a waker goes when its handle goes, if that is before completion (tokio
// #6986), and else when it is called. If the handle goes between the two, the
// running thread has the words already, or a reference that keeps them (tokio
// #2096).
//
// A handle that finds kJoinWaker set, and the task not complete, may compare
// its waker with the words by rule 2, even if the task completes meanwhile. If
// they are the same it need do nothing: completion comes after, and calls it.
// That the poll which is called for finds the task complete is for the waker's
// executor to see to: what comes before a wake happens before that poll.

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
  // A new task, with a JoinHandle and a hold. (One from outside comes to the
  // list of all tasks later, with the reference for it.)
  State() : word_(3 * kReference | kJoinInterest | kNotified) {}

  bool IsComplete() const {
    // Acquire pairs with the release of CompleteRunning: the output is visible.
    return (word_.load(std::memory_order_acquire) & kComplete) != 0;
  }

  // By the thread that has made the task, which nobody else knows yet.
  void BeginRunning() {
    // Relaxed: what makes the task known to others orders.
    word_.store(3 * kReference | kJoinInterest | kRunning,
                std::memory_order_relaxed);
  }

  enum class Start { kPoll, kCancel, kSkip, kTraced };

  // By the thread that took the task from a queue. kSkip: another thread has
  // ended the task; the hold is still to be dropped. kTraced: another thread
  // traces it, and now has the hold.
  Start StartRunning() {
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

  // The same if the task went to the queue running: kPoll or kCancel.
  Start Continue() {
    // Relaxed: what a Wake that this sees has done, the exchange acquires. One
    // that it does not see finds the task not notified, and has it polled
    // again.
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

  // By the running thread, after a poll that was pending. kIdle: the hold has
  // been dropped, and the task may be gone.
  // `yielded` counts as a wake.
  Suspend SuspendRunning(bool yielded = false) {
    return Update([yielded](uint64_t& word) {
      if ((word & kCancelled) != 0) return Suspend::kCancel;
      word &= ~kRunning;
      if (yielded) word |= kNotified;
      if (MutableCondition((word & kNotified) != 0)) {
        return Suspend::kReschedule;
      }
      // The list of all tasks has a reference: this is not the last.
      ABSL_ASSERT(word >= 2 * kReference);
      word -= kReference;
      return Suspend::kIdle;
    });
  }

  enum class Complete { kDone, kLast, kWakeJoiner, kWakeRejoined, kDropOutput };

  // By the running thread, when the output is in place, or has been dropped
  // because there is no handle.
  //
  //   kDone          `references` of the caller's have been dropped, and the
  //                  task may be gone.
  //   kLast          The same, and the caller is to free it.
  //   kWakeJoiner    The same as kDone, and the caller has the join waker: the
  //                  last that `read_join_waker()` has read.
  //   kWakeRejoined  They are still the caller's, which has the join waker, and
  //                  is yet to read it.
  //   kDropOutput    They are still the caller's, which is to drop the output.
  template <class F>
  Complete CompleteRunning(uint64_t references, bool output_dropped,
                           F read_join_waker) {
    // Acquire, also if the exchange fails, pairs with the release of
    // SetJoinWaker, for the words that are read before.
    uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      uint64_t next = word;
      const Complete result = Completed(next, references, output_dropped);
      if (result == Complete::kWakeJoiner) read_join_waker();
      // Release: the output is visible to whoever gets it. Acquire: for the
      // words that are read afterwards.
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        return result;
      }
    }
  }

  // Whether there is a JoinHandle. Once false it stays so.
  bool HasJoinInterest() const {
    // Relaxed: what the handle did is of no concern to the one who asks, until
    // it is the last.
    return (word_.load(std::memory_order_relaxed) & kJoinInterest) != 0;
  }

  // Whether the caller must put the task into a queue, with a new reference.
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

  // The same by a waker that gives up its reference. kSubmit: the reference
  // goes to the queue. kLast: it was the last one.
  WakeByValue WakeAndDrop() {
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

  // Whether the caller must put the task into a queue, with a new reference.
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

  // Makes the caller the running thread, to cancel the task. kLeave: another
  // thread runs it, which then finds it cancelled, or it is complete. kTraced:
  // nothing has been done.
  TakeOver TakeOverToCancel() {
    return Update([](uint64_t& word) {
      if ((word & kTraced) != 0) return TakeOver::kTraced;
      if ((word & kComplete) != 0) return TakeOver::kLeave;
      const bool idle = (word & kRunning) == 0;
      word |= kCancelled | kRunning;
      return idle ? TakeOver::kCancel : TakeOver::kLeave;
    });
  }

  // By one who has a reference. Whether the task may be traced until
  // `EndTrace()`: not if a thread is running it, or it is complete.
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

  // By the tracer. Whether the caller must put the task into a queue, with the
  // hold that it has.
  bool EndTrace() {
    return Update([](uint64_t& word) {
      ABSL_ASSERT((word & kTraced) != 0);
      const bool holds = (word & kTracerHolds) != 0;
      word &= ~(kRunning | kTraced | kTracerHolds);
      if (!holds) return false;
      if (MutableCondition((word & kNotified) != 0)) return true;
      // The caller has another reference: this is not the last.
      ABSL_ASSERT(word >= 2 * kReference);
      word -= kReference;
      return false;
    });
  }

  enum class Join { kComplete, kWakerSet, kWakerNotSet };

  // By the JoinHandle.
  Join JoinState() const {
    // Acquire pairs with the release of CompleteRunning: the output is visible.
    const uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & kComplete) != 0) return Join::kComplete;
    return (word & kJoinWaker) != 0 ? Join::kWakerSet : Join::kWakerNotSet;
  }

  // By the JoinHandle, which has written the join waker. False if the task is
  // complete: the output is there, and the waker still the handle's.
  bool SetJoinWaker() {
    return Update([](uint64_t& word) {
      if ((word & kComplete) != 0) return false;
      word |= kJoinWaker;
      return true;
    });
  }

  // By the JoinHandle: the join waker is its own again. False if the task is
  // complete: the output is there, and the waker not the handle's.
  bool TakeJoinWaker() {
    return Update([](uint64_t& word) {
      if ((word & kComplete) != 0) return false;
      word = (word & ~kJoinWaker) | kRejoined;
      return true;
    });
  }

  enum class Drop { kDone, kDropWaker, kComplete };

  // By the JoinHandle, as its last act but what this calls for.
  //
  //   kDone       Its reference is dropped, and the task may be gone.
  //   kDropWaker  The same, and the join waker is the caller's to drop.
  //   kComplete   The output is the caller's, and the reference still.
  Drop DropHandle() {
    return Update([](uint64_t& word) {
      if ((word & kComplete) != 0) return Drop::kComplete;
      const bool waker = (word & kJoinWaker) != 0;
      word &= ~(kJoinInterest | kJoinWaker);
      // The list of all tasks has a reference: this is not the last.
      ABSL_ASSERT(word >= 2 * kReference);
      word -= kReference;
      return waker ? Drop::kDropWaker : Drop::kDone;
    });
  }

  // Whether the caller's `count` references are the only ones, so that they
  // need not be counted down. (Nobody else could count up.)
  bool IsOnlyReference(uint64_t count = 1) const {
    // Acquire pairs with the release of Unref and of Update: use comes before
    // the end.
    return word_.load(std::memory_order_acquire) < (count + 1) * kReference;
  }

  void Ref() {
    // Relaxed: the caller has a reference.
    const uint64_t before =
        word_.fetch_add(kReference, std::memory_order_relaxed);
    // 2^54 wakers are a leak that would end in a use after free.
    if (ABSL_PREDICT_FALSE(before > UINT64_MAX / 2)) std::abort();
  }

  // Drops `count` references. Whether the last one was among them.
  bool Unref(uint64_t count = 1) {
    // Release pairs with the acquire of the last one: use comes before the end.
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

  // CompleteRunning of `word`.
  static Complete Completed(uint64_t& word, uint64_t references,
                            bool output_dropped) {
    ABSL_ASSERT((word & kRunning) != 0 && (word & kComplete) == 0);
    word ^= kRunning | kComplete;
    Complete result = Complete::kDone;
    if ((word & kJoinInterest) == 0) {
      if (!output_dropped) return Complete::kDropOutput;
    } else if ((word & kJoinWaker) != 0) {
      if ((word & kRejoined) != 0) return Complete::kWakeRejoined;
      // The handle has a reference: this is not the last.
      result = Complete::kWakeJoiner;
    }
    word -= references * kReference;
    return word < kReference ? Complete::kLast : result;
  }

  // `change` edits the word and says what came of it.
  template <class Change>
  std::invoke_result_t<Change&, uint64_t&> Update(Change change) {
    // Relaxed: the exchange below is what orders.
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      uint64_t next = word;
      const auto result = change(next);
      // Release: what a waking thread did, or a poll left in the future, is
      // visible to the thread that polls next; the output and the join waker
      // to whoever gets them. Acquire: the other half of it.
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
