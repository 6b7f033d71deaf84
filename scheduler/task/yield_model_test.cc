// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A task that has yielded, or is new, and is in its queue in the running state.

#include <atomic>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/model_util.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

using model::Require;
using model::Thread;
using PlainInt = model::Cell<int>;

// Yields a number of times, and then waits for its event.
class YieldAndWait {
 public:
  YieldAndWait(int yields, Event& event, PlainInt& uses)
      : yields_(yields), wait_(event, uses) {}

  PollResult<int> Poll(Context& cx) {
    PollResult<int> result = wait_.Poll(cx);
    if (yields_ == 0) return result;
    --yields_;
    cx.Yield();
    return kPending;
  }

 private:
  int yields_;
  Wait wait_;
};

// A task in a queue that orders a push before the pop, as queues do.
class Yielding final : public Schedule {
 public:
  // Starts a task whose first poll is over: the task is in the queue.
  static Yielding* Start(int yields) {
    auto* schedule = new Yielding(yields);
    schedule->RunNext();
    return schedule;
  }

  // Starts a task that has not been polled yet.
  static Yielding* StartNew(int yields) {
    auto* schedule = new Yielding(yields);
    schedule->task_->BeginRunning();
    return schedule;
  }

  void Submit(Header*) override {
    Require(!queued_.exchange(true, std::memory_order_acq_rel),
            "the task is in the queue twice");
  }
  void Resubmit(Header* task) override { Submit(task); }
  bool Release(Header* task) override {
    return listed_.exchange(nullptr, std::memory_order_relaxed) == task;
  }

  bool RunNext() {
    if (!queued_.exchange(false, std::memory_order_acq_rel)) return false;
    FastRand rand(1);
    if (task::RunUntilYield(task_, &rand, 0, CurrentTaskIdHere()).yielded) {
      task_->still_running = true;
      Submit(task_);
    }
    return true;
  }
  void DiscardNext() {
    if (queued_.exchange(false, std::memory_order_acq_rel)) {
      task::Discard(task_);
    }
  }
  void Signal() { event_.Signal(); }
  void Abort() { handle_->Abort(); }
  void ShutDown() {
    Header* task = listed_.exchange(nullptr, std::memory_order_relaxed);
    if (task == nullptr) return;
    task::Shutdown(task);
    task::Unref(task);
  }

  // Called when the other threads have ended. The task must have been woken.
  void RequireEndsWith(std::optional<int> output) {
    while (RunNext()) {
    }
    Require(handle_->IsFinished(), "the task waits for ever");
    const Waker noop;
    Context cx(noop);
    const JoinResult<int> result = std::move(handle_->Poll(cx)).value();
    if (result.ok()) {
      Require(*result == output);
    } else {
      Require(!output.has_value() &&
              result.status().code() == absl::StatusCode::kCancelled);
    }
    event_.waker.Take().Reset();
    handle_.reset();
    Unref();
  }

 private:
  explicit Yielding(int yields)
      : task_(new Cell<YieldAndWait>(this, 1,
                                     YieldAndWait(yields, event_, uses_))),
        listed_(task_),
        handle_(std::in_place, task_) {}

  Event event_;
  PlainInt uses_{0};
  Header* const task_;
  Atomic<bool> queued_{true};
  Atomic<Header*> listed_;
  std::optional<JoinHandle<int>> handle_;
};

// Two threads take the task from the queue, and one thread wakes it.
MODEL_TEST(TaskYield, IsWokenWhileItIsQueued, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Yielding* task = Yielding::Start(2);
  Thread signalling([&] { task->Signal(); });
  Thread worker([&] { task->RunNext(); });
  task->RunNext();
  signalling.Join();
  worker.Join();
  task->RequireEndsWith(7);
}

MODEL_TEST(TaskYield, IsWokenByOneThreadWhileAnotherRunsIt,
           .spurious_failures = 0) {
  Yielding* task = Yielding::Start(1);
  Thread signalling([&] { task->Signal(); });
  task->RunNext();
  signalling.Join();
  task->RequireEndsWith(7);
}

MODEL_TEST(TaskYield, IsAbortedWhileItIsQueued, .spurious_failures = 0) {
  Yielding* task = Yielding::Start(2);
  Thread aborting([&] { task->Abort(); });
  task->RunNext();
  aborting.Join();
  task->RequireEndsWith(std::nullopt);
}

// The thread that shuts the task down leaves it to the thread that has it in a
// queue.
MODEL_TEST(TaskYield, IsShutDownWhileItIsQueued, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Yielding* task = Yielding::Start(1);
  Thread stopping([&] { task->ShutDown(); });
  Thread signalling([&] { task->Signal(); });
  task->DiscardNext();
  stopping.Join();
  signalling.Join();
  task->RequireEndsWith(std::nullopt);
}

MODEL_TEST(TaskYield, IsAbortedBeforeItsFirstPoll, .spurious_failures = 0) {
  Yielding* task = Yielding::StartNew(0);
  Thread aborting([&] { task->Abort(); });
  task->RunNext();
  aborting.Join();
  task->RequireEndsWith(std::nullopt);
}

MODEL_TEST(TaskYield, IsShutDownBeforeItsFirstPoll, .spurious_failures = 0) {
  Yielding* task = Yielding::StartNew(0);
  Thread stopping([&] { task->ShutDown(); });
  if (model::Choose(2) == 0) {
    task->RunNext();
  } else {
    task->DiscardNext();
  }
  stopping.Join();
  task->RequireEndsWith(std::nullopt);
}

MODEL_TEST(TaskYield, IsAbortedAndShutDownBeforeItsFirstPoll,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Yielding* task = Yielding::StartNew(1);
  Thread stopping([&] { task->ShutDown(); });
  Thread aborting([&] { task->Abort(); });
  task->RunNext();
  stopping.Join();
  aborting.Join();
  task->RequireEndsWith(std::nullopt);
}

// The queue orders a task that yields. All else is as with other tasks.
MODEL_MUTANTS(TaskYield, "scheduler/task/",
              "State::IsComplete: killed by task_model_test",
              "State::CompleteRunning: its order is killed by task_model_test",
              "State::IsOnlyReference: killed by task_model_test",
              // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
              "State::StartRunning at state.h:255: condition: killed by "
              "task_model_test",
              // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
              "State::SuspendRunning at state.h:296: condition: killed by "
              "task_model_test",
              "State::TryChange: its order is killed by task_model_test",
              "State::Unref: killed by task_model_test",
              // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
              "State::Wake at state.h:354: condition: killed by "
              "task_model_test",
              "State::Update: its order is killed by task_model_test",
              "Schedule::Ref: killed by task_model_test",
              "Schedule::Unref: killed by task_model_test");

}  // namespace
}  // namespace rouse::task
