// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/timer.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/arc_list.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/heap/scheduled_timer.h"
#include "rouse/timer/heap/timer_core.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/is_due.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap {

// A node is in the heap if and only if its registration has a slot, and only
// once. The heap has the state of the node at the last check; `Fire()` finds
// later changes.

Timer::Timer(std::shared_ptr<Clock> clock)
    : core_(MakeRef<internal::TimerCore>(
          std::move(clock),
          absl::UnavailableError("Delay: the timer was destroyed"))) {}

Timer::~Timer() {
  // No node can be pushed from here on, so none is missed.
  ArcList<ScheduledTimer>::Batch changed = core_->changed().TakeAndSeal();
  while (const Ref<ScheduledTimer> node = changed_.Pop()) node->Invalidate();
  while (const Ref<ScheduledTimer> node = changed.Pop()) node->Invalidate();
  while (!heap_.IsEmpty()) heap_.Pop().value->Invalidate();
  // The waker will not be called any more.
  static_cast<void>(core_->waker().Take());
}

PollResult<void> Timer::Poll(Context& cx) {
  // Registers first: a push after the check calls the waker.
  core_->waker().Register(cx.waker());
  LookAtChanges();
  return kPending;
}

std::optional<Instant> Timer::NextEvent() {
  LookAtChanges();
  if (heap_.IsEmpty()) return std::nullopt;
  return *heap_.Peek();
}

void Timer::AdvanceTo(Instant now) {
  LookAtChanges();
  while (!heap_.IsEmpty() && rouse::internal::IsDue(*heap_.Peek(), now)) {
    const Ref<ScheduledTimer> node = heap_.Pop().value;
    ScheduledTimer::Registration& registration = node->registration();
    registration.slot.reset();
    node->Fire(registration.generation);
  }
}

void Timer::LookAtChanges() {
  LookAtBatch();  // the batch of a call that threw
  changed_ = core_->changed().TakeAll();
  LookAtBatch();
}

void Timer::LookAtBatch() {
  while (!changed_.IsEmpty()) {
    // Before the node is taken: if there is no memory, the node stays where it
    // is.
    heap_.MakeRoom();
    Update(changed_.Pop());
  }
}

void Timer::Update(Ref<ScheduledTimer> node) {
  ScheduledTimer::Registration& registration = node->registration();
  const std::optional<ScheduledTimer::Armed> armed = node->Look();
  if (!armed.has_value()) {
    if (registration.slot.has_value()) {
      heap_.Remove(*std::exchange(registration.slot, std::nullopt));
    }
    return;
  }
  registration.generation = armed->generation;
  if (registration.slot.has_value()) {
    heap_.Update(*registration.slot, armed->deadline);
  } else {
    registration.slot = heap_.Push(armed->deadline, std::move(node));
  }
}

}  // namespace rouse::heap
