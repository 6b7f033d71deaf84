// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/local/local_set.h"

#include "rouse/base/panic.h"
#include "rouse/scheduler/local/local_schedule.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

LocalSetGuard::LocalSetGuard(scheduler::LocalSchedule* schedule)
    : schedule_(schedule), outer_(scheduler::SetCurrentLocal(schedule)) {
  schedule_->Ref();
}

LocalSetGuard::~LocalSetGuard() {
  scheduler::SetCurrentLocal(outer_);
  schedule_->Unref();
}

LocalSet::~LocalSet() {
  if (schedule_ == nullptr) return;
  schedule_->CheckOwner("~LocalSet");
  if (schedule_->is_driving()) {
    Panic(
        "LocalSet was destroyed by one of its own tasks; let the last owner be "
        "outside the set");
  }
  schedule_->Deregister(driver_);
  schedule_->Close();
  schedule_->Unref();
}

PollResult<void> LocalSet::Poll(Context& cx) {
  schedule_->CheckOwner("LocalSet::Poll");
  if (schedule_->is_driving()) {
    Panic(
        "LocalSet was polled by one of its own tasks, for which the poll would "
        "wait; use RunUntil() in the task");
  }
  schedule_->Register(driver_, cx.waker());
  {
    const scheduler::LocalSchedule::Driving driving(*schedule_);
    if (schedule_->RunTasks(&cx.rand())) schedule_->YieldAs(driver_, cx);
  }
  if (schedule_->alive_tasks() > 0) return kPending;
  schedule_->Deregister(driver_);
  return {};
}

}  // namespace rouse
