// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: flow.h
// -----------------------------------------------------------------------------
//
// The handler of an arm decides how a `SelectLoop` goes on:
//
//   [&](absl::StatusOr<size_t> size) -> rouse::Flow<absl::Status> {
//     if (!size.ok()) return rouse::Break(size.status());
//     if (*size == 0) return rouse::EndArm();
//     Handle(*size);
//     return rouse::Continue();
//   }

#ifndef ROUSE_FUTURE_COMBINE_FLOW_H_
#define ROUSE_FUTURE_COMBINE_FLOW_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace rouse {

namespace internal {

// The next step of a loop after a handler.
enum class FlowKind : uint8_t { kContinue, kEndArm, kBreak };

// Reads a `Flow`, for the loop.
struct FlowAccess {
  template <class F>
  static FlowKind Kind(const F& flow) {
    return flow.kind();
  }
  template <class F>
  static auto&& Value(F& flow) {
    return *std::move(flow.value_);
  }
};

}  // namespace internal

// ContinueFlow
//
// The result of `Continue()`. Converts to a `Flow`, and can be the result of a
// handler that always goes on in this way, as can the following two.
class ContinueFlow {
 public:
  constexpr ContinueFlow() = default;
};

// EndArmFlow
//
// The result of `EndArm()`.
class EndArmFlow {
 public:
  constexpr EndArmFlow() = default;
};

// BreakFlow
//
// The result of `Break()`, with the output of the loop.
template <class T>
class BreakFlow {
 public:
  explicit BreakFlow(T value) : value_(std::move(value)) {}

  // Returns the output, for moving it out.
  T&& value() && { return std::move(value_); }

 private:
  T value_;
};
template <>
class BreakFlow<void> {
 public:
  constexpr BreakFlow() = default;
};

// Continue()
//
// Returns the flow that goes on with the next round of the loop.
inline ContinueFlow Continue() { return {}; }

// EndArm()
//
// Returns the flow that disables the handler's arm permanently, and goes on
// with the next round.
inline EndArmFlow EndArm() { return {}; }

// Break()
//
// Returns the flow that ends the loop, whose output is `value` or void.
inline BreakFlow<void> Break() { return {}; }
template <class T>
BreakFlow<std::decay_t<T>> Break(T&& value) {
  return BreakFlow<std::decay_t<T>>(std::forward<T>(value));
}

// Flow
//
// The result of a handler that decides at run time. `R` is the output of the
// loop: an object or void.
template <class R = void>
class [[nodiscard]] Flow {
  static_assert(std::is_object_v<R>,
                "the output of a SelectLoop is an object or void: return a "
                "pointer instead of a reference");

 public:
  // NOLINTBEGIN(google-explicit-constructor)
  Flow(ContinueFlow) : kind_(internal::FlowKind::kContinue) {}
  Flow(EndArmFlow) : kind_(internal::FlowKind::kEndArm) {}
  template <class U>
    requires std::convertible_to<U, R>
  Flow(BreakFlow<U>&& flow)
      : kind_(internal::FlowKind::kBreak),
        value_(std::in_place, std::move(flow).value()) {}
  // NOLINTEND(google-explicit-constructor)

 private:
  friend struct internal::FlowAccess;

  internal::FlowKind kind() const { return kind_; }

  internal::FlowKind kind_;
  std::optional<R> value_;
};
template <>
class [[nodiscard]] Flow<void> {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  Flow(ContinueFlow) : kind_(internal::FlowKind::kContinue) {}
  Flow(EndArmFlow) : kind_(internal::FlowKind::kEndArm) {}
  Flow(BreakFlow<void>) : kind_(internal::FlowKind::kBreak) {}
  // NOLINTEND(google-explicit-constructor)

 private:
  friend struct internal::FlowAccess;

  internal::FlowKind kind() const { return kind_; }

  internal::FlowKind kind_;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_COMBINE_FLOW_H_
