// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the clock while it is changed. The system's time stands still in a
// model, at a whole millisecond, so that each change shows by itself.

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"

namespace rouse {
namespace {

using model::Require;
using model::Thread;

constexpr absl::Duration kTick = absl::Milliseconds(1);

MODEL_TEST(Clock, APauseIsNotSeen) {
  Clock clock;
  const Instant now = clock.Now();
  Thread other([&] { clock.Pause(); });
  Require(clock.Now() == now);
  Require(clock.Now() == now);
  other.Join();
  Require(clock.Now() == now);
}

MODEL_TEST(Clock, AResumeIsNotSeen) {
  Clock clock;
  clock.Pause();
  const Instant now = clock.Now();
  Thread other([&] { clock.Resume(); });
  Require(clock.Now() == now);
  Require(clock.Now() == now);
}

// The pause has moved the clock forward, to a tick of the driver. A resume lets
// the clock stand there until the system's time catches up.
MODEL_TEST(Clock, NorIsAResumeAheadOfTheSystem) {
  Clock clock;
  const Instant start = clock.Now();
  clock.AddListener(
      std::make_shared<const absl::AnyInvocable<void() const>>([] {}),
      absl::ToInt64Nanoseconds(7 * kTick));
  clock.Pause();
  const Instant now = clock.Now();
  Require(now > start);
  clock.Resume();
  Require(clock.Now() == now);
}

MODEL_TEST(Clock, AnAdvanceIsSeenOnce) {
  Clock clock;
  const Instant start = clock.Now();
  Thread other([&] { clock.Advance(kTick); });
  const Instant first = clock.Now();
  const Instant second = clock.Now();
  Require(first == start || first == start + kTick);
  Require(second == start + kTick || second == first);
  other.Join();
  Require(clock.Now() == start + kTick);
}

MODEL_TEST(Clock, AnAdvanceSeenByOneThreadIsSeenByAll,
           .mode = model::Mode::kBounded) {
  Clock clock;
  const Instant start = clock.Now();
  Thread advancing([&] { clock.Advance(kTick); });
  Atomic<int64_t> seen(0);
  Thread other([&] {
    seen.store(clock.Now().nanoseconds(), std::memory_order_release);
  });
  const int64_t before = seen.load(std::memory_order_acquire);
  const Instant now = clock.Now();
  Require(now.nanoseconds() >= before);
  Require(now == start || now == start + kTick);
}

MODEL_TEST(Clock, NeverGoesBackwardsWhileItIsChanged) {
  Clock clock;
  const Instant start = clock.Now();
  Thread changing([&] {
    clock.Pause();
    clock.Advance(kTick);
  });
  const Instant first = clock.Now();
  const Instant second = clock.Now();
  Require(start <= first);
  Require(first <= second);
  Require(second <= start + kTick);
}

// If the clock advances, the check for events sees what a holder did before the
// hold ended.
MODEL_TEST(Clock, DoesNotAutoAdvancePastAnEventOfAHolder) {
  Clock clock;
  clock.Pause();
  clock.SetAutoAdvance(true);
  const Instant start = clock.Now();
  // Like an event of the operating system, which any check finds.
  Atomic<bool> event(false);
  auto hold = std::make_unique<Clock::AutoAdvanceHold>(clock);
  Thread holder([&] {
    event.store(true, std::memory_order_relaxed);
    hold.reset();
  });
  const uint64_t look = clock.BeginCheck();
  const bool seen = event.load(std::memory_order_relaxed);
  clock.EndCheck(look);
  (void)clock.AutoAdvanceTo(start + kTick);
  Require(seen || clock.Now() == start);
  holder.Join();
  // No hold is left, and this check sees what the holder did.
  clock.EndCheck(clock.BeginCheck());
  (void)clock.AutoAdvanceTo(start + kTick);
  Require(clock.Now() == start + kTick);
}

MODEL_MUTANTS(Clock, "timer/clock",
              "modify acquire -> relaxed: it orders the reading of the "
              "system's clock, which is no step of a model",
              "torn: the version is written under the lock alone");

}  // namespace
}  // namespace rouse
