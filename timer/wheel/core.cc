// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/core.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/time/time.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_local.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/shard.h"
#include "rouse/timer/wheel/ticks.h"
#include "rouse/timer/wheel/wheel.h"

namespace rouse::wheel::internal {
namespace {

constexpr uint64_t kNever = Wheel::kNever;

constexpr int64_t kFinestResolution = 64'000;  // nanoseconds
static_assert(kFinestResolution >= Ticks::kFinest);
constexpr int64_t kCoarsestResolution = 1'000'000'000;

using CurrentShardSlot = ThreadLocal<Shard*, struct CurrentShardTag>;

}  // namespace

Core* Core::New(std::shared_ptr<Clock> clock, absl::Duration resolution,
                size_t shards, Unpark unpark) {
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(resolution);
  if (nanoseconds < kFinestResolution || nanoseconds > kCoarsestResolution) {
    Panic(
        "wheel::Driver: the resolution is out of range; choose a resolution "
        "from 64us to 1s");
  }
  if (shards == 0) {
    Panic("wheel::Driver: the number of shards is 0; choose at least 1");
  }
  return new Core(std::move(clock), Ticks(nanoseconds), shards,
                  std::move(unpark));
}

Core::Core(std::shared_ptr<Clock> clock, const Ticks& ticks, size_t shards,
           Unpark unpark)
    : clock_(std::move(clock)), ticks_(ticks), unpark_(std::move(unpark)) {
  const uint64_t now = ticks_.At(clock_->Now());
  shards_.reserve(shards);
  for (size_t i = 0; i < shards; ++i) {
    shards_.push_back(std::make_unique<Shard>(*this, ticks_, now));
  }
}

Shard& Core::NextShard() {
  if (shards_.size() == 1) return shard(0);
  // Relaxed: any shard will do.
  const size_t next = next_shard_.fetch_add(1, std::memory_order_relaxed);
  return shard(next % shards_.size());
}

absl::Duration Core::BeginPark(absl::Duration limit) {
  if (limit <= absl::ZeroDuration()) return absl::ZeroDuration();
  next_wake_.BeginDeciding();
  const uint64_t next = NextTurn();
  if (next == kNever && limit == absl::InfiniteDuration() &&
      !clock_->AdvancesByItself()) {
    // No deadline and no limit: the time is not needed, and reading it would
    // take longer than everything else.
    return next_wake_.Decide(kNever) ? limit : absl::ZeroDuration();
  }
  // If the clock is changed meanwhile, the clock unparks the driver.
  const bool paused = clock_->IsPaused();
  const Instant now = clock_->Now();
  if (next <= ticks_.At(now)) {
    next_wake_.Clear();
    return absl::ZeroDuration();
  }
  if (clock_->AdvancesByItself()) {
    Instant target = now + limit;
    if (next != kNever) target = std::min(target, ticks_.StartOf(next));
    const bool must_look = !clock_->AutoAdvanceTo(target);
    if (must_look || clock_->Now() != now) {
      next_wake_.Clear();
      return absl::ZeroDuration();
    }
  }
  if (!next_wake_.Decide(std::min(next, ticks_.AtOrAfter(now + limit)))) {
    return absl::ZeroDuration();
  }
  if (paused || next == kNever) return limit;
  return std::min(limit, ticks_.StartOf(next) - now);
}

void Core::EndPark() {
  next_wake_.Clear();
  const uint64_t now = ticks_.At(clock_->Now());
  Shard::Batch batch(*this);
  // A clock that is moved passes many ticks at once. The due waiters are then
  // woken in the order of their ticks, and not shard by shard.
  if (shards_.size() > 1 && clock_->IsPaused()) {
    for (uint64_t next = NextExpiration(); next < now;
         next = NextExpiration()) {
      for (const std::unique_ptr<Shard>& shard : shards_) {
        shard->Fire(next, batch);
      }
    }
  }
  for (const std::unique_ptr<Shard>& shard : shards_) shard->Fire(now, batch);
  if (batch.has_elapsed()) clock_->OnElapsed();
  batch.Wake();
}

uint64_t Core::NextExpiration() {
  uint64_t next = kNever;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    next = std::min(next, shard->NextExpiration().value_or(kNever));
  }
  return next;
}

uint64_t Core::NextTurn() {
  uint64_t next = kNever;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    next = std::min(next, shard->NextTurn().value_or(kNever));
  }
  return next;
}

void Core::Shutdown() {
  // A waker that throws does not keep the other sleepers asleep: no later call
  // would wake them.
  std::exception_ptr first;
  Shard::Batch batch(*this);
  for (const std::unique_ptr<Shard>& shard : shards_) {
    while (shard->ShutDownSome(batch)) {
      ROUSE_TRY { batch.Wake(); }
      ROUSE_CATCH_ALL {
        if (first == nullptr) first = std::current_exception();
      }
    }
  }
  if (first != nullptr) std::rethrow_exception(std::move(first));
}

ABSL_ATTRIBUTE_NOINLINE Shard* CurrentShard() {
  return CurrentShardSlot::Get();
}

ABSL_ATTRIBUTE_NOINLINE Shard* ExchangeCurrentShard(Shard* shard) {
  return std::exchange(CurrentShardSlot::Get(), shard);
}

}  // namespace rouse::wheel::internal
