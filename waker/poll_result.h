// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_result.h
// -----------------------------------------------------------------------------
//
// `PollResult<T>` is the result of polling a future: the output of the future,
// or the information that there is no output yet.
//
//   rouse::PollResult<int> Poll(rouse::Context& cx) {
//     if (arrived_) return value_;
//     waker_.Register(cx.waker());
//     return rouse::kPending;
//   }
//
// A future that returns `kPending` has arranged for the waker to be called.

#ifndef ROUSE_WAKER_POLL_RESULT_H_
#define ROUSE_WAKER_POLL_RESULT_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"

namespace rouse {

// Type of `kPending`.
class PendingTag {
 public:
  explicit constexpr PendingTag(int) {}
};

// Result of a future that is not ready. Converts to every `PollResult`.
inline constexpr PendingTag kPending{0};

namespace internal {
// Names the type in which `Transform()` keeps a function's result. An lvalue
// reference stays a reference. An rvalue reference becomes a value, because the
// reference may be to the value that is about to be destroyed.
template <class Map, class... Args>
using TransformResult = std::conditional_t<
    std::is_rvalue_reference_v<std::invoke_result_t<Map, Args...>>,
    std::remove_cvref_t<std::invoke_result_t<Map, Args...>>,
    std::invoke_result_t<Map, Args...>>;
}  // namespace internal

// PollResult
//
// Holds either a `T`, if ready, or nothing, if pending. `T` may be a reference
// or void. Reading the value of a pending result is undefined behavior, and is
// asserted in debug builds.
template <class T>
class [[nodiscard]] PollResult {
 public:
  using value_type = T;

  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr PollResult(PendingTag) {}

  template <class U = T>
  // `convertible_to` must come last, because it may ask whether this
  // `PollResult` converts, as it does for `std::any`.
    requires(!std::same_as<std::remove_cvref_t<U>, PollResult> &&
             !std::same_as<std::remove_cvref_t<U>, PendingTag> &&
             std::convertible_to<U &&, T>)
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  constexpr PollResult(U&& value)
      // The value is made in place because a `std::nullopt` is the value of a
      // `PollResult` of an optional, and not the absence of a value.
      : value_(std::in_place, std::forward<U>(value)) {}

  // Makes a ready result whose value is constructed in place.
  template <class... Args>
  constexpr explicit PollResult(std::in_place_t, Args&&... args)
      : value_(std::in_place, std::forward<Args>(args)...) {}

  // Makes the result ready with a value that is constructed in place. Replaces
  // the present value, if any.
  template <class... Args>
  constexpr T& emplace(Args&&... args) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return value_.emplace(std::forward<Args>(args)...);
  }

  // Returns whether the poll returned a value, or whether the future is still
  // pending.
  constexpr bool IsReady() const { return value_.has_value(); }
  constexpr bool IsPending() const { return !value_.has_value(); }

  // Returns the value.
  // REQUIRES: `IsReady()`.
  constexpr T& value() & ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(IsReady());
    return *value_;
  }
  constexpr const T& value() const& ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(IsReady());
    return *value_;
  }
  constexpr T&& value() && ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(IsReady());
    return *std::move(value_);
  }

  constexpr T& operator*() & ABSL_ATTRIBUTE_LIFETIME_BOUND { return value(); }
  constexpr const T& operator*() const& ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return value();
  }
  constexpr T&& operator*() && ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::move(*this).value();
  }
  constexpr T* operator->() ABSL_ATTRIBUTE_LIFETIME_BOUND { return &value(); }
  constexpr const T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return &value();
  }

  // Returns the result of `map(value)`, or `kPending` if this result is
  // pending.
  template <class Map>
  constexpr PollResult<internal::TransformResult<Map, T>> Transform(
      Map&& map) && {
    if (IsPending()) return kPending;
    if constexpr (std::is_void_v<std::invoke_result_t<Map, T>>) {
      std::invoke(std::forward<Map>(map), *std::move(value_));
      return {};
    } else {
      return std::invoke(std::forward<Map>(map), *std::move(value_));
    }
  }

 private:
  std::optional<T> value_;
};

// A default-constructed `PollResult<void>` is ready, as `return {};` suggests.
template <>
class [[nodiscard]] PollResult<void> {
 public:
  using value_type = void;

  constexpr PollResult() : ready_(true) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr PollResult(PendingTag) : ready_(false) {}

  constexpr bool IsReady() const { return ready_; }
  constexpr bool IsPending() const { return !ready_; }

  constexpr void value() const { ABSL_ASSERT(IsReady()); }
  constexpr void operator*() const { value(); }

  template <class Map>
  constexpr PollResult<internal::TransformResult<Map>> Transform(Map&& map) && {
    if (IsPending()) return kPending;
    if constexpr (std::is_void_v<std::invoke_result_t<Map>>) {
      std::invoke(std::forward<Map>(map));
      return {};
    } else {
      return std::invoke(std::forward<Map>(map));
    }
  }

 private:
  bool ready_;
};

// A `PollResult<T&>` refers to its value and does not own it.
template <class T>
class [[nodiscard]] PollResult<T&> {
 public:
  using value_type = T&;

  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr PollResult(PendingTag) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr PollResult(T& value ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : value_(std::addressof(value)) {}
  // A `const T&` would otherwise bind to a temporary.
  PollResult(T&&) = delete;

  constexpr bool IsReady() const { return value_ != nullptr; }
  constexpr bool IsPending() const { return value_ == nullptr; }

  constexpr T& value() const {
    ABSL_ASSERT(IsReady());
    return *value_;
  }
  constexpr T& operator*() const { return value(); }
  constexpr T* operator->() const { return &value(); }

  template <class Map>
  constexpr PollResult<internal::TransformResult<Map, T&>> Transform(
      Map&& map) && {
    if (IsPending()) return kPending;
    if constexpr (std::is_void_v<std::invoke_result_t<Map, T&>>) {
      std::invoke(std::forward<Map>(map), *value_);
      return {};
    } else {
      return std::invoke(std::forward<Map>(map), *value_);
    }
  }

 private:
  T* value_ = nullptr;
};

}  // namespace rouse

#endif  // ROUSE_WAKER_POLL_RESULT_H_
