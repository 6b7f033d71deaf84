// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: arm_handler.h
// -----------------------------------------------------------------------------
//
// Calls the handler of an arm of a `SelectLoop`, and runs the future that the
// handler returns, if any. Internal to this folder.

#ifndef ROUSE_FUTURE_COMBINE_ARM_HANDLER_H_
#define ROUSE_FUTURE_COMBINE_ARM_HANDLER_H_

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "rouse/future/await_trace.h"
#include "rouse/future/combine/flow.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// Stands for the result of a handler without an output for the loop.
struct NoLoopOutput {};

// FirstFlow, FirstBreak
//
// Name the output of the loop according to the first result of a handler that
// is a `Flow` or a `BreakFlow`.
template <class... Results>
struct FirstFlow {
  using type = NoLoopOutput;
};
template <class R, class... Results>
struct FirstFlow<Flow<R>, Results...> {
  using type = R;
};
template <class Result, class... Results>
struct FirstFlow<Result, Results...> : FirstFlow<Results...> {};

template <class... Results>
struct FirstBreak {
  using type = void;
};
template <class R, class... Results>
struct FirstBreak<BreakFlow<R>, Results...> {
  using type = R;
};
template <class Result, class... Results>
struct FirstBreak<Result, Results...> : FirstBreak<Results...> {};

// LoopOutput
//
// Names the output of a loop whose handlers return `Results`.
template <class... Results>
using LoopOutput = std::conditional_t<
    std::is_same_v<typename FirstFlow<Results...>::type, NoLoopOutput>,
    typename FirstBreak<Results...>::type,
    typename FirstFlow<Results...>::type>;

template <class R>
inline constexpr bool kIsFlow = false;
template <class R>
inline constexpr bool kIsFlow<Flow<R>> = true;
template <class R>
inline constexpr bool kIsBreakFlow = false;
template <class R>
inline constexpr bool kIsBreakFlow<BreakFlow<R>> = true;

// TakeFlow()
//
// Returns what a loop with the output `R` does after a handler has returned
// `flow`, and stores the output if the loop ends.
template <class R, class Result>
FlowKind TakeFlow(Result&& flow, PollResult<R>& output) {
  using F = std::decay_t<Result>;
  if constexpr (std::is_same_v<F, ContinueFlow>) {
    return FlowKind::kContinue;
  } else if constexpr (std::is_same_v<F, EndArmFlow>) {
    return FlowKind::kEndArm;
  } else if constexpr (kIsBreakFlow<F> || kIsFlow<F>) {
    static_assert(std::is_convertible_v<F, Flow<R>>,
                  "the handlers of a SelectLoop disagree about the output of "
                  "the loop: let each return the same Flow<T>");
    Flow<R> whole(std::forward<Result>(flow));
    const FlowKind kind = FlowAccess::Kind(whole);
    if (kind == FlowKind::kBreak) {
      if constexpr (std::is_void_v<R>) {
        output = {};
      } else {
        output.emplace(FlowAccess::Value(whole));
      }
    }
    return kind;
  } else {
    static_assert(std::is_same_v<F, ContinueFlow>,
                  "the handler of an arm returns void, Continue(), EndArm(), "
                  "Break() or a Flow, or a future of one of these");
  }
}

// Names the result of a handler for an output `T` of the arm. A handler may
// also take nothing.
template <class H, class T>
struct HandlerCall {
  static_assert(std::is_invocable_v<H&, T> || std::is_invocable_v<H&>,
                "the handler of an arm takes the output of the arm's future, "
                "or nothing");
  static constexpr bool kTakesOutput = std::is_invocable_v<H&, T>;
  using Result =
      typename std::conditional_t<kTakesOutput, std::invoke_result<H&, T>,
                                  std::invoke_result<H&>>::type;
};
template <class H>
struct HandlerCall<H, void> {
  static_assert(std::is_invocable_v<H&>,
                "the handler of an arm whose future has no output takes "
                "nothing");
  static constexpr bool kTakesOutput = false;
  using Result = std::invoke_result_t<H&>;
};

// Describes the result of a handler: a flow, or a future of a flow.
template <class Result>
struct HandlerResult {
  static constexpr bool kIsFuture = false;
  using Flow = Result;
  using Running = std::monostate;
};
template <Future Result>
struct HandlerResult<Result> {
  static constexpr bool kIsFuture = true;
  using Flow = FutureOutput<Result>;
  using Running = std::optional<Result>;
};

// ArmHandler
//
// `H` is called with outputs of type `T`, or without arguments.
template <class H, class T>
class ArmHandler {
  using Call = HandlerCall<H, T>;
  using Result = HandlerResult<typename Call::Result>;

 public:
  using Flow = typename Result::Flow;

  explicit ArmHandler(H handler) : handler_(std::move(handler)) {}
  // REQUIRES: no call has begun.
  ArmHandler(ArmHandler&& other) : handler_(std::move(other.handler_)) {}

  // Calls the handler. `take()` returns the output of the arm, which stays in
  // place until the handler has ended. Returns the flow, or pending if the
  // handler has returned a future.
  template <class R, class Take>
  PollResult<FlowKind> Begin(Take take, PollResult<R>& output) {
    if constexpr (Result::kIsFuture) {
      // Constructed in place, because a future need not be movable.
      running_.emplace(Make<Take>(*this, take));
      return kPending;
    } else if constexpr (std::is_void_v<Flow>) {
      Invoke(take);
      return FlowKind::kContinue;
    } else {
      return TakeFlow<R>(Invoke(take), output);
    }
  }

  // Polls the future that the handler has returned. Returns the flow if the
  // future is ready, and has then destroyed the future.
  template <class R>
  PollResult<FlowKind> Poll(Context& cx, PollResult<R>& output) {
    if constexpr (Result::kIsFuture) {
      PollResult<Flow> flow = running_->Poll(cx);
      if (flow.IsPending()) return kPending;
      running_.reset();
      if constexpr (std::is_void_v<Flow>) {
        return FlowKind::kContinue;
      } else {
        return TakeFlow<R>(*std::move(flow), output);
      }
    } else {
      return kPending;  // never called
    }
  }

  void Trace(AwaitTrace::Branches& branches) const {
    if constexpr (Result::kIsFuture) {
      if (running_.has_value()) branches.Add(*running_);
    }
  }

 private:
  template <class Take>
  ROUSE_CORO_WRAPPER decltype(auto) Invoke(Take& take) {
    if constexpr (Call::kTakesOutput) {
      return std::invoke(handler_, take());
    } else {
      return std::invoke(handler_);
    }
  }

  // Converts to the handler's result, so that `emplace` elides the move.
  template <class Take>
  struct Make {
    Make(ArmHandler& self, Take& take) : self(self), take(take) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    ROUSE_CORO_WRAPPER operator typename Call::Result() const {
      return self.Invoke(take);
    }
    ArmHandler& self;
    Take& take;
  };

  H handler_;
  // The future that the handler has returned, if any. Destroyed before the
  // handler, to which the future may refer.
  [[no_unique_address]] typename Result::Running running_;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_COMBINE_ARM_HANDLER_H_
