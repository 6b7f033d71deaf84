// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_fixture.h
// -----------------------------------------------------------------------------
//
// Utilities for the tests of this folder.

#ifndef ROUSE_TESTING_INTERNAL_TASK_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_TASK_FIXTURE_H_

#include <memory>

#include "gtest/gtest.h"
#include "rouse/testing/internal/manual_schedule.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::task {

// TaskTest
//
// A fixture for a test of one task, which must leave nothing behind.
//
//   using MyTest = TaskTest;
//   TEST_F(MyTest, IsReadyOnceItsGateIsOpen) {
//     JoinHandle<int> handle = schedule_->Start(Gate(this));
//     schedule_->RunAll();
//     open_ = true;
//     ...
class TaskTest : public ::testing::Test {
 protected:
  ~TaskTest() override {
    // Every task has dropped any reference to the scheduler by now.
    schedule_->Unref();
    EXPECT_EQ(alive_, 0);
  }

  // Counts the live copies, in order to detect leaks and double frees.
  class Tracked {
   public:
    explicit Tracked(int* alive) : alive_(alive) { ++*alive_; }
    Tracked(Tracked&& other) noexcept : alive_(other.alive_) { ++*alive_; }
    Tracked& operator=(Tracked&&) = delete;
    ~Tracked() { --*alive_; }

   private:
    int* alive_;
  };

  // A future which is pending until the test sets `open_`. Stores the waker of
  // each pending poll in `waker_`.
  class Gate {
   public:
    explicit Gate(TaskTest* test) : test_(test), tracked_(&test->alive_) {}
    PollResult<int> Poll(Context& cx) {
      ++test_->polls_;
      if (test_->open_) return 7;
      test_->waker_ = cx.waker().Clone();
      return kPending;
    }

   private:
    TaskTest* test_;
    Tracked tracked_;
  };

  // Returns a waker which counts wakes and live copies of the callable.
  static Waker CountedWaker(int* alive, int* woken = nullptr) {
    return Waker::FromCallable(
        [tracked = std::make_shared<Tracked>(alive), woken] {
          if (woken != nullptr) ++*woken;
        });
  }

  ManualSchedule* schedule_ = new ManualSchedule;
  int alive_ = 0;
  int polls_ = 0;
  bool open_ = false;
  Waker waker_;
};

}  // namespace rouse::task

#endif  // ROUSE_TESTING_INTERNAL_TASK_FIXTURE_H_
