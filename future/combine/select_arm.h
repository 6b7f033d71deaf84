// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: select_arm.h
// -----------------------------------------------------------------------------
//
// Describes the arms of a `SelectLoop`: what each waits for, and what handles
// the output.
//
//   rouse::On(work, handle)                 // a future, once
//   rouse::On(make_future, handle)          // a future after another
//   rouse::OnEach(messages, handle)         // the items of a stream
//   rouse::On(...).When(condition)          // only while the condition holds
//   rouse::On(...).RestartEachRound()       // a new future in each round
//   rouse::Else(handle)                     // if no arm is enabled

#ifndef ROUSE_FUTURE_COMBINE_SELECT_ARM_H_
#define ROUSE_FUTURE_COMBINE_SELECT_ARM_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/co/output_slot.h"
#include "rouse/future/combine/arm_handler.h"
#include "rouse/future/combine/flow.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// FutureSource
//
// Polls one future, as deduced for an argument `F&&`, to its end.
template <class F>
class FutureSource {
 public:
  using Output = FutureOutput<F>;

  explicit FutureSource(F&& future)
      : future_(std::in_place, std::forward<F>(future)) {}

  // Polls for an output. Returns whether the source has advanced: `slot` has an
  // output, or the source has ended.
  bool Poll(Context& cx, OutputSlot<Output>& slot) {
    return slot.FillBy([&] { return future_->get().Poll(cx); });
  }
  // Destroys what has become ready.
  void Clear() { future_.reset(); }
  bool HasEnded() const { return !future_.has_value(); }

  template <class Visit>
  void ForFuture(Visit visit) const {
    if (future_.has_value()) visit(future_->get());
  }

 private:
  std::optional<OwnedOrRef<F>> future_;
};

// FactorySource
//
// Polls the futures that `Make` returns, one after another.
template <class Make>
class FactorySource {
  using Inner = std::invoke_result_t<Make&>;

 public:
  using Output = FutureOutput<Inner>;

  template <class Arg>
  explicit FactorySource(std::in_place_t, Arg&& make)
      : make_(std::forward<Arg>(make)) {}
  // REQUIRES: `other` has not been polled.
  FactorySource(FactorySource&& other) : make_(std::move(other.make_)) {}

  bool Poll(Context& cx, OutputSlot<Output>& slot) {
    // The future is made in place because it need not be movable.
    if (!inner_.has_value()) inner_.emplace(Call(make_));
    return slot.FillBy([&] { return inner_->Poll(cx); });
  }
  void Clear() { inner_.reset(); }
  bool HasEnded() const { return false; }

  template <class Visit>
  void ForFuture(Visit visit) const {
    if (inner_.has_value()) visit(*inner_);
  }

 private:
  struct Call {
    explicit Call(Make& make) : make(make) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    ROUSE_CORO_WRAPPER operator Inner() const { return std::invoke(make); }
    Make& make;
  };

  Make make_;
  std::optional<Inner> inner_;  // destroyed before `make_`
};

// StreamSource
//
// Polls a stream, as deduced for an argument `S&&`, to its end.
template <class S>
class StreamSource {
  using Inner = NextFuture<std::remove_reference_t<S>>;

 public:
  using Output = StreamItem<S>;

  explicit StreamSource(S&& stream)
      : stream_(std::in_place, std::forward<S>(stream)) {}
  // REQUIRES: `other` has not been polled.
  StreamSource(StreamSource&& other) : stream_(std::move(other.stream_)) {}

  bool Poll(Context& cx, OutputSlot<Output>& slot) {
    if (!next_.has_value()) next_.emplace(stream_->get());
    PollResult<std::optional<Output>> item = next_->Poll(cx);
    if (item.IsPending()) return false;
    if (item->has_value()) {
      slot.Emplace(**std::move(item));
    } else {
      next_.reset();
      stream_.reset();
    }
    return true;
  }
  void Clear() { next_.reset(); }
  bool HasEnded() const { return !stream_.has_value(); }

  template <class Visit>
  void ForFuture(Visit visit) const {
    if (stream_.has_value()) visit(stream_->get());
  }

 private:
  std::optional<OwnedOrRef<S>> stream_;
  std::optional<Inner> next_;  // refers to `stream_`
};

template <class Source>
inline constexpr bool kIsFactory = false;
template <class Make>
inline constexpr bool kIsFactory<FactorySource<Make>> = true;

// The condition of an arm that is always enabled.
struct Always {
  bool operator()() const { return true; }
};

}  // namespace internal

// SelectArm
//
// See `On()` and `OnEach()`. Can be moved until the loop is polled.
template <class Source, class H, class Condition = internal::Always>
class [[nodiscard]] SelectArm {
  using Output = typename Source::Output;
  using Handler = internal::ArmHandler<H, Output>;

 public:
  static constexpr bool kIsElse = false;
  // The result of the handler, or of the handler's future.
  using HandlerFlow = typename Handler::Flow;

  SelectArm(Source source, Handler handler, Condition condition,
            bool restarts = false)
      : source_(std::move(source)),
        handler_(std::move(handler)),
        condition_(std::move(condition)),
        restarts_(restarts) {}
  // REQUIRES: `other` has not been polled.
  SelectArm(SelectArm&& other)
      : source_(std::move(other.source_)),
        handler_(std::move(other.handler_)),
        condition_(std::move(other.condition_)),
        restarts_(other.restarts_) {}

  // Enables the arm only in rounds in which `condition()` is true. The
  // condition is called once, at the beginning of the round. While the arm is
  // disabled, its future is not polled, and is not cancelled either.
  template <class C>
    requires std::predicate<std::decay_t<C>&>
  SelectArm<Source, H, std::decay_t<C>> When(C&& condition) && {
    static_assert(std::is_same_v<Condition, internal::Always>,
                  "an arm has one condition: combine the conditions with &&");
    return SelectArm<Source, H, std::decay_t<C>>(
        std::move(source_), std::move(handler_), std::forward<C>(condition),
        restarts_);
  }

  // Cancels the arm's future at the end of each round, so that the next round
  // begins with a new one. For a limit of the time of each round.
  SelectArm RestartEachRound() && {
    static_assert(internal::kIsFactory<Source>,
                  "only an arm with a function that makes futures can restart: "
                  "pass a lambda that returns the future");
    restarts_ = true;
    return std::move(*this);
  }

  // ---- For the loop.

  // Begins a round. Returns whether the arm is enabled.
  bool BeginRound() {
    if (restarts_) source_.Clear();
    is_enabled_ = !HasEnded() && static_cast<bool>(std::invoke(condition_));
    return is_enabled_;
  }
  bool HasEnded() const { return has_ended_ || source_.HasEnded(); }

  // Polls the arm. Returns whether the arm ends the round, because its handler
  // has been called or its stream has ended. `flow` is then the handler's flow,
  // or pending if the handler runs on.
  template <class R>
  bool Poll(Context& cx, PollResult<internal::FlowKind>& flow,
            PollResult<R>& output) {
    if (!is_enabled_ || !source_.Poll(cx, slot_)) return false;
    if (!slot_.IsFull()) {
      flow = internal::FlowKind::kContinue;
      return true;
    }
    if constexpr (!std::is_reference_v<Output>) source_.Clear();
    flow = handler_.Begin([this]() -> decltype(auto) { return slot_.Take(); },
                          output);
    if (flow.IsReady()) EndHandler(*flow);
    return true;
  }

  // Polls the handler that runs on. Returns its flow once it has ended.
  template <class R>
  PollResult<internal::FlowKind> PollHandler(Context& cx,
                                             PollResult<R>& output) {
    PollResult<internal::FlowKind> flow = handler_.Poll(cx, output);
    if (flow.IsReady()) EndHandler(*flow);
    return flow;
  }

  bool BorrowsClosure() const {
    bool borrows = false;
    source_.ForFuture([&borrows](const auto& future) {
      borrows = internal::BorrowsClosure(future);
    });
    return borrows;
  }

  // Adds a branch for the handler that runs on.
  void TraceHandler(AwaitTrace::Branches& branches) const {
    handler_.Trace(branches);
  }
  // Adds a branch for the arm's future or stream.
  void Trace(AwaitTrace::Branches& branches) const {
    if (!is_enabled_) return;
    source_.ForFuture(
        [&branches](const auto& future) { branches.Add(future); });
  }

 private:
  void EndHandler(internal::FlowKind flow) {
    if constexpr (std::is_void_v<Output>) {
      slot_ = internal::OutputSlot<void>();
    } else {
      slot_.Clear();
    }
    // The reference may have led into the future.
    if constexpr (std::is_reference_v<Output>) source_.Clear();
    if (flow == internal::FlowKind::kEndArm) has_ended_ = true;
  }

  Source source_;
  // The output for the handler.
  internal::OutputSlot<Output> slot_;
  Handler handler_;
  [[no_unique_address]] Condition condition_;
  bool restarts_;
  bool is_enabled_ = true;
  bool has_ended_ = false;
};

// ElseArm
//
// See `Else()`.
template <class H>
class [[nodiscard]] ElseArm {
  using Handler = internal::ArmHandler<H, void>;

 public:
  static constexpr bool kIsElse = true;
  using HandlerFlow = typename Handler::Flow;

  explicit ElseArm(H handler) : handler_(std::move(handler)) {}

  // ---- For the loop.

  // Calls the handler. Returns its flow, or pending if the handler runs on.
  template <class R>
  PollResult<internal::FlowKind> Begin(PollResult<R>& output) {
    return Ended(handler_.Begin([] {}, output), output);
  }
  // Polls the handler that runs on. Returns its flow once it has ended.
  template <class R>
  PollResult<internal::FlowKind> PollHandler(Context& cx,
                                             PollResult<R>& output) {
    return Ended(handler_.Poll(cx, output), output);
  }
  // Adds a branch for the handler that runs on.
  void TraceHandler(AwaitTrace::Branches& branches) const {
    handler_.Trace(branches);
  }

 private:
  // Returns the flow of the loop: a handler without a flow ends the loop.
  template <class R>
  static PollResult<internal::FlowKind> Ended(
      PollResult<internal::FlowKind> flow, PollResult<R>& output) {
    if constexpr (std::is_void_v<HandlerFlow>) {
      static_assert(std::is_void_v<R>,
                    "the handler of Else() ends the loop, and must return the "
                    "output of the loop: return Break(value)");
      if (flow.IsReady()) {
        output = {};
        return internal::FlowKind::kBreak;
      }
    }
    return flow;
  }

  Handler handler_;
};

// On()
//
// Returns an arm of a `SelectLoop` that waits for `source` and passes the
// output to `handler`. `source` is one of
//
// * a future. An rvalue is moved in. An lvalue is polled in place, must outlive
//   the loop, and is not cancelled by the loop. Once ready, the arm has ended.
// * a callable without parameters that returns a future. When the future is
//   ready, the callable makes another in the next round in which the arm is
//   enabled. A future that is not ready is kept for the next round.
//
// `handler` takes the output, as a value or by reference, or nothing. A
// reference is valid until the handler has ended. The handler returns one of
//
// * void: the loop goes on with the next round;
// * `Continue()`, `EndArm()`, `Break()` or `Break(value)`;
// * a `Flow`, which is any of these, decided at run time;
// * a future of one of the above, such as a `Co`. The loop then runs the
//   future to its end, and polls no arm in the meantime.
template <class F, class H>
  requires Future<F>
auto On(F&& source, H&& handler) {
  using Source = internal::FutureSource<F>;
  using Handler =
      internal::ArmHandler<std::decay_t<H>, typename Source::Output>;
  return SelectArm<Source, std::decay_t<H>>(Source(std::forward<F>(source)),
                                            Handler(std::forward<H>(handler)),
                                            internal::Always());
}
template <class F, class H>
  requires(!Future<F> && std::invocable<std::decay_t<F>&> &&
           Future<std::invoke_result_t<std::decay_t<F>&>>)
auto On(F&& source, H&& handler) {
  using Source = internal::FactorySource<std::decay_t<F>>;
  using Handler =
      internal::ArmHandler<std::decay_t<H>, typename Source::Output>;
  return SelectArm<Source, std::decay_t<H>>(
      Source(std::in_place, std::forward<F>(source)),
      Handler(std::forward<H>(handler)), internal::Always());
}

// OnEach()
//
// Like `On()`, for the items of a stream. The arm has ended when the stream
// has. No item is lost: an arm that does not win has taken nothing.
template <Stream S, class H>
auto OnEach(S&& stream, H&& handler) {
  using Source = internal::StreamSource<S>;
  using Handler =
      internal::ArmHandler<std::decay_t<H>, typename Source::Output>;
  return SelectArm<Source, std::decay_t<H>>(Source(std::forward<S>(stream)),
                                            Handler(std::forward<H>(handler)),
                                            internal::Always());
}

// Else()
//
// Returns the last argument of a `SelectLoop`: a handler for a round in which
// no arm is enabled. The handler returns what the handler of an arm returns,
// except that a handler that returns void ends the loop. `EndArm()` does what
// `Continue()` does.
template <class H>
ElseArm<std::decay_t<H>> Else(H&& handler) {
  return ElseArm<std::decay_t<H>>(std::forward<H>(handler));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_COMBINE_SELECT_ARM_H_
