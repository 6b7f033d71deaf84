// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task/task.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/base/optimization.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/task_local.h"
#include "rouse/scheduler/task/state.h"
#include "rouse/scheduler/task/unhandled.h"
#include "rouse/waker/runtime_scope.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

Header* From(void* data) { return static_cast<Header*>(data); }

void Unref(Header* task, uint64_t references) {
  if (task->state.Unref(references)) task->vtable->deallocate(task);
}

}  // namespace

constexpr RawWakerVTable kWakerVTable = {
    // clone
    [](void* data) {
      From(data)->state.Ref();
      return RawWaker{data, &kWakerVTable};
    },
    // wake
    [](void* data) {
      Header* task = From(data);
      switch (task->state.WakeAndDrop()) {
        case State::WakeByValue::kDone:
          break;
        case State::WakeByValue::kSubmit:
          task->scheduler->Submit(task);
          break;
        case State::WakeByValue::kLast:
          task->vtable->deallocate(task);
          break;
      }
    },
    // wake_by_ref
    [](void* data) {
      Header* task = From(data);
      if (task->state.Wake()) task->scheduler->Submit(task);
    },
    // drop
    [](void* data) { Unref(From(data), 1); },
};

namespace {

// Allows only one trace at once. Also taken by threads that wait for the end of
// a trace.
ABSL_CONST_INIT ThreadMutex trace_mu(absl::kConstInit);

// Returns whether the caller must cancel `task`.
bool TakeOverToCancel(Header* task) {
  for (;;) {
    switch (task->state.TakeOverToCancel()) {
      case State::TakeOver::kCancel:
        task->KeepScheduler();
        return true;
      case State::TakeOver::kLeave:
        return false;
      case State::TakeOver::kTraced: {
        const ThreadMutexLock wait(&trace_mu);
        break;
      }
    }
  }
}

void Cancel(Header* task, uint64_t references) {
  Complete(task, task->vtable->cancel(task), references);
}

// Not inlined, because the cleanup costs its function a check of the stack.
ABSL_ATTRIBUTE_NOINLINE void WakeRejoined(Header* task, uint64_t references) {
  // Runs even if the joiner's waker throws.
  const absl::Cleanup unref = [=] { Unref(task, references); };
  Waker(task->join_waker.Read()).Wake();
}

}  // namespace

void Schedule::Unhandled(Header* task, const std::exception_ptr& exception) {
  LogUnhandled(task->meta(), exception);
}

std::unique_ptr<Header::Details> Header::MakeDetails(std::string_view name) {
  return std::make_unique<Details>(name);
}

void Complete(Header* task, Outcome outcome, uint64_t references) {
  if (ABSL_PREDICT_FALSE(outcome == Outcome::kThrew)) {
    task->KeepScheduler();
    task->scheduler->Threw(task, task->vtable->exception(task));
  }
  const bool detached = !task->state.HasJoinInterest();
  if (detached) task->vtable->drop_output(task);
  // Released first, for two reasons: a thread that learns of the end must not
  // find the task in the list, and all references are dropped at once.
  if (task->scheduler->Release(task)) ++references;
  // Saves the read-modify-write if no handle is left to be notified.
  if (detached && task->state.IsOnlyReference(references)) {
    return task->vtable->deallocate(task);
  }
  // Written if it is read, but g++ does not see this.
  RawWaker joiner{nullptr, nullptr};
  switch (task->state.CompleteRunning(
      references, detached, [&] { joiner = task->join_waker.Read(); })) {
    case State::Complete::kDone:
      break;
    case State::Complete::kLast:
      task->vtable->deallocate(task);
      break;
    case State::Complete::kWakeJoiner:
      Waker(joiner).Wake();
      break;
    case State::Complete::kWakeRejoined:
      WakeRejoined(task, references);
      break;
    case State::Complete::kDropOutput:
      task->vtable->drop_output(task);
      Unref(task, references);
      break;
  }
}

void EndWithoutPoll(Header* task, State::Start start) {
  switch (start) {
    case State::Start::kSkip:
      Unref(task);
      break;
    case State::Start::kCancel:
      Cancel(task, 1);
      break;
    case State::Start::kTraced:
    case State::Start::kPoll:
      break;
  }
}

void AfterSuspend(Header* task, State::Suspend suspend) {
  switch (suspend) {
    case State::Suspend::kIdle:
      break;
    case State::Suspend::kReschedule:
      task->scheduler->Resubmit(task);
      break;
    case State::Suspend::kCancel:
      Cancel(task, 1);
      break;
  }
}

void Suspend(Header* task) {
  const ScopedTaskId here(task->id);
  AfterSuspend(task, task->state.SuspendRunning(/*yielded=*/true));
}

bool Run(Header* task, FastRand* rand, uint32_t now_ms) {
  const Ran ran = RunUntilYield(task, rand, now_ms, CurrentTaskIdHere());
  if (ran.yielded) Suspend(task);
  return ran.by_force;
}

void Discard(Header* task) {
  if (!std::exchange(task->still_running, false)) return Unref(task);
  const internal::ScopedTaskEnd here(task->id);
  Cancel(task, 1);
}

void CancelNew(Header* task) {
  // The scope in which the caller runs does not concern the task.
  const internal::ScopedTaskLocals none(nullptr);
  // The list's reference, dropped even if a joiner's waker throws.
  const absl::Cleanup unref_of_list = [task] { Unref(task); };
  if (task->still_running) return Discard(task);
  const absl::Cleanup unref_of_queue = [task] { Unref(task); };
  Shutdown(task);
}

void Shutdown(Header* task) {
  if (!TakeOverToCancel(task)) return;
  const internal::ScopedTaskEnd here(task->id);
  Cancel(task, 0);
}

void Fail(Header* task, const absl::Status& error) {
  if (!TakeOverToCancel(task)) return;
  const internal::ScopedTaskEnd here(task->id);
  Complete(task, task->vtable->fail(task, error), 0);
}

void Abort(Header* task) {
  if (task->state.Abort()) task->scheduler->Submit(task);
}

void Unref(Header* task) { Unref(task, 1); }

absl::Status ErrorOfCancelled(TaskId id) {
  return absl::CancelledError(absl::StrCat("task ", id, " was cancelled"));
}

absl::Status ErrorOfThrown(const Header* task,
                           const std::exception_ptr& exception) {
  return absl::InternalError(DescribeThrown(task->meta(), exception));
}

bool Trace(Header* task, AwaitTrace& trace) {
  bool submit = false;
  // All of this runs even if there is no memory for the trace.
  const absl::Cleanup after = [&] {
    if (submit) task->scheduler->Submit(task);
  };
  const ThreadMutexLock lock(&trace_mu);
  if (!task->state.BeginTrace()) return false;
  const absl::Cleanup end = [&] { submit = task->state.EndTrace(); };
  task->vtable->trace(task, trace);
  return true;
}

bool SetJoiner(Header* task, const Waker& waker) {
  const State::Join join = task->state.JoinState();
  if (join == State::Join::kComplete) return true;
  const RawWaker before = task->join_waker.Read();
  const bool is_set = join == State::Join::kWakerSet;
  if (is_set && before.data == waker.raw().data &&
      before.vtable == waker.raw().vtable) {
    return false;
  }
  // May throw: nothing has been done yet that must be undone.
  const RawWaker clone = waker.raw().vtable->clone(waker.raw().data);
  bool complete = is_set && !task->state.TakeJoinWaker();
  // Empty, or a waker that is not needed, which is dropped last.
  Waker unused;
  if (complete) {
    unused = Waker(clone);
  } else {
    if (is_set) unused = Waker(before);
    task->join_waker.Write(clone);
    if (!task->state.SetJoinWaker()) {
      complete = true;
      // Reset explicitly, because the destructor would not let an exception
      // propagate.
      Waker too_late(clone);
      too_late.Reset();
    }
  }
  unused.Reset();
  return complete;
}

void DropHandle(Header* task) {
  // The load saves the read-modify-write if nothing needs to change.
  if (!task->state.IsComplete()) {
    const RawWaker waker = task->join_waker.Read();
    switch (task->state.DropHandle()) {
      case State::Drop::kDone:
        return;
      case State::Drop::kDropWaker:
        return Waker(waker).Reset();
      case State::Drop::kComplete:
        break;
    }
  }
  {
    const internal::ScopedTaskEnd here(task->id);
    task->vtable->drop_output(task);
  }
  DropHandleOfTaken(task);
}

void DropHandleOfTaken(Header* task) {
  if (task->state.IsOnlyReference()) {
    task->vtable->deallocate(task);
  } else {
    Unref(task);
  }
}

}  // namespace rouse::task
