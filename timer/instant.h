// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: instant.h
// -----------------------------------------------------------------------------
//
// An `Instant` is a point in the time of one `Clock` (clock.h), such as a
// deadline or the time of an event.
//
//   const Instant start = clock.Now();
//   const Instant deadline = start + absl::Seconds(5);
//   ...
//   const absl::Duration left = deadline - clock.Now();

#ifndef ROUSE_TIMER_INSTANT_H_
#define ROUSE_TIMER_INSTANT_H_

#include <compare>
#include <cstdint>
#include <limits>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"

namespace rouse {

// Instant
//
// A number of whole nanoseconds since an origin. The origin belongs to the
// clock, and means nothing outside of the clock: instants of different clocks
// cannot be compared. An instant takes eight bytes, and copies are free.
//
// No arithmetic overflows. `Max()` is the far future: later than every other
// instant, even after any duration is added to `Max()` or subtracted from it. A
// deadline of `Max()` never comes, even on a clock that was moved there. A sum
// beyond `Max()` (292 years or more after the origin), or with an infinite
// part, is `Max()`. A result before the earliest instant, or infinitely far
// back, is the earliest instant.
//
// Fractions of a nanosecond in a duration are dropped.
class Instant {
 public:
  // Makes the clock's origin.
  constexpr Instant() = default;

  // Returns the latest instant, which never comes.
  static constexpr Instant Max() {
    return Instant(std::numeric_limits<int64_t>::max());
  }

  // Converts from and to the number of nanoseconds since the clock's origin.
  static constexpr Instant FromNanoseconds(int64_t nanoseconds) {
    return Instant(nanoseconds);
  }
  constexpr int64_t nanoseconds() const { return nanoseconds_; }

  // Returns the instant `nanoseconds` after this instant, or before if
  // `nanoseconds` is negative.
  constexpr Instant PlusNanoseconds(int64_t nanoseconds) const {
    if (*this == Max()) return *this;
    int64_t sum;
    if (__builtin_add_overflow(nanoseconds_, nanoseconds, &sum)) {
      sum = nanoseconds > 0 ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
    }
    return Instant(sum);
  }

  Instant& operator+=(AnyDuration d) {
    const int64_t nanoseconds = absl::ToInt64Nanoseconds(d);
    *this = PlusNanoseconds(nanoseconds);
    // Infinite durations convert to the same two numbers.
    if (nanoseconds == std::numeric_limits<int64_t>::max() ||
        nanoseconds == std::numeric_limits<int64_t>::min()) [[unlikely]] {
      AddInfinite(d);
    }
    return *this;
  }
  Instant& operator-=(AnyDuration d) { return *this += -absl::Duration(d); }

  friend Instant operator+(Instant t, AnyDuration d) { return t += d; }
  friend Instant operator+(AnyDuration d, Instant t) { return t += d; }
  friend Instant operator-(Instant t, AnyDuration d) { return t -= d; }

  // Returns an infinite duration if `a` or `b` is `Max()`, and zero if both
  // are.
  friend absl::Duration operator-(Instant a, Instant b) {
    if (a == b) return absl::ZeroDuration();
    if (a == Max()) return absl::InfiniteDuration();
    if (b == Max()) return -absl::InfiniteDuration();
    return absl::Nanoseconds(a.nanoseconds_) -
           absl::Nanoseconds(b.nanoseconds_);
  }

  friend constexpr bool operator==(Instant, Instant) = default;
  friend constexpr auto operator<=>(Instant, Instant) = default;

  // Formats the time since the origin, for logs.
  template <class Sink>
  friend void AbslStringify(Sink& sink, Instant t) {
    if (t == Max()) {
      sink.Append("never");
    } else {
      absl::Format(&sink, "%s", absl::FormatDuration(t - Instant()));
    }
  }

 private:
  explicit constexpr Instant(int64_t nanoseconds) : nanoseconds_(nanoseconds) {}

  // Adds `d` if `d` is infinite, and otherwise does nothing.
  void AddInfinite(absl::Duration d) {
    if (d == absl::InfiniteDuration()) *this = Max();
    if (d == -absl::InfiniteDuration() && *this != Max()) {
      nanoseconds_ = std::numeric_limits<int64_t>::min();
    }
  }

  int64_t nanoseconds_ = 0;
};

}  // namespace rouse

#endif  // ROUSE_TIMER_INSTANT_H_
