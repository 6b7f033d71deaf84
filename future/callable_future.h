// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: callable_future.h
// -----------------------------------------------------------------------------
//
// Lets a function that takes a future also take a callable, and keeps the
// captures of a lambda coroutine alive as long as the coroutine:
//
//   template <IntoFuture... Fs>
//   JoinFuture<internal::FutureFrom<Fs>...> Join(Fs&&... futures) {
//     return JoinFuture<internal::FutureFrom<Fs>...>(
//         internal::ToFuture<Fs>(futures)...);
//   }

#ifndef ROUSE_FUTURE_CALLABLE_FUTURE_H_
#define ROUSE_FUTURE_CALLABLE_FUTURE_H_

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"

namespace rouse {

// IntoFuture
//
// Satisfied if `F`, as deduced for an argument `F&&`, is a future, or a
// callable without parameters that returns a future.
template <class F>
concept IntoFuture =
    Future<F> || (std::invocable<std::decay_t<F>&> &&
                  Future<std::invoke_result_t<std::decay_t<F>&>>);

namespace internal {

// CallableFuture
//
// Calls `callable` at the first poll to make a future, and then polls that
// future. The future is destroyed before the callable.
template <class F>
class CallableFuture {
 public:
  using Inner = std::invoke_result_t<F&>;

  explicit CallableFuture(F&& callable) : callable_(std::move(callable)) {}
  explicit CallableFuture(const F& callable) : callable_(callable) {}
  // REQUIRES: `other` has not been polled.
  CallableFuture(CallableFuture&& other)
      : callable_(std::move(other.callable_)) {}

  auto Poll(Context& cx) {
    if (!inner_.has_value()) {
      // The future is made in place because it need not be movable.
      inner_.emplace(Make(*this));
    }
    return inner_->Poll(cx);
  }

  void Trace(AwaitTrace& trace) const {
    if (inner_.has_value()) {
      trace.Add(*inner_);
    } else {
      trace.AddLeaf(internal::TypeName<Inner>(), "not started");
    }
  }

 private:
  // Converts to the callable's result, so that `emplace` elides the move.
  struct Make {
    explicit Make(CallableFuture& self) : self(self) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    ROUSE_CORO_WRAPPER operator Inner() const { return self.callable_(); }
    CallableFuture& self;
  };

  F callable_;
  std::optional<Inner> inner_;
};

template <class F>
struct FutureFromTraits {
  using type = CallableFuture<std::decay_t<F>>;
};
template <Future F>
struct FutureFromTraits<F> {
  using type = F;
};

// FutureFrom
//
// Names the type that a combinator stores for an argument `F&&`. For a future
// the type is `F`, which may be a reference to a future. For a callable the
// type is a future that owns the callable.
template <class F>
using FutureFrom = typename FutureFromTraits<F>::type;

// ToFuture()
//
// Forwards a future, or moves or copies a callable into a `CallableFuture`.
template <Future F>
F&& ToFuture(std::remove_reference_t<F>& future) {
  return static_cast<F&&>(future);
}
template <class F>
  requires(!Future<F>)
FutureFrom<F> ToFuture(std::remove_reference_t<F>& callable) {
  static_assert(std::is_constructible_v<std::decay_t<F>, F>,
                "the future stores the callable, and this callable cannot be "
                "copied: move the callable, as in Join(std::move(callable))");
  return FutureFrom<F>(static_cast<F&&>(callable));
}

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_CALLABLE_FUTURE_H_
