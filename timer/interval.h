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
// An interval is also a stream of its ticks:
//
//   while (std::optional<Instant> tick = co_await Next(interval)) Sample();
//
// The first tick comes at once, unless `IntervalOptions::start` says otherwise.
//
// A loop around a `Sleep`, by contrast, waits for a period after each round,
// however long the round took.

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
// How an interval treats ticks that were not taken in time. With a period of
// 100 ms and a task busy from 150 ms to 330 ms, ticks are taken at
//
//   planned    0   100   200   300   400   500
//   kBurst     0   100             330 330   400   500
//   kDelay     0   100             330         430         530
//   kSkip      0   100             330       400   500
//
// `kBurst` gives all missed ticks, one after another without delay, until the
// interval has caught up. The number of ticks is right in the long run.
//
// `kDelay` gives one tick, and the next a period after that tick is taken. A
// tick counts as missed only if it is taken more than five ticks of the driver
// late (5 ms by default), or more than half a period late. An interval
// therefore does not drift by the time of waking up. Except for this tolerance,
// no two ticks are less than a period apart.
//
// `kSkip` gives one tick, and continues with the ticks that lie ahead. Ticks
// stay at whole periods from the first tick.
enum class MissedTicks : uint8_t { kBurst, kDelay, kSkip };

// Formats a choice as "burst", "delay" or "skip".
template <class Sink>
void AbslStringify(Sink& sink, MissedTicks missed) {
  sink.Append(missed == MissedTicks::kBurst   ? "burst"
              : missed == MissedTicks::kDelay ? "delay"
                                              : "skip");
}

// IntervalOptions
//
// The options of an interval.
struct IntervalOptions {
  // Instant of the first tick. If absent, the first tick comes at once when the
  // interval is first polled.
  std::optional<Instant> start = std::nullopt;

  MissedTicks missed_ticks = MissedTicks::kBurst;

  // Driver to wait with. If absent, the interval uses, and then keeps, the
  // current driver of the thread that polls first.
  std::optional<wheel::Handle> handle = std::nullopt;
};

class IntervalTick;

// Interval
//
// A stream of ticks. The value of a tick is its planned instant, on the clock
// of the driver. No tick is taken before the planned instant, and each can be
// taken from the first tick of the driver at or after the planned instant (see
// Sleep for how late that can be). A tick beyond the end of the clock never
// comes.
//
// No timer is armed between a tick and the next poll, so an interval that is
// not polled wakes no task. An interval that lags behind allocates nothing.
//
// After the driver has shut down, ticks that were overdue before a task waited
// for them still come. Then `Tick()` gives `kUnavailable`, permanently, and the
// stream ends. Polling for the first time on a thread without a current driver,
// and without a driver in the options, is a `Panic()`.
//
// An interval can be moved until a poll finds no tick, and again when the tick
// has been taken. Moving an interval in between is a `Panic()`, even if no task
// waits any more. Destroying the interval cancels it. Polling, resetting and
// cancelling are O(1). An interval is for a single thread at a time.
//
// A tick takes a unit of the task's budget.
class Interval : private wheel::internal::Registration {
 public:
  // Makes an interval. A `period` of less than a nanosecond is a `Panic()`.
  explicit Interval(AnyDuration period, const IntervalOptions& options = {});

  // Like the constructor, but for a period that may be invalid, such as one
  // from a configuration. Returns `kInvalidArgument` if the period is less than
  // a nanosecond.
  static absl::StatusOr<Interval> Create(AnyDuration period,
                                         const IntervalOptions& options = {});

  // NOLINTNEXTLINE(performance-noexcept-move-constructor)
  Interval(Interval&&) = default;
  Interval& operator=(Interval&&) = delete;

  // Returns a future of the next tick, an `absl::StatusOr<Instant>`. If the
  // future is destroyed before it is ready, no tick is taken; the task may
  // still be woken once for the tick.
  IntervalTick Tick() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Polls for the next tick, as the future of `Tick()` does. For authors of
  // futures that contain an interval.
  PollResult<absl::StatusOr<Instant>> PollTick(Context& cx);

  PollResult<std::optional<Instant>> PollNext(Context& cx);

  // Makes the next tick come a period from now or, before the first poll, a
  // period from that poll. A task that waits continues to wait.
  void Reset() { Reset(period()); }
  // Makes the next tick come `delay` from now or, before the first poll,
  // `delay` from that poll; zero or less is at once. The tick after that is a
  // period later.
  void Reset(AnyDuration delay);
  // Makes the next tick come at `next`. If `next` has passed, the ticks between
  // `next` and now were missed (see `MissedTicks`).
  void ResetAt(Instant next);

  // Returns the time between two ticks.
  absl::Duration period() const { return absl::Nanoseconds(period_); }

  // Returns what is done about missed ticks.
  MissedTicks missed_ticks() const { return missed_ticks_; }
  // Sets what to do about missed ticks, from the next tick on.
  void set_missed_ticks(MissedTicks m) { missed_ticks_ = m; }

  // Returns the instant for which the next tick is planned. Returns nothing
  // before the first poll, unless the interval was given an instant.
  std::optional<Instant> Deadline() const;

 private:
  using Registration = wheel::internal::Registration;

  static Registration First(const IntervalOptions& options);

  Instant After(Instant tick) const;

  // The base class's deadline is the next tick.
  MissedTicks missed_ticks_;
  int64_t period_;  // nanoseconds
};

// IntervalTick
//
// The future that `Interval::Tick()` returns. Can be moved at any time. Polling
// the future again after it is ready takes the next tick.
class [[nodiscard(
    "the tick is not taken until the future is awaited")]] IntervalTick {
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
