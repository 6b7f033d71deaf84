// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: manual_schedule.h
// -----------------------------------------------------------------------------
//
// For tests: a schedule whose tasks run when the test says so, on the test's
// thread.

#ifndef ROUSE_TESTING_INTERNAL_MANUAL_SCHEDULE_H_
#define ROUSE_TESTING_INTERNAL_MANUAL_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/task_id.h"

namespace rouse::task {

// ManualSchedule
//
// Queues tasks until the test runs them, and keeps the latest task in its list.
// The test drops its reference with `Unref()` when all tasks are complete.
//
//   auto* schedule = new ManualSchedule;
//   JoinHandle<int> handle = schedule->Start(MakeFuture());
//   schedule->RunAll();
//   schedule->Unref();
class ManualSchedule final : public Schedule {
 public:
  void Submit(Header* task) override { queue_.push_back(task); }
  void Resubmit(Header* task) override { queue_.push_back(task); }
  bool Release(Header* task) override {
    return std::exchange(listed_, nullptr) == task;
  }

  void Threw(Header* task, const std::exception_ptr&) override {
    ++threw_;
    EXPECT_FALSE(task->state.IsComplete());
  }

  // Starts a task. The ids count from 1. At most one task is in the list.
  template <class F>
  auto Start(F f) {
    using Future = internal::FutureFrom<F>;
    auto* task = new Cell<Future>(this, ++last_id_, std::move(f));
    listed_ = task;
    queue_.push_back(task);
    return JoinHandle<FutureOutput<Future>>(task);
  }

  void Unhandled(Header*, const std::exception_ptr&) override { ++unhandled_; }

  // Runs the next queued task. Returns false if no task was queued.
  bool RunNext(uint32_t now_ms = 0) {
    if (queue_.empty()) return false;
    Header* task = queue_.front();
    queue_.pop_front();
    task::Run(task, &rand_, now_ms);
    return true;
  }
  void RunAll() {
    while (RunNext()) {
    }
  }

  size_t queued() const { return queue_.size(); }
  // Returns the listed task, or null once the task has ended.
  Header* listed() const { return listed_; }
  // Returns the number of tasks that ended with an exception.
  int threw() const { return threw_; }
  // Returns the number of tasks whose exception was never taken.
  int unhandled() const { return unhandled_; }

  void ShutdownListed() {
    Header* task = std::exchange(listed_, nullptr);
    task::Shutdown(task);
    task::Unref(task);
  }

 private:
  std::deque<Header*> queue_;
  Header* listed_ = nullptr;
  int threw_ = 0;
  int unhandled_ = 0;
  TaskId last_id_ = 0;
  FastRand rand_{1};
};

}  // namespace rouse::task

#endif  // ROUSE_TESTING_INTERNAL_MANUAL_SCHEDULE_H_
