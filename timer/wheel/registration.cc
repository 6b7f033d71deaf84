#include "rouse/timer/wheel/registration.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/core.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel::internal {
namespace {

Core& RequireCurrentCore() {
  Core* core = CurrentCore();
  if (core == nullptr) {
    Panic(
        "Sleep, Interval: this thread has no timer driver; poll it inside a "
        "Runtime or "
        "within the scope of a wheel::ScopedDefault, or give it a "
        "wheel::Handle");
  }
  return *core;
}

}  // namespace

Registration::Registration(Core& core) : core_(&core), owns_reference_(true) {
  core.Ref();
}

// NOLINTNEXTLINE(performance-noexcept-move-constructor)
Registration::Registration(Registration&& other) {
  if (other.state() != State::kIdle) {
    Panic(
        "Sleep, Interval: moved after it was polled; move it before, or keep "
        "it in a "
        "std::unique_ptr");
  }
  core_ = std::exchange(other.core_, nullptr);
  owns_reference_ = std::exchange(other.owns_reference_, false);
}

Clock* Registration::clock() const {
  return core_ == nullptr ? nullptr : &core_->clock();
}

Registration::State Registration::Arm(Instant deadline, const Waker& waker) {
  Core& core = core_ != nullptr ? *core_ : RequireCurrentCore();
  return ArmIn(core, core.clock().Now(), deadline, waker);
}

Registration::State Registration::ArmAfter(int64_t nanoseconds,
                                           const Waker& waker,
                                           Instant& deadline) {
  Core& core = core_ != nullptr ? *core_ : RequireCurrentCore();
  const Instant now = core.clock().Now();
  deadline = now.PlusNanoseconds(nanoseconds);
  return ArmIn(core, now, deadline, waker);
}

Registration::State Registration::ArmIn(Core& core, Instant now,
                                        Instant deadline, const Waker& waker) {
  State state = State::kElapsed;
  if (deadline > now) {
    Waker clone = waker.Clone();
    core_ = &core;
    state = core.Insert(*this, deadline, std::move(clone));
    // From here on the driver may have been at work on this object.
    if (state == State::kWaiting) return state;
  }
  // Not linked, so it owns a reference.
  core_ = &core;
  if (!owns_reference_) {
    owns_reference_ = true;
    core.Ref();
  }
  // Relaxed: only the owner reads it.
  state_.store(state, std::memory_order_relaxed);
  return state;
}

Registration::State Registration::ReplaceWaker(const Waker& waker) {
  return core_->ReplaceWaker(*this, waker.Clone());
}

void Registration::Reset(Instant deadline) {
  if (state() == State::kWaiting && core_->Move(*this, deadline)) return;
  // Relaxed: only the owner reads it.
  state_.store(State::kIdle, std::memory_order_relaxed);
}

void Registration::Cancel() {
  if (state() == State::kWaiting) core_->Remove(*this);
  if (owns_reference_) core_->Unref();
}

}  // namespace rouse::wheel::internal
