// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/local/local_schedule.h"

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_local.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/task_local.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {
namespace {

// None of these functions is inlined, because a coroutine might keep a
// variable's address while the coroutine moves to another thread. The functions
// can be used while a thread's own variables, including a `LocalSet`, are being
// destroyed (tokio #5179), because the variables here have no destructors.

ABSL_ATTRIBUTE_NOINLINE LocalSchedule*& Current() {
  return ThreadLocal<LocalSchedule*, class CurrentLocalTag>::Get();
}

// Names this thread. Unlike the system's thread ids, a name is never used
// again: the owner of a set may have ended.
ABSL_ATTRIBUTE_NOINLINE uint64_t ThisThread() {
  // Relaxed, and not checked by the model checker: a name orders nothing.
  ABSL_CONST_INIT static std::atomic<uint64_t> last{0};
  uint64_t& name = ThreadLocal<uint64_t, class ThisThreadTag>::Get();
  if (name == 0) name = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return name;
}

}  // namespace

LocalSchedule* CurrentLocal() { return Current(); }

LocalSchedule& CurrentLocalOrPanic() {
  LocalSchedule* const schedule = Current();
  if (schedule == nullptr) {
    Panic(
        "SpawnLocal: this thread has no LocalSet; call SpawnLocal() in a task "
        "of a LocalSet or inside LocalSet::RunUntil, hold a LocalSet::Enter() "
        "guard, or call LocalSet::Spawn");
  }
  return *schedule;
}

LocalSchedule* SetCurrentLocal(LocalSchedule* schedule) {
  return std::exchange(Current(), schedule);
}

LocalSchedule::Driving::Driving(LocalSchedule& schedule)
    : schedule_(schedule),
      nested_(std::exchange(schedule.driving_, true)),
      outer_(SetCurrentLocal(&schedule)) {}

LocalSchedule::Driving::~Driving() {
  SetCurrentLocal(outer_);
  if (nested_) return;
  schedule_.driving_ = false;
  const bool emptied = std::exchange(schedule_.emptied_, false);
  if (schedule_.local_.IsEmpty() && !emptied) return;
  // An exception from a waker does not concern the poll that ends here.
  ROUSE_TRY { schedule_.WakeDrivers(); }
  ROUSE_CATCH_ALL {}
}

LocalSchedule::LocalSchedule() : owner_(ThisThread()) {}

bool LocalSchedule::IsOwner() const { return owner_ == ThisThread(); }

void LocalSchedule::CheckOwner(std::string_view call) const {
  if (IsOwner()) return;
  Panic(absl::StrCat(
      call,
      " was called on another thread than the thread that created the "
      "LocalSet; use the LocalSet, and poll its futures, only on that thread"));
}

void LocalSchedule::Adopt(task::Header* task) {
  if (closed_) {
    const internal::ScopedTaskLocals none(nullptr);
    task::Shutdown(task);
    task::Unref(task);  // the queue's
    task::Unref(task);  // the list's
    return;
  }
  tasks_.PushBack(task);
  ++task_count_;
  Submit(task);
}

void LocalSchedule::Submit(task::Header* task) {
  if (!IsOwner()) {
    SubmitRemotely(task);
    return;
  }
  if (closed_) {
    // The task was woken by the end of another task, and is cancelled next.
    task::Unref(task);
    return;
  }
  local_.Push(task);
  if (!driving_) WakeDrivers();
}

void LocalSchedule::Resubmit(task::Header* task) {
  // This is the owner, which has run the task.
  if (!running_tasks_ || closed_) return Submit(task);
  yielded_.Push(task);
}

void LocalSchedule::SubmitRemotely(task::Header* task) {
  {
    const ThreadMutexLock lock(&mu_);
    if (!remote_closed_) {
      remote_.Push(std::exchange(task, nullptr));
      // The queue now has the caller's reference to the task. The task may end,
      // and with it the set, before the drivers have been woken.
      Ref();
    }
  }
  if (task != nullptr) {
    // Too late: the task has been cancelled.
    task::Unref(task);
    return;
  }
  const absl::Cleanup unref = [this] { Unref(); };
  WakeDrivers();
}

void LocalSchedule::WakeDrivers() {
  // A woken driver may destroy the set while other drivers must still be woken.
  Ref();
  const absl::Cleanup unref = [this] { Unref(); };
  for (;;) {
    WakeList woken;
    {
      const ThreadMutexLock lock(&mu_);
      drivers_.ForEach([&woken](Driver* driver) {
        if (woken.IsFull()) return;
        // Taking a waker calls no code of the waker, so the lock may be held.
        Waker waker = driver->waker.Take();
        if (!waker.IsNoop()) woken.Push(std::move(waker));
      });
    }
    // The wakers that did not fit are still in the list.
    const bool all = !woken.IsFull();
    woken.WakeAll();
    if (all) return;
  }
}

bool LocalSchedule::Release(task::Header* task) {
  if (!task->IsLinked()) return false;
  task->Unlink();
  if (--task_count_ == 0) emptied_ = true;
  return true;
}

void LocalSchedule::Register(Driver& driver, const Waker& waker) {
  driver.waker.Register(waker);
  if (std::exchange(driver.registered, true)) return;
  const ThreadMutexLock lock(&mu_);
  drivers_.PushBack(&driver);
}

void LocalSchedule::Deregister(Driver& driver) {
  if (!std::exchange(driver.registered, false)) return;
  {
    const ThreadMutexLock lock(&mu_);
    driver.Unlink();
  }
  driver.waker.Take().Reset();
}

task::Header* LocalSchedule::Pop() {
  if (local_.IsEmpty() || ++tick_ % kRemoteInterval == 0) {
    // Appended behind the local tasks: if one queue is always full, the tasks
    // of the other queue wait only for the tasks that are queued here by now.
    const ThreadMutexLock lock(&mu_);
    local_.Append(remote_);
  }
  return local_.Pop();
}

bool LocalSchedule::RunTasks(FastRand* rand) {
  // A task is not a part of the poll that drives it.
  const internal::ScopedTaskLocals none(nullptr);
  {
    running_tasks_ = true;
    // Runs even if a waker throws.
    const absl::Cleanup done = [this] {
      running_tasks_ = false;
      local_.Append(yielded_);
    };
    for (int i = 0; i < kTasksPerPoll; ++i) {
      task::Header* const task = Pop();
      if (task == nullptr) break;
      task::Run(task, rand);
    }
  }
  return !local_.IsEmpty();
}

void LocalSchedule::YieldAs(Driver& driver, Context& cx) {
  // Keeps the end of `Driving` from waking the driver for the same tasks.
  driver.waker.Take().Reset();
  cx.Yield();
}

void LocalSchedule::Close() {
  // Objects destroyed here may wake and spawn tasks. All of these are dropped
  // immediately, so the loop ends (tokio #1885).
  closed_ = true;
  {
    const ThreadMutexLock lock(&mu_);
    remote_closed_ = true;
    local_.Append(remote_);
  }
  const internal::ScopedTaskLocals none(nullptr);
  const Driving driving(*this);
  while (task::Header* const task = tasks_.PopFront()) {
    --task_count_;
    task::Shutdown(task);
    task::Unref(task);
  }
  // The tasks that are still queued are complete, and only the queue holds
  // them.
  while (task::Header* const task = local_.Pop()) task::Unref(task);
}

}  // namespace rouse::scheduler
