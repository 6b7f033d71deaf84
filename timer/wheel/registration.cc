// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/registration.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/is_due.h"
#include "rouse/timer/wheel/core.h"
#include "rouse/timer/wheel/shard.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel::internal {
namespace {

using rouse::internal::IsDue;

// Returns the shard to wait in: the shard of this thread, if it belongs to the
// driver to which the registration is bound, or else `bound`.
Shard& ShardFor(Shard* bound) {
  Shard* current = CurrentShard();
  if (bound == nullptr) {
    if (current == nullptr) {
      Panic(
          "Sleep or Interval: this thread has no timer driver; poll the future "
          "inside a Runtime or in the scope of a wheel::ScopedDefault, or pass "
          "a wheel::Handle");
    }
    return *current;
  }
  if (current != nullptr && &current->core() == &bound->core()) return *current;
  return *bound;
}

}  // namespace

Registration::Registration(Core& core, Instant deadline)
    : Registration(deadline) {
  shard_ = &core.shard(0);
  SetState(State::kIdle, kOwnsReference);
  core.Ref();
}

Registration::Registration(Core& core, int64_t nanoseconds)
    : Registration(core, Instant::FromNanoseconds(nanoseconds)) {
  is_relative_ = true;
}

// NOLINTNEXTLINE(performance-noexcept-move-constructor)
Registration::Registration(Registration&& other)
    : is_relative_(other.is_relative_),
      has_begun_(other.has_begun_),
      is_marked_(other.is_marked_),
      deadline_(other.deadline().nanoseconds()) {
  if (other.state() != State::kIdle) {
    Panic(
        "Sleep or Interval was moved after it was polled; move the future "
        "before its first poll, or keep it in a std::unique_ptr");
  }
  shard_ = std::exchange(other.shard_, nullptr);
  other.has_begun_ = false;
  // Relaxed: only the owners know the two.
  word_.store(other.word_.load(std::memory_order_relaxed),
              std::memory_order_relaxed);
  other.word_.store(static_cast<uint8_t>(State::kIdle),
                    std::memory_order_relaxed);
}

Core& Registration::core() const { return shard_->core(); }

Registration::State Registration::WaitAnew(State state, const Waker& waker) {
  if (state == State::kWaiting) {
    state = shard_->ReplaceWaker(*this, waker.Clone());
  }
  if (state == State::kIdle || (state == State::kElapsed && put_off_ &&
                                !IsDue(deadline(), core().clock().Now()))) {
    return Arm(waker);
  }
  return state;
}

Registration::State Registration::Arm(const Waker& waker) {
  Shard& shard = ShardFor(shard_);
  Core& core = shard.core();
  const Instant now = core.clock().Now();
  const Instant deadline =
      is_relative_ ? now.PlusNanoseconds(this->deadline().nanoseconds())
                   : this->deadline();
  State state = State::kElapsed;
  if (!IsDue(deadline, now)) {
    Waker clone =
        waker.Clone();  // before anything changes, because it may throw
    Begin(shard, deadline);
    const uint64_t tick = core.ticks().AtOrAfter(deadline);
    state = shard.Insert(*this, tick, clone);
    // The core is alive: the driver keeps it alive until the driver's
    // destruction, and from then on a reference of this registration does.
    if (state == State::kWaiting) {
      ROUSE_MUTABLE_CALL(core.UnparkFor(tick));
      return state;
    }
  } else {
    Begin(shard, deadline);
  }
  // Not linked, so the registration owns a reference.
  if (!owns_reference()) core.Ref();
  SetState(state, kOwnsReference);
  return state;
}

void Registration::Begin(Shard& shard, Instant deadline) {
  shard_ = &shard;
  SetDeadline(deadline);
  is_relative_ = false;
  has_begun_ = true;
  put_off_ = false;
}

void Registration::Reset(Instant deadline) {
  if (state() == State::kWaiting) {
    if (deadline >= this->deadline()) {
      SetDeadline(deadline);
      put_off_ = true;
      return;
    }
    const uint64_t tick = core().ticks().AtOrAfter(deadline);
    Waker due;
    if (shard_->Move(*this, deadline, tick, due)) {
      put_off_ = false;
      if (state() == State::kWaiting) {
        ROUSE_MUTABLE_CALL(core().UnparkFor(tick));
      }
      std::move(due).Wake();
      return;
    }
  }
  SetDeadline(deadline);
  is_relative_ = false;
  SetState(State::kIdle, 0);
}

void Registration::ResetAfter(int64_t nanoseconds) {
  if (has_begun_) {
    return Reset(core().clock().Now().PlusNanoseconds(nanoseconds));
  }
  SetDeadline(Instant::FromNanoseconds(nanoseconds));
  is_relative_ = true;
}

bool Registration::IsElapsed() const {
  return state() == State::kElapsed &&
         (!put_off_ || IsDue(deadline(), core().clock().Now()));
}

void Registration::Cancel() {
  if (state() == State::kWaiting) shard_->Remove(*this);
  if (owns_reference()) core().Unref();
}

}  // namespace rouse::wheel::internal
