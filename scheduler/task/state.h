// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: state.h
// -----------------------------------------------------------------------------
//
// The state word of a task: five bits and a reference count. Internal to the
// scheduler.
//
// # Bits
//
//   kRunning       a thread is polling the task, or destroying its future, and
//                  is the only one that touches the future.
//   kComplete      the future is gone; the output is there, or was taken.
//   kNotified      the task is to be polled: it is in a run queue, or, while it
//                  is running, goes back to one when the poll ends. Of no
//                  meaning when it is complete.
//   kJoinInterest  a JoinHandle exists. Together with kComplete: the output is
//                  its to take or to destroy.
//   kCancelled     the future is to be destroyed instead of polled.
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
//   StartRunning        Notified             Running
//                       Notified Cancelled   Running Cancelled: to be cancelled
//                       Running | Complete   the same: another has ended it
//   SuspendRunning      Running              (idle); the hold is dropped
//                       Running Notified     Notified; the hold goes to a queue
//                       Running Cancelled    the same: to be cancelled
//   CompleteRunning     Running              Complete
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
//                       Complete             the same
//   DropJoinInterest    JoinInterest         none
//
// What a row does not name stays. A task that was taken over keeps kNotified:
// a queue may still have it, and finds it complete.
//
// Every transition is a read-modify-write, also one that changes nothing: a
// Wake that finds the task notified must still release, for the poll to come
// acquires from this word what the waking thread did (tokio #7622).
//
// # Who destroys the output
//
// Complete and DropJoinInterest are read-modify-writes of one word, so one
// comes first. Complete after DropJoinInterest: the running thread. Otherwise:
// the one that drops the interest.

#ifndef ROUSE_SCHEDULER_TASK_STATE_H_
#define ROUSE_SCHEDULER_TASK_STATE_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"

namespace rouse::task {

class State {
 public:
  // A new task: in the list of all tasks and in a run queue, with a JoinHandle.
  State() : word_(3 * kReference | kJoinInterest | kNotified) {}

  bool IsComplete() const {
    // Acquire pairs with the release of Complete: the output is visible.
    return (word_.load(std::memory_order_acquire) & kComplete) != 0;
  }

  enum class Start { kPoll, kCancel, kSkip };

  // By the thread that took the task from a queue. kSkip: another thread has
  // ended the task; the hold is still to be dropped.
  Start StartRunning() {
    return Update([](uint64_t& word) {
      if ((word & (kRunning | kComplete)) != 0) return Start::kSkip;
      word = (word & ~kNotified) | kRunning;
      return (word & kCancelled) != 0 ? Start::kCancel : Start::kPoll;
    });
  }

  enum class Suspend { kIdle, kReschedule, kCancel };

  // By the running thread, after a poll that was pending. kIdle: the hold has
  // been dropped, and the task may be gone.
  Suspend SuspendRunning() {
    return Update([](uint64_t& word) {
      if ((word & kCancelled) != 0) return Suspend::kCancel;
      word &= ~kRunning;
      if ((word & kNotified) != 0) return Suspend::kReschedule;
      // The list of all tasks has a reference: this is not the last.
      ABSL_ASSERT(word >= 2 * kReference);
      word -= kReference;
      return Suspend::kIdle;
    });
  }

  // By the running thread, when the output is in place. Whether a JoinHandle
  // takes the output; else it is for the caller to destroy.
  bool CompleteRunning() {
    // Release pairs with the acquire of IsComplete and DropJoinInterest: the
    // output is visible. A joiner that has gone left nothing to be seen.
    const uint64_t before =
        word_.fetch_xor(kRunning | kComplete, std::memory_order_release);
    ABSL_ASSERT((before & kRunning) != 0 && (before & kComplete) == 0);
    return (before & kJoinInterest) != 0;
  }

  // Whether the caller must put the task into a queue, with a new reference.
  bool Wake() {
    return Update([](uint64_t& word) {
      if ((word & (kComplete | kNotified)) != 0) return false;
      word |= kNotified;
      if ((word & kRunning) != 0) return false;
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

  // Makes the caller the running thread, to cancel the task. False if another
  // thread runs it, which then finds it cancelled, or it is complete.
  bool TakeOverToCancel() {
    return Update([](uint64_t& word) {
      if ((word & kComplete) != 0) return false;
      const bool idle = (word & kRunning) == 0;
      word |= kCancelled | kRunning;
      return idle;
    });
  }

  // By the JoinHandle. Whether the output is there and the caller's to destroy.
  bool DropJoinInterest() {
    // Acquire pairs with the release of CompleteRunning: the output is visible.
    const uint64_t before =
        word_.fetch_and(~kJoinInterest, std::memory_order_acquire);
    return (before & kComplete) != 0;
  }

  void Ref() {
    // Relaxed: the caller has a reference.
    const uint64_t before =
        word_.fetch_add(kReference, std::memory_order_relaxed);
    // 2^57 wakers are a leak that would end in a use after free.
    if (ABSL_PREDICT_FALSE(before > UINT64_MAX / 2)) abort();
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
  static constexpr uint64_t kReference = 64;

  // `change` edits the word and says what came of it.
  template <class Change>
  std::invoke_result_t<Change&, uint64_t&> Update(Change change) {
    // Relaxed: the exchange below is what orders.
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      uint64_t next = word;
      const auto result = change(next);
      // Release: what a waking thread did, or a poll left in the future, is
      // visible to the thread that polls next. Acquire: the other half of it.
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
