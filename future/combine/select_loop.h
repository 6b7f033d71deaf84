// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: select_loop.h
// -----------------------------------------------------------------------------
//
// Waits for several futures again and again, and handles each output by name:
//
//   auto loop = rouse::SelectLoop(
//       rouse::OnEach(requests, [&](Request r) { queue.push_back(r); }),
//       rouse::On([&] { return peer.Send(queue.front()); },
//                 [&](absl::Status sent) -> rouse::Flow<absl::Status> {
//                   if (!sent.ok()) return rouse::Break(sent);
//                   queue.pop_front();
//                   return rouse::Continue();
//                 })
//           .When([&] { return !queue.empty(); }),
//       rouse::On(stop.Cancelled(),
//                 [] { return rouse::Break(absl::OkStatus()); }));
//   absl::Status status = co_await loop;
//
// Unlike in a loop around a `Select`, an arm that loses a round keeps its
// future, so that its progress is not lost. The condition of an arm, the end of
// an arm and the order of the arms are parts of the loop.
//
// (With g++ 12, name the loop as shown here: see co.h.)

#ifndef ROUSE_FUTURE_COMBINE_SELECT_LOOP_H_
#define ROUSE_FUTURE_COMBINE_SELECT_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/combine/arm_handler.h"
#include "rouse/future/combine/flow.h"
#include "rouse/future/combine/select_arm.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// SelectLoopFuture
//
// See `SelectLoop()` and `SelectLoopBiased()`. Can be moved only before the
// first poll.
template <bool kFair, class... Arms>
class [[nodiscard("a SelectLoop does nothing until it is awaited")]]
SelectLoopFuture {
  static constexpr size_t kSize = sizeof...(Arms);
  static constexpr bool kHasElse = (Arms::kIsElse || ...);
  // `Else()` is the last argument.
  static constexpr size_t kArms = kHasElse ? kSize - 1 : kSize;
  static constexpr size_t kElse = kSize - 1;
  static_assert((size_t{Arms::kIsElse} + ...) <= 1,
                "a SelectLoop has at most one Else()");
  static_assert(
      !kHasElse ||
          std::tuple_element_t<kSize - 1, std::tuple<Arms...>>::kIsElse,
      "Else() is the last argument of SelectLoop()");
  static_assert(kArms > 0, "a SelectLoop has at least one arm");

 public:
  using Output = internal::LoopOutput<typename Arms::HandlerFlow...>;

  explicit SelectLoopFuture(Arms&&... arms)
      : arms_(std::in_place, std::move(arms)...) {}

  PollResult<Output> Poll(Context& cx) {
    if (!arms_.has_value()) {
      Panic(
          "SelectLoop was polled after it completed; create a new SelectLoop");
    }
    ROUSE_TRY {
      PollResult<Output> output = kPending;
      if (Run(cx, output)) arms_.reset();
      return output;
    }
    ROUSE_CATCH_ALL {
      arms_.reset();
      ROUSE_RETHROW;
    }
  }

  bool BorrowsClosure() const {
    return arms_.has_value() && BorrowsClosureFrom<0>();
  }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace,
                                  kFair ? "SelectLoop" : "SelectLoopBiased");
    if (arms_.has_value()) TraceFrom<0>(branches);
  }

 private:
  using FlowKind = internal::FlowKind;
  static constexpr size_t kNone = kSize;

  // Returns whether the loop has ended, with `output`.
  bool Run(Context& cx, PollResult<Output>& output) {
    for (;;) {
      PollResult<FlowKind> flow = kPending;
      if (running_ != kNone) {
        flow = PollHandlerAt<0>(running_, cx, output);
        if (flow.IsPending()) return false;
        running_ = kNone;
      } else {
        // An arm that lacks only budget would appear to be pending, and a later
        // arm would win in its place.
        if (!cx.HasBudget()) {
          static_cast<void>(YieldForBudget(cx));
          return false;
        }
        if (!is_in_round_) {
          is_in_round_ = true;
          has_enabled_ = BeginRoundFrom<0>();
        }
        if (!has_enabled_) {
          if constexpr (kHasElse) {
            running_ = kElse;
            flow = std::get<kElse>(*arms_).Begin(output);
          } else {
            EndWithoutArms(output);
            return true;
          }
        } else if (!PollArms(cx, flow, output)) {
          return false;
        }
        if (flow.IsPending()) continue;  // the handler runs on
        running_ = kNone;
      }
      if (*flow == FlowKind::kBreak) return true;
      is_in_round_ = false;
      // Otherwise a loop of futures that are always ready would never yield.
      TakeUnitIfAny(cx);
    }
  }

  // Returns whether an arm has ended the round: `running_` is the arm.
  bool PollArms(Context& cx, PollResult<FlowKind>& flow,
                PollResult<Output>& output) {
    const size_t first =
        kFair && kArms > 1 ? cx.rand().Below(uint32_t{kArms}) : 0;
    for (size_t i = 0; i < kArms; ++i) {
      const size_t index = first + i < kArms ? first + i : first + i - kArms;
      if (PollArmAt<0>(index, cx, flow, output)) {
        running_ = index;
        return true;
      }
    }
    return false;
  }

  void EndWithoutArms(PollResult<Output>& output) {
    if constexpr (std::is_void_v<Output>) {
      if (HaveEndedFrom<0>()) {
        output = {};
        return;
      }
    }
    Panic(
        "SelectLoop has no enabled arm, and would wait forever; add "
        "Else(handler) as the last argument");
  }

  template <size_t I>
  bool PollArmAt(size_t index, Context& cx, PollResult<FlowKind>& flow,
                 PollResult<Output>& output) {
    if constexpr (I + 1 < kArms) {
      if (index != I) return PollArmAt<I + 1>(index, cx, flow, output);
    }
    return std::get<I>(*arms_).Poll(cx, flow, output);
  }

  template <size_t I>
  PollResult<FlowKind> PollHandlerAt(size_t index, Context& cx,
                                     PollResult<Output>& output) {
    if constexpr (I + 1 < kSize) {
      if (index != I) return PollHandlerAt<I + 1>(index, cx, output);
    }
    return std::get<I>(*arms_).PollHandler(cx, output);
  }

  // Returns whether any arm is enabled in the new round.
  template <size_t I>
  bool BeginRoundFrom() {
    if constexpr (I == kArms) {
      return false;
    } else {
      const bool enabled = std::get<I>(*arms_).BeginRound();
      return BeginRoundFrom<I + 1>() || enabled;
    }
  }

  template <size_t I>
  bool HaveEndedFrom() const {
    if constexpr (I == kArms) {
      return true;
    } else {
      return std::get<I>(*arms_).HasEnded() && HaveEndedFrom<I + 1>();
    }
  }

  template <size_t I>
  bool BorrowsClosureFrom() const {
    if constexpr (I == kArms) {
      return false;
    } else {
      return std::get<I>(*arms_).BorrowsClosure() ||
             BorrowsClosureFrom<I + 1>();
    }
  }

  template <size_t I>
  void TraceFrom(AwaitTrace::Branches& branches) const {
    if constexpr (I < kSize) {
      if (running_ == I) {
        std::get<I>(*arms_).TraceHandler(branches);
      } else if constexpr (I < kArms) {
        if (running_ == kNone) std::get<I>(*arms_).Trace(branches);
      }
      TraceFrom<I + 1>(branches);
    }
  }

  // Empty once finished.
  std::optional<std::tuple<Arms...>> arms_;
  // The arm whose handler runs on, or `kNone`.
  size_t running_ = kNone;
  bool is_in_round_ = false;
  bool has_enabled_ = false;
};

// SelectLoop()
//
// Returns a future that runs a loop. In each round, the loop waits for the
// first of the enabled arms to have an output, and calls the arm's handler:
// see `On()`, `OnEach()` and `Else()`. The other arms keep their futures, and
// go on in the next round. The output is the value that a handler has passed to
// `Break()`, or void.
//
// An arm is disabled permanently when its future was ready, its stream has
// ended, or its handler has returned `EndArm()`, and for a round if its
// condition is false. If no arm is enabled, the loop calls the handler of
// `Else()`. Without `Else()`, a loop without an output ends when all arms have
// ended. In any other case a loop without an enabled arm and without `Else()`
// is a `Panic()`.
//
// If several futures are ready, any may win: each poll begins with a random arm
// (see `Context::rand()`), so that no arm starves. Each round takes a unit of
// the cooperative budget. If the budget is used up, no arm is polled and the
// task yields.
//
// By the time the result is ready, all futures that were moved in or made by
// the loop have been destroyed. Destroying the loop cancels these futures, and
// the handler that runs. A future that was passed as an lvalue is not
// destroyed. An exception from a future, a condition or a handler propagates
// out of the poll and ends the loop.
//
// The loop and its futures are one object: nothing is allocated, except by the
// futures and the handlers.
template <class... Arms>
SelectLoopFuture<true, Arms...> SelectLoop(Arms... arms) {
  return SelectLoopFuture<true, Arms...>(std::move(arms)...);
}

// SelectLoopBiased()
//
// Like `SelectLoop()`, but if several futures are ready, the leftmost wins. A
// future that is ready in every round starves the arms to its right. Put the
// arm that must end the loop first.
template <class... Arms>
SelectLoopFuture<false, Arms...> SelectLoopBiased(Arms... arms) {
  return SelectLoopFuture<false, Arms...>(std::move(arms)...);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_COMBINE_SELECT_LOOP_H_
