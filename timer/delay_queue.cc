// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/delay_queue.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "rouse/timer/heap/key_heap.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/is_due.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using State = wheel::internal::Registration::State;

std::string DelayKey::ToString() const {
  if (generation_ == 0) return "no key";
  return absl::StrCat("key ", generation_);
}

bool DelayQueueBase::Contains(DelayKey key) const {
  return heap_.Contains(key.slot_) &&
         heap_.key(key.slot_).generation == key.generation_;
}

std::optional<Instant> DelayQueueBase::Deadline(DelayKey key) const {
  if (!Contains(key)) return std::nullopt;
  return heap_.key(key.slot_).deadline;
}

std::optional<DelayKey> DelayQueueBase::Peek() const {
  if (heap_.IsEmpty()) return std::nullopt;
  const heap::Slot front = heap_.Front();
  return DelayKey(front, heap_.key(front).generation);
}

bool DelayQueueBase::ResetAt(DelayKey key, Instant deadline) {
  if (!Contains(key)) return false;
  heap_.Update(key.slot_, {deadline, key.generation_});
  WakeForNearerHead();
  return true;
}

DelayKey DelayQueueBase::CommitInsert(Instant deadline) {
  const uint64_t generation = ++last_generation_;
  const DelayKey key(heap_.Push({deadline, generation}), generation);
  WakeForNearerHead();
  return key;
}

void DelayQueueBase::WakeForNearerHead() {
  // In any other state the task has been woken, or no task waits.
  if (registration_.state() != State::kWaiting) return;
  const Instant deadline = heap_.key(heap_.Front()).deadline;
  if (deadline < registration_.deadline()) registration_.Reset(deadline);
}

PollResult<bool> DelayQueueBase::PollHead(Context& cx) {
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (has_ended_) return false;
  for (;;) {
    Instant deadline = Instant::Max();
    if (!heap_.IsEmpty()) {
      deadline = heap_.key(heap_.Front()).deadline;
      if (internal::IsDue(deadline, Now())) {
        unit->MadeProgress();
        return true;
      }
    }
    if (registration_.state() != State::kWaiting) {
      registration_.Reset(deadline);
    }
    const State state = registration_.Wait(cx.waker());
    if (state == State::kWaiting) return kPending;
    if (state == State::kShutDown) {
      has_ended_ = true;
      return false;
    }
    // The deadline has come just now, or was the deadline of an entry that has
    // been removed: check again.
  }
}

}  // namespace rouse
