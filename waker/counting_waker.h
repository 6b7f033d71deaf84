// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: counting_waker.h
// -----------------------------------------------------------------------------
//
// For this project's own tests: a task that is only its wakers, and counts what
// happens to them.
//
//   CountingWaker task;
//   AtomicWaker cell;
//   cell.Register(task.NewWaker());
//   cell.Wake();
//   EXPECT_EQ(task.wakes(), 1);
//   EXPECT_EQ(task.live(), 0);

#ifndef ROUSE_WAKER_COUNTING_WAKER_H_
#define ROUSE_WAKER_COUNTING_WAKER_H_

#include <atomic>
#include <functional>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/waker/waker.h"

namespace rouse {

// CountingWaker
//
// Outlives its wakers, and fails the test if it does not. The counts may be
// read on any thread; hooks are set while no waker is in use.
class CountingWaker {
 public:
  using Hook = std::function<void()>;

  CountingWaker() = default;
  CountingWaker(const CountingWaker&) = delete;
  CountingWaker& operator=(const CountingWaker&) = delete;
  ~CountingWaker() { EXPECT_EQ(live(), 0) << "wakers leaked or dropped twice"; }

  // A waker with a reference of its own, which counts as no clone.
  Waker NewWaker() {
    ++live_;
    return Waker(raw());
  }

  // For a `BorrowedWaker`.
  RawWaker raw() { return {this, &kVTable}; }

  int clones() const { return clones_; }
  // Wakes that gave up the waker, and wakes that kept it.
  int wakes_by_value() const { return wakes_by_value_; }
  int wakes_by_ref() const { return wakes_by_ref_; }
  int wakes() const { return wakes_by_value_ + wakes_by_ref_; }
  // Wakers that went without a wake.
  int drops() const { return drops_; }
  // Wakers that exist.
  int live() const { return live_; }

  // Called in a clone before there is one, in a wake after it is counted and in
  // a drop after it is counted; each may throw.
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
};

}  // namespace rouse

#endif  // ROUSE_WAKER_COUNTING_WAKER_H_
