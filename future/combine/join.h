// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join.h
// -----------------------------------------------------------------------------
//
// Runs several futures concurrently, in one task, until all are ready:
//
//   auto [user, orders] = co_await rouse::Join(LoadUser(id), LoadOrders(id));
//
// "Concurrently" does not mean "in parallel": the futures share the task and
// its thread. Spawn tasks to run futures in parallel. Every wake of the task
// polls each future that is not ready yet; for many futures of one type, use
// `JoinAll()`, which polls only the futures that were woken.

#ifndef ROUSE_FUTURE_COMBINE_JOIN_H_
#define ROUSE_FUTURE_COMBINE_JOIN_H_

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/combine/maybe_done.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

template <class T>
using JoinOutput = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// Takes the output of `child` when all children are ready.
template <class F>
JoinOutput<FutureOutput<F>> TakeOutput(MaybeDone<F>& child) {
  if constexpr (std::is_void_v<FutureOutput<F>>) {
    return {};
  } else {
    return child.output().Take();
  }
}

}  // namespace internal

// JoinFuture
//
// See `Join()`.
template <class... Fs>
class [[nodiscard]] JoinFuture {
 public:
  using Output = std::tuple<internal::JoinOutput<FutureOutput<Fs>>...>;

  explicit JoinFuture(Fs&&... futures)
      : children_(std::in_place, std::forward<Fs>(futures)...) {}

  PollResult<Output> Poll(Context& cx) {
    if (!children_.has_value()) {
      Panic("Join was polled after it completed; keep the result");
    }
    if (!PollAll(cx)) return kPending;
    PollResult<Output> outputs = std::apply(
        [](auto&... children) {
          return PollResult<Output>(std::in_place,
                                    internal::TakeOutput(children)...);
        },
        *children_);
    children_.reset();
    return outputs;
  }

  bool BorrowsClosure() const {
    return children_.has_value() &&
           std::apply(
               [](const auto&... children) {
                 return (children.BorrowsClosure() || ...);
               },
               *children_);
  }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "Join");
    if (!children_.has_value()) return;
    std::apply(
        [&branches](const auto&... children) {
          (children.Trace(branches), ...);
        },
        *children_);
  }

 private:
  static constexpr size_t kSize = sizeof...(Fs);

  bool PollAll(Context& cx) {
    bool all = true;
    for (size_t i = 0; i < kSize; ++i) {
      if (!PollAt<0>((first_ + i) % kSize, cx)) all = false;
    }
    if (++first_ >= kSize) first_ = 0;
    return all;
  }

  template <size_t I>
  bool PollAt(size_t index, Context& cx) {
    if constexpr (I + 1 < kSize) {
      if (index != I) return PollAt<I + 1>(index, cx);
    }
    return std::get<I>(*children_).Poll(cx);
  }

  // Empty once finished.
  std::optional<std::tuple<internal::MaybeDone<Fs>...>> children_;
  // Index of the child with which the next poll begins, so that each child in
  // turn is the first to take from the budget.
  size_t first_ = 0;
};

// Join()
//
// Returns a future that is ready when all of `futures` are ready. The output is
// a `std::tuple` of the outputs in order, with `std::monostate` for void. An
// output that is a reference remains a reference.
//
// An rvalue is moved in and is destroyed as soon as it is ready. An lvalue is
// polled in place and must outlive the result. Destroying the result cancels
// the futures that were moved in. A callable that returns a future stands for
// that future: the callable is kept, is called at the first poll, and is
// destroyed after the future.
//
// Every poll begins with a different child, in turn, so that no child is
// starved of the cooperative budget by the children before it.
//
// An exception from a future propagates out of the poll. The other futures are
// destroyed with the result.
template <IntoFuture... Fs>
  requires(sizeof...(Fs) > 0)
JoinFuture<internal::FutureFrom<Fs>...> Join(Fs&&... futures) {
  return JoinFuture<internal::FutureFrom<Fs>...>(
      internal::ToFuture<Fs>(futures)...);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_COMBINE_JOIN_H_
