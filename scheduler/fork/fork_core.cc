// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/fork/fork_core.h"

#include <cstdint>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/fresh_stack.h"
#include "rouse/base/panic.h"
#include "rouse/base/stack_room.h"
#include "rouse/base/thread_local.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/fork/fork_stack.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

ForkPlace CurrentForkPlace() {
  if (scheduler::Worker::Current() != nullptr) {
    return scheduler::Worker::CurrentForksIfRoom() != nullptr
               ? ForkPlace::kWorker
               : ForkPlace::kTooDeep;
  }
  const scheduler::Scheduler* const scheduler = scheduler::Current();
  // Otherwise the scheduler's only thread can be this one, which would wait for
  // itself.
  return scheduler != nullptr && scheduler->options().run_elsewhere != nullptr
             ? ForkPlace::kElsewhere
             : ForkPlace::kAlone;
}

ABSL_ATTRIBUTE_NOINLINE void CountChildWithoutStack(Context& cx) {
  uint32_t& children = ThreadLocal<uint32_t, class ChildrenTag>::Get();
  if (++children % ForkStack::kChildrenPerUnit == 0) TakeUnitIfAny(cx);
}

ABSL_ATTRIBUTE_NOINLINE void RunWithStackRoom(absl::FunctionRef<void()> f) {
  if (HasAmpleStackRoom() || !RunOnFreshStack(f)) f();
}

void PanicForkFinished(std::string_view name) {
  Panic(absl::StrCat(name,
                     " was polled after it completed, or after one of its "
                     "futures threw an exception; create a new ",
                     name));
}

void PanicForkMoved(std::string_view name) {
  Panic(absl::StrCat(name,
                     " was moved after its first poll; move it before that, or "
                     "keep it behind a pointer"));
}

void PanicForkTooDeep(std::string_view name) {
  Panic(absl::StrCat(name,
                     " is nested so deeply that the thread's stack is nearly "
                     "used up, and the system has no memory for another "
                     "stack; end the recursion earlier"));
}

}  // namespace rouse::internal
