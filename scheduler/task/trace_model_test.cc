// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A task that is traced while other threads run, wake, abort, join or detach
// it, or shut it down. The checker finds a wake or a hold that is lost, a trace
// that meets a poll, and objects that are destroyed twice or never.

#include <atomic>
#include <optional>

#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/await_trace.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/model_util.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::task {
namespace {

using model::Require;
using model::Thread;
using PlainInt = model::Cell<int>;

// A future whose uses must not race with a trace, either.
class TracedWait : public Wait {
 public:
  using Wait::Wait;

  void Trace(AwaitTrace& trace) const {
    Require(uses() > 0);
    trace.AddLeaf("Wait");
  }
};

// A task that has been polled and waits, in a queue that orders nothing.
class Traced final : public Schedule {
 public:
  // The handle keeps the task, and therefore the schedule, until `Finish()`.
  static Traced* Start() {
    auto* schedule = new Traced;
    schedule->RunNext();
    return schedule;
  }

  void Submit(Header*) override {
    Require(!queued_.exchange(true, std::memory_order_relaxed),
            "the task is in the queue twice");
  }
  void Resubmit(Header* task) override { Submit(task); }
  bool Release(Header* task) override {
    return listed_.exchange(nullptr, std::memory_order_relaxed) == task;
  }

  bool RunNext() {
    if (!queued_.exchange(false, std::memory_order_relaxed)) return false;
    FastRand rand(1);
    task::Run(task_, &rand);
    return true;
  }

  // Called once, with the reference that was counted for the call.
  void Trace() {
    AwaitTrace trace;
    if (task::Trace(task_, trace)) Require(trace.steps().size() == 1);
    task::Unref(task_);
  }
  // Allows another `Trace()`. Called before other threads exist.
  void CountTracer() { task_->state.Ref(); }

  void Signal() { event_.Signal(); }
  void Abort() { handle_->Abort(); }
  void Detach() { handle_.reset(); }
  void ShutDown() {
    Header* task = listed_.exchange(nullptr, std::memory_order_relaxed);
    if (task == nullptr) return;
    task::Shutdown(task);
    task::Unref(task);
    Require(!handle_.has_value() || handle_->IsFinished(),
            "the task outlives its shutdown");
  }

  // Called when the other threads have ended. The task must have been woken.
  void Finish() {
    while (RunNext()) {
    }
    Require(listed_.load(std::memory_order_relaxed) == nullptr,
            "the task waits for ever");
    event_.waker.Take().Reset();
    handle_.reset();
    Unref();
  }

 private:
  Traced() : task_(new Cell<TracedWait>(this, 1, TracedWait(event_, uses_))) {
    listed_.store(task_, std::memory_order_relaxed);
    queued_.store(true, std::memory_order_relaxed);
    handle_ = JoinHandle<int>(task_);
    CountTracer();
  }

  Event event_;
  PlainInt uses_{0};
  Header* const task_;
  std::optional<JoinHandle<int>> handle_;
  Atomic<bool> queued_{false};
  Atomic<Header*> listed_{nullptr};
};

MODEL_TEST(TaskTrace, ATaskIsWokenDuringATrace) {
  Traced* task = Traced::Start();
  Thread tracing([&] { task->Trace(); });
  task->Signal();
  tracing.Join();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskCompletesDuringATrace, .spurious_failures = 0) {
  Traced* task = Traced::Start();
  task->Signal();
  Thread tracing([&] { task->Trace(); });
  task->RunNext();
  tracing.Join();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskRunsAndIsWokenDuringATrace, .spurious_failures = 0) {
  Traced* task = Traced::Start();
  Thread tracing([&] { task->Trace(); });
  Thread worker([&] { task->RunNext(); });
  task->Signal();
  tracing.Join();
  worker.Join();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskIsAbortedDuringATrace) {
  Traced* task = Traced::Start();
  Thread tracing([&] { task->Trace(); });
  task->Abort();
  tracing.Join();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskIsAbortedAndRunsDuringATrace,
           .spurious_failures = 0) {
  Traced* task = Traced::Start();
  Thread tracing([&] { task->Trace(); });
  Thread worker([&] { task->RunNext(); });
  task->Abort();
  tracing.Join();
  worker.Join();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskIsDetachedDuringATrace) {
  Traced* task = Traced::Start();
  Thread tracing([&] { task->Trace(); });
  task->Detach();
  tracing.Join();
  task->Signal();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskCompletesAndIsDetachedDuringATrace,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Traced* task = Traced::Start();
  task->Signal();
  Thread tracing([&] { task->Trace(); });
  Thread worker([&] { task->RunNext(); });
  task->Detach();
  tracing.Join();
  worker.Join();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskIsShutDownDuringATrace, .spurious_failures = 0) {
  Traced* task = Traced::Start();
  Thread tracing([&] { task->Trace(); });
  task->ShutDown();
  tracing.Join();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskIsShutDownAndWokenDuringATrace,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Traced* task = Traced::Start();
  Thread tracing([&] { task->Trace(); });
  Thread signalling([&] { task->Signal(); });
  task->ShutDown();
  tracing.Join();
  signalling.Join();
  task->Finish();
}

MODEL_TEST(TaskTrace, ATaskIsTracedTwiceAtOnce, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Traced* task = Traced::Start();
  task->CountTracer();
  Thread tracing([&] { task->Trace(); });
  Thread other([&] { task->Trace(); });
  task->Signal();
  tracing.Join();
  other.Join();
  task->Finish();
}

// A tracer has a reference and makes transitions. The other operations are not
// affected.
MODEL_MUTANTS(TaskTrace, "scheduler/task/",
              "State::IsComplete: killed by task_model_test",
              "State::CompleteRunning: its order is killed by task_model_test",
              "State::IsOnlyReference: killed by task_model_test",
              // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
              "State::SuspendRunning at state.h:296: condition: killed by "
              "task_model_test",
              "State::TryChange: its order is killed by task_model_test",
              "State::Unref: killed by task_model_test",
              "Schedule::Ref: killed by task_model_test",
              "Schedule::Unref: killed by task_model_test");

}  // namespace
}  // namespace rouse::task
