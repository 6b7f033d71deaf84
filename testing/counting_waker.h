// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: counting_waker.h
// -----------------------------------------------------------------------------
//
// Implements a task that consists only of wakers, and counts their clones,
// wakes and drops. For tests of code that stores or calls wakers.
//
//   CountingWaker task;
//   AtomicWaker cell;
//   cell.Register(task.NewWaker());
//   cell.Wake();
//   EXPECT_EQ(task.wakes(), 1);
//   EXPECT_EQ(task.live(), 0);

#ifndef ROUSE_TESTING_COUNTING_WAKER_H_
#define ROUSE_TESTING_COUNTING_WAKER_H_

#include <atomic>
#include <functional>
#include <utility>

#include "absl/base/attributes.h"
#include "gtest/gtest.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {

// CountingWaker
//
// Must outlive its wakers, and every call on one of them, and fails the test
// otherwise. The counts can be read
// on any thread. Hooks must be set while no other waker is in use.
class CountingWaker {
 public:
  using Hook = std::function<void()>;

  CountingWaker() = default;
  CountingWaker(const CountingWaker&) = delete;
  CountingWaker& operator=(const CountingWaker&) = delete;
  ~CountingWaker() {
    EXPECT_EQ(live(), 0) << "wakers were leaked or destroyed twice";
  }

  // Returns a waker with a separate reference, which does not count as a clone.
  Waker NewWaker() {
    ++live_;
    return Waker(raw());
  }

  // Returns a waker that holds no reference, and that is valid as long as this
  // object. Its clones count.
  const Waker& waker() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return waker_.get();
  }

  // Returns the parts for a `BorrowedWaker`.
  RawWaker raw() { return {this, &kVTable}; }

  // Polls `future` once, with `waker()` and a fresh budget, and returns the
  // result.
  template <class F>
  auto Poll(F& future) {
    Context cx(waker());
    return future.Poll(cx);
  }

  // Polls `stream` once for its next item, with `waker()` and a fresh budget,
  // and returns the result.
  template <class S>
  auto PollNext(S& stream) {
    Context cx(waker());
    return stream.PollNext(cx);
  }

  // Returns the number of times a waker was cloned.
  int clones() const { return clones_; }
  // Returns the number of wakes that gave up the waker, or kept the waker, or
  // both kinds.
  int wakes_by_value() const { return wakes_by_value_; }
  int wakes_by_ref() const { return wakes_by_ref_; }
  int wakes() const { return wakes_by_value_ + wakes_by_ref_; }
  // Returns the number of wakers that were dropped without a wake.
  int drops() const { return drops_; }
  // Returns the number of wakers that exist.
  int live() const { return live_; }

  // Sets a hook. The clone hook runs before the new waker exists. The wake and
  // drop hooks run after the wake or drop is counted. Each hook may throw.
  void OnClone(Hook hook) { on_clone_ = std::move(hook); }
  void OnWake(Hook hook) { on_wake_ = std::move(hook); }
  void OnDrop(Hook hook) { on_drop_ = std::move(hook); }

 private:
  static CountingWaker& From(void* data) {
    return *static_cast<CountingWaker*>(data);
  }
  static void Run(const Hook& hook) {
    if (hook != nullptr) hook();
  }

  static RawWaker Clone(void* data) {
    Run(From(data).on_clone_);
    ++From(data).clones_;
    ++From(data).live_;
    return From(data).raw();
  }
  static void Wake(void* data) {
    ++From(data).wakes_by_value_;
    --From(data).live_;
    Run(From(data).on_wake_);
  }
  static void WakeByRef(void* data) {
    ++From(data).wakes_by_ref_;
    Run(From(data).on_wake_);
  }
  static void Drop(void* data) {
    ++From(data).drops_;
    --From(data).live_;
    Run(From(data).on_drop_);
  }

  static constexpr RawWakerVTable kVTable = {&Clone, &Wake, &WakeByRef, &Drop};

  std::atomic<int> clones_ = 0;
  std::atomic<int> wakes_by_value_ = 0;
  std::atomic<int> wakes_by_ref_ = 0;
  std::atomic<int> drops_ = 0;
  std::atomic<int> live_ = 0;
  Hook on_clone_;
  Hook on_wake_;
  Hook on_drop_;
  BorrowedWaker waker_{raw()};
};

}  // namespace rouse

#endif  // ROUSE_TESTING_COUNTING_WAKER_H_
