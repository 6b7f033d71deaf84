// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: or_return.h
// -----------------------------------------------------------------------------
//
// `co_await OrReturn(x)` gives the value of `x`, or ends the coroutine with the
// error in it:
//
//   rouse::Co<absl::StatusOr<User>> Load(Database& db, int id) {
//     Row row = co_await rouse::OrReturn(db.Find(id));
//     co_await rouse::OrReturn(Check(row));   // an absl::Status
//     co_return co_await rouse::OrReturn(Parse(row));
//   }
//
// `x` is an `absl::Status`, an `absl::StatusOr<T>`, or a future (a `Co` too) of
// one of these. The coroutine returns `absl::Status` or `absl::StatusOr`.

#ifndef ROUSE_FUTURE_OR_RETURN_H_
#define ROUSE_FUTURE_OR_RETURN_H_

#include <concepts>
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/chain.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// What `OrReturn(x)` makes: refers to `x` until the end of the expression.
template <class X>
class [[nodiscard("OrReturn does nothing without co_await")]] OrReturnOperand {
 public:
  explicit OrReturnOperand(X&& operand) : operand_(static_cast<X&&>(operand)) {}
  OrReturnOperand(const OrReturnOperand&) = delete;
  OrReturnOperand& operator=(const OrReturnOperand&) = delete;

  X&& get() { return static_cast<X&&>(operand_); }
  std::remove_reference_t<X>& lvalue() { return operand_; }

 private:
  X&& operand_;
};

}  // namespace internal

// OrReturn()
//
// Only for use right behind `co_await`. Gives void for a status; for a
// `StatusOr` that is an lvalue, a reference to its value; else the value.
//
// Ending the coroutine destroys its locals as a `co_return` does, when its
// caller takes the result.
template <class X>
internal::OrReturnOperand<X> OrReturn(X&& x ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal::OrReturnOperand<X>(std::forward<X>(x));
}

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

namespace internal {

inline absl::Status ErrorOf(absl::Status& status) { return std::move(status); }
inline absl::Status ErrorOf(const absl::Status& status) { return status; }
template <class T>
absl::Status ErrorOf(absl::StatusOr<T>& result) {
  return std::move(result).status();
}
template <class T>
absl::Status ErrorOf(const absl::StatusOr<T>& result) {
  return result.status();
}

inline void ValueOf(const absl::Status&) {}
template <class T>
T ValueOf(absl::StatusOr<T>&& result) {
  return *std::move(result);
}
template <class T>
T& ValueOf(absl::StatusOr<T>& result) {
  return *result;
}
template <class T>
const T& ValueOf(const absl::StatusOr<T>& result) {
  return *result;
}

template <class T>
inline constexpr bool kIsOutcome = std::same_as<T, absl::Status>;
template <class T>
inline constexpr bool kIsOutcome<absl::StatusOr<T>> = true;

// Ends the coroutine of `promise`, which is suspended.
template <class Promise>
void ReturnError(Promise& promise, absl::Status error) {
  static_assert(
      requires { promise.return_value(std::move(error)); },
      "OrReturn ends the coroutine with an error: let it return absl::Status "
      "or absl::StatusOr");
  promise.return_value(std::move(error));
  promise.Finish();
}

// Of a status or a StatusOr: nothing to wait for.
template <class Promise, class X>
class OutcomeAwaiter {
 public:
  OutcomeAwaiter(Promise& promise, X&& outcome)
      : promise_(promise), outcome_(static_cast<X&&>(outcome)) {}

  bool await_ready() const { return outcome_.ok(); }
  void await_suspend(std::coroutine_handle<>) {
    ReturnError(promise_, ErrorOf(outcome_));
  }
  decltype(auto) await_resume() { return ValueOf(static_cast<X&&>(outcome_)); }

 private:
  Promise& promise_;
  X&& outcome_;
};

// Of a future: as `FutureAwaiter`, with a look at the outcome before the frame
// is resumed.
template <class Promise, class F>
class FutureOrReturnAwaiter : public Awaiter {
 public:
  FutureOrReturnAwaiter(Promise& promise, F& future)
      : Awaiter(promise, &FutureOrReturnAwaiter::PollAgain), future_(future) {}

  bool await_ready() {
    result_ = future_.Poll(*parent->root->cx);
    return result_.IsReady() && result_->ok();
  }
  void await_suspend(std::coroutine_handle<>) {
    if (result_.IsReady()) {
      ReturnError(promise(), ErrorOf(*result_));
    } else {
      parent->root->leaf = this;
    }
  }
  decltype(auto) await_resume() {
    if (result_.IsPending()) RethrowFrom(*parent);
    return ValueOf(std::move(result_).value());
  }

 private:
  Promise& promise() { return static_cast<Promise&>(*parent); }

  static bool PollAgain(Awaiter* awaiter, Context& cx) {
    auto* self = static_cast<FutureOrReturnAwaiter*>(awaiter);
    ROUSE_TRY { self->result_ = self->future_.Poll(cx); }
    ROUSE_CATCH_ALL {
#ifdef ABSL_HAVE_EXCEPTIONS
      self->parent->exception = std::current_exception();
#endif
      return true;
    }
    if (self->result_.IsPending()) return false;
    if (!self->result_->ok()) {
      ReturnError(self->promise(), ErrorOf(*self->result_));
    }
    return true;
  }

  F& future_;
  PollResult<FutureOutput<F>> result_ = kPending;
};

// Of a coroutine: as `ChildAwaiter`, with the same look.
template <class Promise, class ChildPromise>
class ChildOrReturnAwaiter : public ChildAwaiter<ChildPromise> {
  using Base = ChildAwaiter<ChildPromise>;

 public:
  ChildOrReturnAwaiter(Promise& promise, ChildPromise& child)
      : Base(promise, child, &ChildOrReturnAwaiter::OnFinished) {}

  bool await_suspend(std::coroutine_handle<> frame) {
    return Base::await_suspend(frame) || EndParent();
  }
  decltype(auto) await_resume() { return ValueOf(Base::await_resume()); }

 private:
  static bool OnFinished(Awaiter* awaiter, Context&) {
    static_cast<ChildOrReturnAwaiter*>(awaiter)->EndParent();
    return true;
  }

  // Whether the child's error has ended the parent.
  bool EndParent() {
    auto* outcome = static_cast<ChildPromise*>(this->child)->Peek();
    if (outcome == nullptr || outcome->ok()) return false;
    ReturnError(static_cast<Promise&>(*this->parent), ErrorOf(*outcome));
    return true;
  }
};

template <class Promise, class X>
struct OrReturnTraits {
  using Value = std::remove_reference_t<X>;
  static_assert(Future<Value> || kIsOutcome<std::remove_cv_t<Value>>,
                "OrReturn takes a status, a StatusOr, or a future of one");

  static auto MakeAwaiter(Promise& promise, OrReturnOperand<X>& operand) {
    if constexpr (Future<Value>) {
      static_assert(kIsOutcome<FutureOutput<Value>>,
                    "OrReturn takes a future of a status or of a StatusOr");
      Value& future = operand.lvalue();
      return FutureOrReturnAwaiter<Promise, Value>(promise, future);
    } else {
      return OutcomeAwaiter<Promise, X>(promise, operand.get());
    }
  }
};

template <class Promise, class T>
struct OrReturnTraits<Promise, Co<T>> {
  static_assert(kIsOutcome<T>,
                "OrReturn takes a coroutine of a status or of a StatusOr");

  static auto MakeAwaiter(Promise& promise, OrReturnOperand<Co<T>>& operand) {
    return ChildOrReturnAwaiter<Promise, CoPromise<T>>(
        promise, Promise::Release(operand.get()));
  }
};

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_OR_RETURN_H_
