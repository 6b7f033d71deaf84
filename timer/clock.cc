#include "rouse/timer/clock.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/timer/instant.h"

namespace rouse {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

int64_t SystemNanoseconds() {
#ifdef ROUSE_MODEL
  // A model has no time but what it advances the clock by. Not 0, so that a
  // reading which takes a running clock for a paused one shows.
  return kMillisecond;
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#endif
}

// The time of a clock that runs.
Instant SystemNow(int64_t base) {
  int64_t now;
  // The system's time is positive, so it is only in this direction that the sum
  // can overflow.
  if (__builtin_add_overflow(SystemNanoseconds(), base, &now)) {
    return Instant::Max();
  }
  return Instant::FromNanoseconds(now);
}

}  // namespace

// A sequence lock: a reading counts if the version was even and the same before
// and after, so that it lies wholly between two changes. A change is made by
// the holder of `mu_`:
//
//   version odd;  read the system's clock;  paused_, base_;  version even
//
// Never backwards: a reading that counts was over before the version became
// odd, so the system's time that it saw is not later than what the change reads
// afterwards and goes on from; and a reading after the change starts from
// there.
//
// The version orders what is between: the acquire of `paused_` and `base_`
// keeps the second look at the version behind them, and a reader that sees
// either one new sees the odd version too, since the release of the store comes
// after it.

Instant Clock::Now() const {
  // Acquire pairs with the release of Set, for `paused_` and `base_`.
  const uint32_t version = version_.load(std::memory_order_acquire);
  // Acquire: see above.
  const bool paused = paused_.load(std::memory_order_acquire);
  const int64_t base = base_.load(std::memory_order_acquire);
  const Instant now = paused ? Instant::FromNanoseconds(base) : SystemNow(base);
  if ((version & 1) == 0 &&
      version_.load(std::memory_order_relaxed) == version) {
    return now;
  }
  return SlowNow();
}

// Waits for the change to end.
Instant Clock::SlowNow() const {
  const ThreadMutexLock lock(&mu_);
  // Relaxed: `mu_` orders these with the changes, which hold it.
  const int64_t base = base_.load(std::memory_order_relaxed);
  return paused_.load(std::memory_order_relaxed)
             ? Instant::FromNanoseconds(base)
             : SystemNow(base);
}

void Clock::BeginChange() {
  // Acquire keeps the reading of the system's clock behind it. It need not
  // release: who sees what Set stores sees this too.
  version_.fetch_add(1, std::memory_order_acquire);
}

void Clock::Set(bool paused, int64_t base) {
  // Release pairs with the acquires of Now.
  paused_.store(paused, std::memory_order_release);
  base_.store(base, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
}

void Clock::Pause() {
  {
    const ThreadMutexLock lock(&mu_);
    // Relaxed, here and below: only the holder of `mu_` writes.
    if (paused_.load(std::memory_order_relaxed)) return;
    BeginChange();
    const int64_t now =
        SystemNow(base_.load(std::memory_order_relaxed)).nanoseconds();
    // Up to a whole millisecond, unless that is beyond the end of time.
    const int64_t rest = now % kMillisecond;
    Set(true, Instant::FromNanoseconds(now)
                  .PlusNanoseconds(rest == 0 ? 0 : kMillisecond - rest)
                  .nanoseconds());
  }
  // Else those that sleep may go on, until the clock is moved.
  if (HasAutoAdvance()) CallListeners();
}

void Clock::Resume() {
  {
    const ThreadMutexLock lock(&mu_);
    if (!paused_.load(std::memory_order_relaxed)) return;
    BeginChange();
    Set(false, base_.load(std::memory_order_relaxed) - SystemNanoseconds());
  }
  CallListeners();
}

void Clock::Advance(absl::Duration d) {
  if (d < absl::ZeroDuration()) {
    Panic("Clock::Advance by less than zero: a clock only goes forward");
  }
  {
    const ThreadMutexLock lock(&mu_);
    BeginChange();
    Set(paused_.load(std::memory_order_relaxed),
        (Instant::FromNanoseconds(base_.load(std::memory_order_relaxed)) + d)
            .nanoseconds());
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
  const bool paused = paused_.load(std::memory_order_relaxed);
  const int64_t base = base_.load(std::memory_order_relaxed);
  const Instant now = paused ? Instant::FromNanoseconds(base) : SystemNow(base);
  if (t <= now) return false;
  BeginChange();
  Set(paused, (Instant::FromNanoseconds(base) + (t - now)).nanoseconds());
  return true;
}

void Clock::SetAutoAdvance(bool on) {
  {
    const ThreadMutexLock lock(&mu_);
    // Relaxed: `mu_` orders it for whoever moves the clock.
    auto_advance_.store(on, std::memory_order_relaxed);
  }
  CallListeners();
}

bool Clock::HasAutoAdvance() const {
  // Relaxed: who goes on to move the clock asks again under the lock.
  return auto_advance_.load(std::memory_order_relaxed);
}

bool Clock::AdvancesByItself() const { return HasAutoAdvance() && IsPaused(); }

void Clock::AutoAdvanceTo(Instant t) {
  {
    const ThreadMutexLock lock(&mu_);
    if (!AdvancesByItself()) return;
    if (holds_ > 0) {
      held_back_ = true;
      return;
    }
    if (!MoveTo(t)) return;
  }
  CallListeners();
}

void Clock::Hold() {
  const ThreadMutexLock lock(&mu_);
  ++holds_;
}

void Clock::Release() {
  {
    const ThreadMutexLock lock(&mu_);
    if (--holds_ > 0 || !std::exchange(held_back_, false)) return;
  }
  CallListeners();
}

bool Clock::IsPaused() const {
  // Nothing depends on it: it may change as soon as it is known.
  return paused_.load(std::memory_order_relaxed);
}

void Clock::AddListener(Listener listener) {
  const ThreadMutexLock lock(&mu_);
  listeners_.push_back(std::move(listener));
}

void Clock::RemoveListener(const Listener& listener) {
  const ThreadMutexLock lock(&mu_);
  auto it = std::find(listeners_.begin(), listeners_.end(), listener);
  if (it != listeners_.end()) listeners_.erase(it);
}

void Clock::CallListeners() {
  std::vector<Listener> listeners;
  {
    const ThreadMutexLock lock(&mu_);
    listeners = listeners_;
  }
  for (const Listener& listener : listeners) (*listener)();
}

}  // namespace rouse
