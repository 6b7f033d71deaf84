// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: instant.h
// -----------------------------------------------------------------------------
//
// An `Instant` is a point in the time of one `Clock` (clock.h): a deadline, or
// when something happened.
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
// Whole nanoseconds since an origin that is the clock's own and means nothing
// outside of it: instants of different clocks do not compare. Eight bytes, of
// which copies are free.
//
// No arithmetic overflows. `Max()` is the far future: later than every other
// instant, and still so after any duration is added to it or taken from it. As
// a deadline it is never, also on a clock that was moved there.
// A sum that would lie beyond it (292 years and more after the origin), or that
// has an infinite part, is `Max()` itself. What would lie before the earliest
// instant, or is infinitely far back, is the earliest.
//
// Parts of a nanosecond in a duration are dropped.
class Instant {
 public:
  // The clock's origin.
  constexpr Instant() = default;

  static constexpr Instant Max() {
    return Instant(std::numeric_limits<int64_t>::max());
  }

  static constexpr Instant FromNanoseconds(int64_t nanoseconds) {
    return Instant(nanoseconds);
  }
  constexpr int64_t nanoseconds() const { return nanoseconds_; }

  // The instant that many nanoseconds after this one, or before it.
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
    // The infinite ones are those numbers, too.
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

  // Infinite where one of the two is `Max()`, and zero where both are.
  friend absl::Duration operator-(Instant a, Instant b) {
    if (a == b) return absl::ZeroDuration();
    if (a == Max()) return absl::InfiniteDuration();
    if (b == Max()) return -absl::InfiniteDuration();
    return absl::Nanoseconds(a.nanoseconds_) -
           absl::Nanoseconds(b.nanoseconds_);
  }

  friend constexpr bool operator==(Instant, Instant) = default;
  friend constexpr auto operator<=>(Instant, Instant) = default;

  // For logs: the time since the origin.
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

  // Does nothing if `d` is finite.
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
