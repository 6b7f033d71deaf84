// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: try_join.h
// -----------------------------------------------------------------------------
//
// Runs several futures concurrently until all have succeeded or one has failed:
//
//   absl::StatusOr<std::tuple<User, Orders>> both =
//       co_await rouse::TryJoin(LoadUser(id), LoadOrders(id));
//
// or, in a coroutine that also returns an `absl::StatusOr`:
//
//   auto [user, orders] = co_await rouse::OrReturn(
//       rouse::TryJoin(LoadUser(id), LoadOrders(id)));

#ifndef ROUSE_FUTURE_COMBINE_TRY_JOIN_H_
#define ROUSE_FUTURE_COMBINE_TRY_JOIN_H_

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/combine/maybe_done.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Describes the value of a successful outcome of type `T`.
template <class T>
struct TryJoinTraits {
  static_assert(
      sizeof(T) == 0,
      "TryJoin takes futures whose output is absl::Status or absl::StatusOr");
};
template <>
struct TryJoinTraits<absl::Status> {
  using Value = std::monostate;
  static const absl::Status* Status(const absl::Status* outcome) {
    return outcome;
  }
  static Value Take(absl::Status&&) { return {}; }
};
template <class T>
struct TryJoinTraits<absl::StatusOr<T>> {
  using Value = T;
  static const absl::Status* Status(const absl::StatusOr<T>* outcome) {
    return &outcome->status();
  }
  static T&& Take(absl::StatusOr<T>&& result) { return *std::move(result); }
};

}  // namespace internal

// TryJoinFuture
//
// See `TryJoin()`.
template <class... Fs>
class [[nodiscard]] TryJoinFuture {
  template <class F>
  using Traits = internal::TryJoinTraits<FutureOutput<F>>;

 public:
  using Output = absl::StatusOr<std::tuple<typename Traits<Fs>::Value...>>;

  explicit TryJoinFuture(Fs&&... futures)
      : children_(std::in_place, std::forward<Fs>(futures)...) {}

  PollResult<Output> Poll(Context& cx) {
    if (!children_.has_value()) {
      Panic("TryJoin was polled after it completed; keep the result");
    }
    bool all = true;
    for (size_t i = 0; i < kSize; ++i) {
      const absl::Status* outcome = PollAt<0>((first_ + i) % kSize, cx);
      if (outcome == nullptr) {
        all = false;
      } else if (!outcome->ok()) {
        PollResult<Output> error(*outcome);
        children_.reset();
        return error;
      }
    }
    if (++first_ >= kSize) first_ = 0;
    if (!all) return kPending;
    PollResult<Output> values = std::apply(
        [](auto&... children) {
          return PollResult<Output>(
              std::in_place, std::in_place,
              Traits<Fs>::Take(children.output().Take())...);
        },
        *children_);
    children_.reset();
    return values;
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
    AwaitTrace::Branches branches(trace, "TryJoin");
    if (!children_.has_value()) return;
    std::apply(
        [&branches](const auto&... children) {
          (children.Trace(branches), ...);
        },
        *children_);
  }

 private:
  static constexpr size_t kSize = sizeof...(Fs);

  // Polls the child at `index`. Returns the status of the outcome, or null if
  // the child is pending.
  template <size_t I>
  const absl::Status* PollAt(size_t index, Context& cx) {
    if constexpr (I + 1 < kSize) {
      if (index != I) return PollAt<I + 1>(index, cx);
    }
    auto& child = std::get<I>(*children_);
    if (!child.Poll(cx)) return nullptr;
    using Child = std::remove_reference_t<decltype(child)>;
    return internal::TryJoinTraits<typename Child::Output>::Status(
        child.output().Peek());
  }

  // Empty once finished.
  std::optional<std::tuple<internal::MaybeDone<Fs>...>> children_;
  // Index of the child with which the next poll begins.
  size_t first_ = 0;
};

// TryJoin()
//
// Like `Join()`, but for futures of `absl::Status` or `absl::StatusOr`. If a
// future fails, the result is ready at once with the error. All futures that
// were moved in have then been destroyed, so the remaining futures are
// cancelled. If several futures fail in one poll, the output is any of the
// errors.
//
// Otherwise the output is an `absl::StatusOr` of a `std::tuple` of the values
// in order, with `std::monostate` for an `absl::Status`.
template <IntoFuture... Fs>
  requires(sizeof...(Fs) > 0)
TryJoinFuture<internal::FutureFrom<Fs>...> TryJoin(Fs&&... futures) {
  return TryJoinFuture<internal::FutureFrom<Fs>...>(
      internal::ToFuture<Fs>(futures)...);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_COMBINE_TRY_JOIN_H_
