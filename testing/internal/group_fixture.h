// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: group_fixture.h
// -----------------------------------------------------------------------------
//
// For tests of groups of tasks, such as `JoinSet`: tasks that end when the test
// says so, and a fixture that runs them on the test's thread.

#ifndef ROUSE_TESTING_INTERNAL_GROUP_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_GROUP_FIXTURE_H_

#include <map>
#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {

// Gates
//
// Gates that open when the test says so, each for one task. For use on one
// thread.
class Gates {
 public:
  class Wait {
   public:
    Wait(Gates& gates, int gate) : gates_(gates), gate_(gate) {}
    PollResult<int> Poll(Context& cx) {
      if (gates_.open_[gate_]) return gate_;
      gates_.wakers_[gate_] = cx.waker().Clone();
      return kPending;
    }

   private:
    Gates& gates_;
    const int gate_;
  };

  // A task that returns the number of its gate, when the gate is open.
  Wait Task(int gate) { return Wait(*this, gate); }

  void Open(int gate) {
    open_[gate] = true;
    std::move(wakers_[gate]).Wake();
  }

  // Drops the wakers of tasks that have ended.
  void Clear() { wakers_.clear(); }

 private:
  std::map<int, bool> open_;
  std::map<int, Waker> wakers_;
};

// GroupTest
//
// Has a current scheduler, whose tasks run on the test's thread when the test
// says so. Each test must leave no task behind.
class GroupTest : public ::testing::Test {
 protected:
  ~GroupTest() override {
    Close();
    EXPECT_EQ(scheduler_->alive_tasks(), 0u);
    gates_.Clear();
    scheduler_->Unref();
  }

  void Close() {
    if (std::exchange(closed_, true)) return;
    scheduler_->Close();
    scheduler_->CancelAll();
  }

  // Runs tasks on this thread until no task is left to run.
  void RunReady() {
    bool idle = false;
    auto mark = [&idle]() -> Co<> {
      idle = true;
      co_return;
    };
    // Runs behind all tasks that are queued now.
    scheduler_->Spawn(mark).Detach();
    scheduler_->worker(0).RunUntil([&idle] { return idle; });
  }

  void OpenAndRun(int gate) {
    gates_.Open(gate);
    RunReady();
  }

  ThreadParker bottom_;
  scheduler::Scheduler* scheduler_ = new scheduler::Scheduler(
      std::make_unique<scheduler::DriverRef<ThreadParker>>(bottom_),
      scheduler::Options{.workers = 2, .global_queue_interval = 61});
  const scheduler::ScopedDefault current_{*scheduler_};
  Gates gates_;
  bool closed_ = false;
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_GROUP_FIXTURE_H_
