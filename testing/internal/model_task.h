// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: model_task.h
// -----------------------------------------------------------------------------
//
// A task for models of futures.

#ifndef ROUSE_TESTING_INTERNAL_MODEL_TASK_H_
#define ROUSE_TESTING_INTERNAL_MODEL_TASK_H_

#include <atomic>
#include <utility>

#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::model {

// BasicTask
//
// A task that polls when the model says so, and records how often it was woken.
// Counts its wakers, each of which must be dropped exactly once before the
// task's destruction. Therefore declare a task before the objects that keep its
// wakers. The count is plain data, which needs no step, and which makes nothing
// visible that the code under test does not make visible.
//
// The record of the wakes is one atomic. `kOnWake` and `kOnCheck` are its
// orders: see `Task` and `OrderingTask`.
template <std::memory_order kOnWake, std::memory_order kOnCheck>
class BasicTask {
 public:
  BasicTask() = default;
  BasicTask(const BasicTask&) = delete;
  BasicTask& operator=(const BasicTask&) = delete;
  ~BasicTask() {
    Require(wakers_ == 0, "a waker was not dropped exactly once");
  }

  // Returns a new waker of this task.
  Waker waker() { return Waker(Clone(this)); }

  // Polls `future` once.
  template <class F>
  auto Poll(F&& future) {
    const BorrowedWaker waker(RawWaker{this, &kVTable});
    Context cx(waker.get());
    return future.Poll(cx);
  }

  // Polls `future` once, after the budget has been used up.
  template <class F>
  auto PollWithoutBudget(F&& future) {
    const BorrowedWaker waker(RawWaker{this, &kVTable});
    Context cx(waker.get());
    while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
    return future.Poll(cx);
  }

  // Polls `future` after each wake until it is ready, and returns the result.
  template <class F>
  auto Await(F&& future) -> typename decltype(Poll(future))::value_type {
    for (;;) {
      auto result = Poll(future);
      if (result.IsReady()) return *std::move(result);
      AwaitWake();
    }
  }

  // Waits for a wake, and uses up all wakes until then.
  void AwaitWake() {
    while (wakes_.exchange(0, std::memory_order_relaxed) == 0) SpinHint();
  }

  // Forgets all wakes until now, as a scheduler does before a poll.
  void ForgetWakes() { wakes_.store(0, std::memory_order_relaxed); }

  // Returns the number of wakes that were not used up or forgotten.
  int wakes() const { return wakes_.load(kOnCheck); }
  bool woken() const { return wakes() != 0; }

 private:
  static BasicTask* From(void* data) { return static_cast<BasicTask*>(data); }

  static RawWaker Clone(void* data) {
    ++From(data)->wakers_;
    return {data, &kVTable};
  }
  static void Wake(void* data) {
    WakeByRef(data);
    Drop(data);
  }
  static void WakeByRef(void* data) {
    From(data)->wakes_.fetch_add(1, kOnWake);
  }
  static void Drop(void* data) { --From(data)->wakers_; }

  static constexpr RawWakerVTable kVTable = {&Clone, &Wake, &WakeByRef, &Drop};

  Atomic<int> wakes_{0};
  int wakers_ = 0;
};

// Task
//
// A wake makes nothing visible: whatever a woken task needs, the code under
// test must make visible to the task's next poll.
using Task = BasicTask<std::memory_order_relaxed, std::memory_order_relaxed>;

// OrderingTask
//
// Everything before a wake happens before a check that finds the wake, as if a
// scheduler had polled the task again. For a model that requires the code under
// test to do a step before it wakes, and accesses the data without a poll.
using OrderingTask =
    BasicTask<std::memory_order_release, std::memory_order_acquire>;

}  // namespace rouse::model

#endif  // ROUSE_TESTING_INTERNAL_MODEL_TASK_H_
