// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: any_duration.h
// -----------------------------------------------------------------------------
//
// `AnyDuration` is the type of a parameter that is a length of time. The
// parameter accepts an `absl::Duration` and any kind of
// `std::chrono::duration`:
//
//   co_await Sleep(absl::Milliseconds(5));
//   co_await Sleep(std::chrono::milliseconds(5));
//   co_await Sleep(5ms);
//
// A number has no unit. Passing a number is a compile error, whose message says
// so at the call.

#ifndef ROUSE_BASE_ANY_DURATION_H_
#define ROUSE_BASE_ANY_DURATION_H_

#include "rouse/base/cxx20.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/time/time.h"

namespace rouse {

// AnyDuration
//
// Wraps an `absl::Duration`. Converts to an `absl::Duration`, and is made from
// any duration. Copies are free.
class AnyDuration {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr AnyDuration(absl::Duration duration) : duration_(duration) {}

  // A value outside the range of `absl::Duration` becomes infinite. Precision
  // finer than a quarter of a nanosecond is dropped.
  template <class Rep, class Period>
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr AnyDuration(const std::chrono::duration<Rep, Period>& duration)
      : duration_(FromChrono(duration)) {}

  // Rejects numbers: this constructor never compiles.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr AnyDuration(Number) {
    static_assert(!std::is_arithmetic_v<Number>,
                  "a number has no unit of time: pass a duration, such as "
                  "absl::Seconds(5) or std::chrono::seconds(5)");
  }

  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator absl::Duration() const { return duration_; }

 private:
  template <class Rep, class Period>
  static constexpr absl::Duration FromChrono(
      const std::chrono::duration<Rep, Period>& duration) {
    // Abseil has an exact conversion for nanoseconds to hours.
    if constexpr (requires { absl::FromChrono(duration); }) {
      return absl::FromChrono(duration);
    } else if constexpr (std::is_floating_point_v<Rep>) {
      return absl::Seconds(std::chrono::duration<double>(duration).count());
    } else {
      if constexpr (std::is_unsigned_v<Rep>) {
        if (duration.count() > std::numeric_limits<int64_t>::max()) {
          return absl::InfiniteDuration();
        }
      }
      return duration.count() * absl::Seconds(Period::num) / Period::den;
    }
  }

  absl::Duration duration_;
};

}  // namespace rouse

#endif  // ROUSE_BASE_ANY_DURATION_H_
