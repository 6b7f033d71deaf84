// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: interval.h
// -----------------------------------------------------------------------------
//
// An `Interval` ticks again and again, a period apart:
//
//   Interval interval(absl::Seconds(1));
//   while ((co_await interval.Tick()).ok()) Sample();
//
// It is a stream of its ticks as well:
//
//   while (std::optional<Instant> tick = co_await Next(interval)) Sample();
//
// The first tick is at once, unless `IntervalOptions::start` says otherwise.
//
// A loop around a `Sleep` instead waits a period after each round, however long
// the round took.

#ifndef ROUSE_TIMER_INTERVAL_H_
#define ROUSE_TIMER_INTERVAL_H_

#include <cstdint>
#include <optional>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// MissedTicks
//
// What an interval does about the ticks that nobody came for. With a period of
// 100 ms and a task that is busy from 150 ms to 330 ms, ticks are taken at
//
//   planned    0   100   200   300   400   500
//   kBurst     0   100             330 330   400   500
//   kDelay     0   100             330         430         530
//   kSkip      0   100             330       400   500
//
// kBurst: all of them, one after the other without delay, until it has caught
// up. Their number is right in the long run.
//
// kDelay: one, and the next a period after that is taken. A tick that is taken
// no more than five ticks of the driver late (5 ms by default), nor more than
// half a period, is not missed, so that an interval does not drift by what
// waking up takes; but for that much, no two are less than a period apart.
//
// kSkip: one, and then goes on with those that lie ahead. Ticks stay at whole
// periods from the first.
enum class MissedTicks : uint8_t { kBurst, kDelay, kSkip };

// IntervalOptions
struct IntervalOptions {
  // When the first tick is. Nothing: at once when it is first polled.
  std::optional<Instant> start = std::nullopt;

  MissedTicks missed_ticks = MissedTicks::kBurst;

  // The driver to wait with. Nothing: the current one of the thread that polls
  // first, which the interval then keeps.
  std::optional<wheel::Handle> handle = std::nullopt;
};

class IntervalTick;

// Interval
//
// A stream of ticks. Each is the instant for which it was planned, on the
// clock of the driver; none is taken before, and each can be taken from the
// first tick of the driver at or after it (see Sleep for how late that may be).
// What lies beyond the end of the clock never comes.
//
// Nothing is armed between a tick and the next poll, so that an interval that
// is not polled wakes nobody; and one that lags behind allocates nothing.
//
// When the driver has gone, ticks that were overdue before they were waited for
// still come; then `Tick()` gives `kUnavailable`, for good, and the stream
// ends. Polling for the first time on a thread without a current driver, and
// without one in the options, is a `Panic()`.
//
// May be moved until a poll finds no tick, and again when that tick has been
// taken; in between, also if nobody waits any more, moving it is a `Panic()`.
// Destroying it cancels. Polling, resetting and cancelling are O(1). It is for
// one thread at a time.
//
// A tick takes a unit of the task's budget.
class Interval : private wheel::internal::Registration {
 public:
  // A `period` of less than a nanosecond is a `Panic()`.
  explicit Interval(AnyDuration period, const IntervalOptions& options = {});

  // The same for a period that may be wrong, as one out of a configuration:
  // `kInvalidArgument` if it is less than a nanosecond.
  static absl::StatusOr<Interval> Create(AnyDuration period,
                                         const IntervalOptions& options = {});

  // NOLINTNEXTLINE(performance-noexcept-move-constructor)
  Interval(Interval&&) = default;
  Interval& operator=(Interval&&) = delete;

  // A future of the next tick, an `absl::StatusOr<Instant>`. Destroying it
  // before it is ready takes no tick; the task may then still be woken for it
  // once.
  IntervalTick Tick() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // For who writes a future around it.
  PollResult<absl::StatusOr<Instant>> PollTick(Context& cx);

  PollResult<std::optional<Instant>> PollNext(Context& cx);

  // Lets the next tick be a period from now or, before the first poll, from
  // then. A task that waits goes on waiting.
  void Reset() { Reset(period()); }
  // Lets the next tick be `delay` from now; zero or less is at once. The tick
  // after that is a period later.
  void Reset(AnyDuration delay);
  // Lets the next tick be at `next`. If that has passed, the ticks between then
  // and now were missed (see `MissedTicks`).
  void ResetAt(Instant next);

  absl::Duration period() const { return absl::Nanoseconds(period_); }

  MissedTicks missed_ticks() const { return missed_ticks_; }
  // From the next tick on.
  void set_missed_ticks(MissedTicks m) { missed_ticks_ = m; }

  // For when the next tick is planned; nothing before the first poll (unless it
  // was given an instant).
  std::optional<Instant> Deadline() const;

 private:
  using Registration = wheel::internal::Registration;

  static Registration First(const IntervalOptions& options);

  Instant After(Instant tick) const;

  // The deadline is the next tick.
  MissedTicks missed_ticks_;
  int64_t period_;  // nanoseconds
};

// IntervalTick
//
// See `Interval::Tick()`. May be moved at any time. Polling it again after it
// is ready takes the next tick.
class [[nodiscard("a tick is not taken until it is awaited")]] IntervalTick {
 public:
  explicit IntervalTick(Interval& interval) : interval_(&interval) {}

  PollResult<absl::StatusOr<Instant>> Poll(Context& cx) {
    return interval_->PollTick(cx);
  }

 private:
  Interval* interval_;
};

inline IntervalTick Interval::Tick() { return IntervalTick(*this); }

}  // namespace rouse

#endif  // ROUSE_TIMER_INTERVAL_H_
