// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ready.h
// -----------------------------------------------------------------------------
//
// Defines the two simplest futures: `Ready()` is always ready, and `Pending()`
// never is.
//
//   co_await rouse::Ready();
//   int five = co_await rouse::Ready(5);
//   co_await rouse::Select(Work(), rouse::Pending());
//
// `Ready()` also reads well at the end of a `Poll()`:
//
//   PollResult<int> Poll(Context& cx) {
//     if (!done_) return kPending;
//     return Ready(value_);
//   }

#ifndef ROUSE_FUTURE_READY_H_
#define ROUSE_FUTURE_READY_H_

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/panic.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReadyFuture
//
// See `Ready()`. Converts to a `PollResult` of its value.
template <class T>
class [[nodiscard]] ReadyFuture {
 public:
  template <class U>
    requires std::constructible_from<T, U&&>
  explicit ReadyFuture(std::in_place_t, U&& value)
      : value_(std::in_place, std::forward<U>(value)) {}

  PollResult<T> Poll(Context&) { return Take(); }

  template <class U>
    requires std::convertible_to<T, U>
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator PollResult<U>() && {
    return PollResult<U>(std::in_place, Take());
  }

 private:
  T Take() {
    if (!value_.has_value()) {
      Panic("Ready was polled after it completed; create a new Ready");
    }
    T value = *std::move(value_);
    value_.reset();
    return value;
  }

  std::optional<T> value_;
};

template <>
class [[nodiscard]] ReadyFuture<void> {
 public:
  ReadyFuture() = default;

  PollResult<void> Poll(Context&) {
    if (std::exchange(finished_, true)) {
      Panic("Ready was polled after it completed; create a new Ready");
    }
    return {};
  }

  // NOLINTNEXTLINE(google-explicit-constructor)
  operator PollResult<void>() && { return {}; }

 private:
  bool finished_ = false;
};

// Ready()
//
// Returns a future that is ready at once, with no value or with a copy of
// `value`. The future takes nothing from the cooperative budget.
inline ReadyFuture<void> Ready() { return {}; }

template <class T>
ReadyFuture<std::decay_t<T>> Ready(T&& value) {
  return ReadyFuture<std::decay_t<T>>(std::in_place, std::forward<T>(value));
}

// PendingFuture
//
// See `Pending()`.
template <class T>
class [[nodiscard]] PendingFuture {
 public:
  PendingFuture() = default;

  PollResult<T> Poll(Context&) { return kPending; }
};

// Pending()
//
// Returns a future that is never ready, and never wakes a task.
template <class T = void>
PendingFuture<T> Pending() {
  return {};
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_READY_H_
