// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/clock.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/timer/instant.h"

#ifdef ROUSE_SCALING
#include "rouse/testing/scaling/thread.h"
#endif

namespace rouse {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

int64_t SystemNanoseconds() {
#if defined(ROUSE_SCALING)
  return scaling::SystemNanoseconds();
#elif defined(ROUSE_MODEL)
  // In a model, time passes only when the model advances the clock. The value
  // is not 0, so that a reading that takes a running clock for a paused one
  // shows.
  return kMillisecond;
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#endif
}

// Returns the time of a running clock, before the floor is applied.
Instant SystemNow(int64_t base) {
  int64_t now;
  // The system's time is positive, so the sum can overflow only in this
  // direction.
  if (__builtin_add_overflow(SystemNanoseconds(), base, &now)) {
    return Instant::Max();
  }
  return Instant::FromNanoseconds(now);
}

}  // namespace

// A sequence lock. A reading counts if the version was even, and the same
// before and after the reading, so that the reading lies wholly between two
// changes. The holder of `mu_` makes a change:
//
//   version odd;  read the system's clock;  paused_, base_, floor_;  version
//   even
//
// Time never goes backwards. A reading that counts was over before the version
// became odd, so the system's time in that reading is not later than the time
// that the change reads afterwards and continues from. A reading after the
// change starts from there.
//
// The version orders the accesses in between. The acquire loads of `paused_`,
// `base_` and `floor_` keep the second load of the version behind them. A
// reader that sees a new value of any of the three also sees the odd version,
// because the release store of that value comes after the odd version.

Instant Clock::Now() const {
  // Acquire pairs with the release of Set, for the values that Set stores
  // before.
  const uint32_t version = version_.load(std::memory_order_acquire);
  // Acquire: see above.
  const bool paused = paused_.load(std::memory_order_acquire);
  const int64_t base = base_.load(std::memory_order_acquire);
  const int64_t floor = floor_.load(std::memory_order_acquire);
  const Instant now = State{paused, base, floor}.Now();
  if ((version & 1) == 0 &&
      version_.load(std::memory_order_relaxed) == version) {
    return now;
  }
  return SlowNow();
}

// Waits for the change to end, and then reads the clock.
Instant Clock::SlowNow() const {
  const ThreadMutexLock lock(&mu_);
  return state().Now();
}

Instant Clock::State::Now() const {
  if (paused) return Instant::FromNanoseconds(base);
  return std::max(SystemNow(base), Instant::FromNanoseconds(floor));
}

Clock::State Clock::state() const {
  // Relaxed: only the holder of `mu_` writes these.
  return {.paused = paused_.load(std::memory_order_relaxed),
          .base = base_.load(std::memory_order_relaxed),
          .floor = floor_.load(std::memory_order_relaxed)};
}

Instant Clock::TickFrom(Instant t) const {
  constexpr int64_t kMinute = 60'000'000'000;
  int64_t tick = drivers_.empty() ? kMillisecond : 1;
  for (const Driver& driver : drivers_) {
    const int64_t step = driver.tick / std::gcd(tick, driver.tick);
    tick = tick <= kMinute / step ? tick * step : std::max(tick, driver.tick);
  }
  const int64_t rest = t.nanoseconds() % tick;
  return rest == 0 ? t : t.PlusNanoseconds(tick - rest);
}

void Clock::BeginChange() {
  // Acquire keeps the reading of the system's clock behind this. No release is
  // needed: a thread that sees a value that Set stores sees this, too.
  version_.fetch_add(1, std::memory_order_acquire);
}

void Clock::Set(const State& state) {
  // Release pairs with the acquires of Now.
  paused_.store(state.paused, std::memory_order_release);
  base_.store(state.base, std::memory_order_release);
  floor_.store(state.floor, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
}

void Clock::Pause() {
  {
    const ThreadMutexLock lock(&mu_);
    const State before = state();
    if (before.paused) return;
    BeginChange();
    const Instant time = SystemNow(before.base);
    const Instant shown =
        std::max(time, Instant::FromNanoseconds(before.floor));
    const int64_t now = TickFrom(shown).nanoseconds();
    ahead_ = now - time.nanoseconds();
    Set({.paused = true, .base = now, .floor = now});
  }
  // Without auto-advance, sleeping drivers can sleep until the clock is moved.
  if (HasAutoAdvance()) CallListeners();
}

void Clock::Resume() {
  {
    const ThreadMutexLock lock(&mu_);
    const State before = state();
    if (!before.paused) return;
    BeginChange();
    Set({.paused = false,
         .base = before.base - ahead_ - SystemNanoseconds(),
         .floor = before.base});
  }
  CallListeners();
}

void Clock::Advance(AnyDuration d) {
  if (d < absl::ZeroDuration()) {
    Panic(
        "Clock::Advance: the duration is negative; a clock moves only forward");
  }
  {
    const ThreadMutexLock lock(&mu_);
    State now = state();
    BeginChange();
    now.base = (Instant::FromNanoseconds(now.base) + d).nanoseconds();
    now.floor = (Instant::FromNanoseconds(now.floor) + d).nanoseconds();
    Set(now);
  }
  CallListeners();
}

void Clock::AdvanceTo(Instant t) {
  {
    const ThreadMutexLock lock(&mu_);
    if (!MoveTo(t)) return;
  }
  CallListeners();
}

bool Clock::MoveTo(Instant t) {
  State after = state();
  const Instant now = after.Now();
  if (t <= now) return false;
  BeginChange();
  after.base = (Instant::FromNanoseconds(after.base) + (t - now)).nanoseconds();
  after.floor = t.nanoseconds();
  Set(after);
  return true;
}

void Clock::SetAutoAdvance(bool on) {
  {
    const ThreadMutexLock lock(&mu_);
    // Relaxed: `mu_` orders this for the thread that moves the clock.
    auto_advance_.store(on, std::memory_order_relaxed);
  }
  CallListeners();
}

bool Clock::AdvancesByItself() const { return HasAutoAdvance() && IsPaused(); }

void Clock::StepTo(Instant limit, absl::AnyInvocable<void()> arrived) {
  BeginStep(limit, false, std::move(arrived));
}

void Clock::StepToNext(absl::AnyInvocable<void()> arrived) {
  BeginStep(Instant::Max(), true, std::move(arrived));
}

void Clock::BeginStep(Instant limit, bool to_next,
                      absl::AnyInvocable<void()> arrived) {
  {
    const ThreadMutexLock lock(&mu_);
    if (!AdvancesByItself()) {
      Panic(
          "Clock: a step was started without auto-advance; create the runtime "
          "with PausedRuntime()");
    }
    if (arrived_ != nullptr) {
      Panic(
          "Clock: a step was started before the previous step ended; await "
          "each step before the next");
    }
    limit_ = limit;
    to_next_ = to_next;
    arrived_ = std::move(arrived);
  }
  CallListeners();
}

void Clock::EndStep() {
  // Destroyed when the lock is free.
  absl::AnyInvocable<void()> arrived;
  const ThreadMutexLock lock(&mu_);
  arrived = std::exchange(arrived_, nullptr);
  limit_ = state().Now();
  to_next_ = false;
}

void Clock::OnElapsed() {
  // Without auto-advance no step is in progress.
  if (!HasAutoAdvance()) return;
  const ThreadMutexLock lock(&mu_);
  if (std::exchange(to_next_, false)) limit_ = state().Now();
}

bool Clock::AutoAdvanceTo(Instant t) {
  absl::AnyInvocable<void()> arrived;
  {
    const ThreadMutexLock lock(&mu_);
    if (!AdvancesByItself()) return true;
    if (holds_ > 0) {
      held_back_ = true;
      return true;
    }
    if (t == Instant::Max() && arrived_ == nullptr) return true;
    if (checked_ < released_) return false;
    // No next deadline exists.
    if (t == Instant::Max() && std::exchange(to_next_, false)) {
      limit_ = state().Now();
    }
    const bool is_beyond = t > limit_;
    if (!MoveTo(std::min(t, limit_))) {
      if (!is_beyond || arrived_ == nullptr) return true;
      arrived = std::exchange(arrived_, nullptr);
    }
  }
  if (arrived != nullptr) arrived();
  CallListeners();
  return true;
}

uint64_t Clock::BeginCheck() const {
  // Without auto-advance the result is not used.
  if (!HasAutoAdvance()) return 0;
  const ThreadMutexLock lock(&mu_);
  return released_;
}

void Clock::EndCheck(uint64_t check) {
  if (!HasAutoAdvance()) return;
  const ThreadMutexLock lock(&mu_);
  checked_ = std::max(checked_, check);
}

void Clock::Hold() {
  const ThreadMutexLock lock(&mu_);
  ++holds_;
}

void Clock::Release(bool checked) {
  {
    const ThreadMutexLock lock(&mu_);
    if (!checked) ++released_;
    if (--holds_ > 0 || !std::exchange(held_back_, false)) return;
  }
  CallListeners();
}

bool Clock::IsPaused() const {
  // Relaxed: nothing depends on the value, which may change at any time.
  return paused_.load(std::memory_order_relaxed);
}

void Clock::AddListener(Listener listener, int64_t tick) {
  {
    const ThreadMutexLock lock(&mu_);
    drivers_.push_back({std::move(listener), tick});
    const State now = state();
    if (!now.paused) return;
    const Instant aligned = TickFrom(now.Now());
    ahead_ += aligned.nanoseconds() - now.base;
    if (!MoveTo(aligned)) return;
  }
  CallListeners();
}

void Clock::RemoveListener(const Listener& listener) {
  const ThreadMutexLock lock(&mu_);
  auto it = std::find_if(
      drivers_.begin(), drivers_.end(),
      [&](const Driver& driver) { return driver.listener == listener; });
  if (it != drivers_.end()) drivers_.erase(it);
}

void Clock::CallListeners() {
  std::vector<Listener> listeners;
  {
    const ThreadMutexLock lock(&mu_);
    for (const Driver& driver : drivers_) listeners.push_back(driver.listener);
  }
  for (const Listener& listener : listeners) (*listener)();
}

}  // namespace rouse
