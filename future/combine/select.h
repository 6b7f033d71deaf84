// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: select.h
// -----------------------------------------------------------------------------
//
// Waits for the first of several futures, and cancels the others:
//
//   auto event = co_await rouse::Select(socket.Read(buffer), stop.Wait());
//   switch (event.index()) {
//     case 0: Handle(std::get<0>(event)); break;
//     case 1: co_return;
//   }
//
// The cancelled futures are destroyed, so the progress of a loser is lost
// unless kept elsewhere. To continue with a future in the next round, make it
// before the loop and pass it as an lvalue.

#ifndef ROUSE_FUTURE_COMBINE_SELECT_H_
#define ROUSE_FUTURE_COMBINE_SELECT_H_

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/combine/first_ready.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

template <class T>
struct SelectAlternative {
  using Type = T;
};
template <>
struct SelectAlternative<void> {
  using Type = std::monostate;
};
template <class T>
struct SelectAlternative<T&> {
  using Type = std::reference_wrapper<T>;
};

template <class... Fs>
struct SelectResult {
  using Output =
      std::variant<typename SelectAlternative<FutureOutput<Fs>>::Type...>;

  template <size_t I, class T>
  static PollResult<Output> From(PollResult<T>&& answer) {
    if (answer.IsPending()) return kPending;
    if constexpr (std::is_void_v<T>) {
      return PollResult<Output>(std::in_place, std::in_place_index<I>);
    } else {
      return PollResult<Output>(std::in_place, std::in_place_index<I>,
                                std::move(answer).value());
    }
  }
};

}  // namespace internal

// SelectFuture
//
// See `Select()`.
template <class... Fs>
class [[nodiscard]] SelectFuture {
 public:
  using Output = typename internal::SelectResult<Fs...>::Output;

  explicit SelectFuture(Fs&&... futures)
      : arms_(std::forward<Fs>(futures)...) {}

  PollResult<Output> Poll(Context& cx) { return arms_.PollFair(cx); }
  void Trace(AwaitTrace& trace) const { arms_.Trace(trace, "Select"); }
  bool BorrowsClosure() const { return arms_.BorrowsClosure(); }

 private:
  internal::FirstReady<internal::SelectResult<Fs...>, Fs...> arms_;
};

// SelectBiasedFuture
//
// See `SelectBiased()`.
template <class... Fs>
class [[nodiscard]] SelectBiasedFuture {
 public:
  using Output = typename internal::SelectResult<Fs...>::Output;

  explicit SelectBiasedFuture(Fs&&... futures)
      : arms_(std::forward<Fs>(futures)...) {}

  PollResult<Output> Poll(Context& cx) { return arms_.Poll(cx); }
  void Trace(AwaitTrace& trace) const { arms_.Trace(trace, "SelectBiased"); }
  bool BorrowsClosure() const { return arms_.BorrowsClosure(); }

 private:
  internal::FirstReady<internal::SelectResult<Fs...>, Fs...> arms_;
};

// Select()
//
// Returns a future that is ready when the first of `futures` is ready. The
// output is a `std::variant` whose index is the winner's, with `std::monostate`
// for void and `std::reference_wrapper` for a reference. Several alternatives
// may have the same type; read them by index.
//
// An rvalue is moved in. By the time the result is ready, all futures that were
// moved in have been destroyed, so the losers are already cancelled. An lvalue
// is polled in place, must outlive the result, and may be selected on again
// unless it has won. A callable that returns a future is kept, as by `Join()`.
//
// If several futures are ready, any may win: each poll begins with a random
// future (see `Context::rand()`), so that no future starves. If the cooperative
// budget is used up, no future is polled and the task yields.
//
// An exception from a future propagates out of the poll.
template <IntoFuture... Fs>
  requires(sizeof...(Fs) > 0)
SelectFuture<internal::FutureFrom<Fs>...> Select(Fs&&... futures) {
  return SelectFuture<internal::FutureFrom<Fs>...>(
      internal::ToFuture<Fs>(futures)...);
}

// SelectBiased()
//
// Like `Select()`, but if several futures are ready, the leftmost wins. A
// future that is ready again and again starves the futures to its right, and so
// does a future that uses up the task's budget in each poll. Put the future
// that must stop the others first.
template <IntoFuture... Fs>
  requires(sizeof...(Fs) > 0)
SelectBiasedFuture<internal::FutureFrom<Fs>...> SelectBiased(Fs&&... futures) {
  return SelectBiasedFuture<internal::FutureFrom<Fs>...>(
      internal::ToFuture<Fs>(futures)...);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_COMBINE_SELECT_H_
