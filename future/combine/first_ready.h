// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: first_ready.h
// -----------------------------------------------------------------------------
//
// Implements the common part of `Select` and `Race`. Internal to this folder.

#ifndef ROUSE_FUTURE_COMBINE_FIRST_READY_H_
#define ROUSE_FUTURE_COMBINE_FIRST_READY_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// FirstReady
//
// Holds futures, called arms. The first ready arm wins.
// `Result::template From<I>()` makes the result, a
// `PollResult<typename Result::Output>`, from the poll result of arm `I`.
template <class Result, class... Fs>
class FirstReady {
  static constexpr size_t kSize = sizeof...(Fs);

 public:
  using Output = typename Result::Output;

  explicit FirstReady(Fs&&... futures)
      : arms_(std::in_place, std::forward<Fs>(futures)...) {}

  // Like `Poll()`, but begins with a random arm.
  PollResult<Output> PollFair(Context& cx) {
    return kSize == 1 ? Poll(cx) : PollFrom(cx.rand().Below(kSize), cx);
  }

  // Polls the arms until one is ready, and then destroys all arms.
  PollResult<Output> Poll(Context& cx) { return PollFrom(0, cx); }

  bool BorrowsClosure() const {
    return arms_.has_value() &&
           std::apply(
               [](const auto&... arms) {
                 return (internal::BorrowsClosure(arms.get()) || ...);
               },
               *arms_);
  }

  // Adds a branch for each arm to `trace`.
  void Trace(AwaitTrace& trace, std::string_view name) const {
    AwaitTrace::Branches branches(trace, name);
    if (!arms_.has_value()) return;
    std::apply(
        [&branches](const auto&... arms) { (branches.Add(arms.get()), ...); },
        *arms_);
  }

 private:
  PollResult<Output> PollFrom(size_t first, Context& cx) {
    if (!arms_.has_value()) {
      Panic("Select or Race was polled after it completed; keep the result");
    }
    // An arm that lacks only budget would appear to be pending, and a later arm
    // would win in its place.
    if (!cx.HasBudget()) return YieldForBudget(cx);
    for (size_t i = 0; i < kSize; ++i) {
      PollResult<Output> result = PollAt<0>((first + i) % kSize, cx);
      if (result.IsReady()) {
        arms_.reset();
        return result;
      }
    }
    return kPending;
  }

  template <size_t I>
  PollResult<Output> PollAt(size_t index, Context& cx) {
    if constexpr (I + 1 < kSize) {
      if (index != I) return PollAt<I + 1>(index, cx);
    }
    return Result::template From<I>(std::get<I>(*arms_).get().Poll(cx));
  }

  // Empty once finished.
  std::optional<std::tuple<OwnedOrRef<Fs>...>> arms_;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_COMBINE_FIRST_READY_H_
