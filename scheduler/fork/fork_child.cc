// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/fork/fork_child.h"

#include <exception>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_local.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/task_local.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/fork/given_child.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {
namespace {

// Records that the calling thread polls `child`.
class PolledHere {
 public:
  explicit PolledHere(const GivenChild* child)
      : child_(child), outer_(std::exchange(Innermost(), this)) {}
  PolledHere(const PolledHere&) = delete;
  PolledHere& operator=(const PolledHere&) = delete;
  ~PolledHere() { Innermost() = outer_; }

  // Returns whether the calling thread polls `child`.
  static bool Contains(const GivenChild* child) {
    for (const PolledHere* here = Innermost(); here != nullptr;
         here = here->outer_) {
      if (here->child_ == child) return true;
    }
    return false;
  }

 private:
  // Not inlined, because a coroutine might keep the variable's address while
  // the coroutine moves to another thread.
  ABSL_ATTRIBUTE_NOINLINE static const PolledHere*& Innermost() {
    return ThreadLocal<const PolledHere*, PolledHere>::Get();
  }

  const GivenChild* const child_;
  const PolledHere* const outer_;
};

// The future of the task that polls a given child. Has a reference to the
// `GivenChild`.
class GivenChildFuture {
 public:
  explicit GivenChildFuture(GivenChild* child) noexcept : child_(child) {}
  GivenChildFuture(GivenChildFuture&& other) noexcept
      : child_(std::exchange(other.child_, nullptr)) {}
  GivenChildFuture& operator=(GivenChildFuture&&) = delete;
  ~GivenChildFuture() {
    if (child_ == nullptr) return;
    child_->Abandon();
    child_->Unref();
  }

  PollResult<void> Poll(Context& cx) {
    const ScopedTaskLocals scope(child_->Locals());
    const PolledHere here(child_);
    if (!child_->Poll(cx)) return kPending;
    return {};
  }

  void Trace(AwaitTrace& trace) const { child_->Trace(trace); }

 private:
  GivenChild* child_;
};

scheduler::Scheduler* SchedulerHere() {
  scheduler::Worker* const worker = scheduler::Worker::Current();
  return worker != nullptr ? &worker->scheduler() : scheduler::Current();
}

}  // namespace

GivenChild* GiveToTask(const ForkChildRef& child) {
  scheduler::Scheduler* const scheduler = SchedulerHere();
  if (scheduler == nullptr || !CanInheritTaskLocals()) return nullptr;
  GivenChild* given = nullptr;
  ROUSE_TRY {
    given = new GivenChild(child);
    scheduler->SpawnForOthers(GivenChildFuture(given));
  }
  ROUSE_CATCH_ALL {
    if (given == nullptr) return nullptr;
    // The task may exist all the same, and even poll the child now.
    if (given->TakeBack()) {
      given->Unref();
      return nullptr;
    }
  }
  return given;
}

bool TakeFromTask(GivenChild*& given, Context& cx, bool take_back) {
  // No child begins without budget.
  const bool may_begin = take_back && cx.HasBudget();
  if (may_begin && given->TakeBack()) return true;
  switch (given->Check(cx.waker())) {
    case GivenChild::Progress::kRuns:
      if (take_back && !may_begin) YieldForBudget(cx);
      return false;
    case GivenChild::Progress::kReturned:
      return true;
    case GivenChild::Progress::kEnded:
      break;
  }
  GivenChild* const taken = std::exchange(given, nullptr);
#ifdef ABSL_HAVE_EXCEPTIONS
  const std::exception_ptr exception = std::move(taken->exception());
  taken->Unref();
  if (exception != nullptr) std::rethrow_exception(exception);
#else
  taken->Unref();
#endif
  return true;
}

void ReclaimFromTask(GivenChild& given) {
  if (PolledHere::Contains(&given)) {
    Panic(
        "a fork was destroyed by one of its own children, inside the child's "
        "poll; let the fork's owner destroy the fork after the poll");
  }
  std::optional<scheduler::BlockingSection> blocking;
  given.Reclaim([&blocking] {
    // The other thread may need a task of this worker to end the poll.
    const scheduler::Worker* const worker = scheduler::Worker::Current();
    if (worker == nullptr ||
        worker->scheduler().options().run_elsewhere != nullptr) {
      blocking.emplace();
    }
  });
}

}  // namespace rouse::internal
