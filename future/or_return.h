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
// `x` is an `absl::Status`, an `absl::StatusOr<T>`, what has an `ok()` and
// converts to `absl::Status` (a `SleepResult`), or a future (a `Co` too) of one
// of these. The coroutine is a `Co` that returns `absl::Status` or
// `absl::StatusOr`.

#ifndef ROUSE_FUTURE_OR_RETURN_H_
#define ROUSE_FUTURE_OR_RETURN_H_

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/error_for.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/chain.h"
#include "rouse/future/co/co.h"
#include "rouse/future/co/output_slot.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"

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

// `absl::Status`, and what says whether it is one that is OK before it is made.
template <class T>
concept StatusLike =
    std::convertible_to<const T&, absl::Status> && requires(const T& outcome) {
      { outcome.ok() } -> std::same_as<bool>;
    };

// Only the error of an rvalue is moved out: another's is its owner's. What is
// like a status is converted to one, here and only if it is an error.
inline absl::Status ErrorOf(absl::Status&& status) { return std::move(status); }
inline absl::Status ErrorOf(const absl::Status& status) { return status; }
template <class T>
absl::Status ErrorOf(absl::StatusOr<T>&& result) {
  return std::move(result).status();
}
template <class T>
absl::Status ErrorOf(const absl::StatusOr<T>& result) {
  return result.status();
}

template <StatusLike T>
void ValueOf(const T&) {}
template <class T>
T ValueOf(absl::StatusOr<T>&& result) {
  return *std::move(result);
}
template <class T>
T ValueOf(const absl::StatusOr<T>&& result) {
  return *result;
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
inline constexpr bool kIsOutcome = StatusLike<T>;
template <class T>
inline constexpr bool kIsOutcome<absl::StatusOr<T>> = true;

// Ends the coroutine of `promise`, which is suspended.
template <class Promise>
void ReturnError(Promise& promise, absl::Status&& error) {
  // Else the `co_await` does not compile.
  if constexpr (requires { promise.return_value(std::move(error)); }) {
    using Result = std::remove_cvref_t<decltype(*promise.Peek())>;
    // What this throws is as if thrown by a `co_return`.
    ROUSE_TRY { promise.return_value(ErrorFor<Result>(std::move(error))); }
    ROUSE_CATCH_ALL { promise.KeepException(); }
    promise.Finish();
  }
}

// Of a status, what is like one, or a StatusOr: nothing to wait for.
template <class Promise, class X>
class OutcomeAwaiter {
 public:
  OutcomeAwaiter(Promise& promise, X&& outcome)
      : promise_(promise), outcome_(static_cast<X&&>(outcome)) {}

  bool await_ready() const { return outcome_.ok(); }
  void await_suspend(std::coroutine_handle<>) {
    ReturnError(promise_, ErrorOf(static_cast<X&&>(outcome_)));
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
      : Awaiter(promise, &kVTable), future_(future) {}

  bool await_ready() {
    return outcome_.FillBy([this] {
      return future_.Poll(parent->context());
    }) && outcome_.Peek()->ok();
  }
  void await_suspend(std::coroutine_handle<>) {
    if (outcome_.IsFull()) {
      EndParent();
    } else {
      parent->root->leaf = this;
    }
  }
  decltype(auto) await_resume() {
    RethrowFrom(*parent);
    return ValueOf(outcome_.Take());
  }

 private:
  void EndParent() {
    ReturnError(static_cast<Promise&>(*parent), ErrorOf(outcome_.Take()));
  }

  static bool PollAgain(Awaiter* awaiter, Context& cx) {
    auto* self = static_cast<FutureOrReturnAwaiter*>(awaiter);
    ROUSE_TRY {
      const auto poll = [self, &cx] { return self->future_.Poll(cx); };
      if (!self->outcome_.FillBy(poll)) return false;
      if (!self->outcome_.Peek()->ok()) self->EndParent();
    }
    ROUSE_CATCH_ALL { self->parent->KeepException(); }
    return true;
  }

  static void Trace(const Awaiter& awaiter, AwaitTrace& trace) {
    trace.Add(std::as_const(
        static_cast<const FutureOrReturnAwaiter&>(awaiter).future_));
  }

  static constexpr AwaiterVTable kVTable = {&PollAgain, &Trace};

  F& future_;
  OutputSlot<FutureOutput<F>> outcome_;
};

// Of a coroutine: as `ChildAwaiter`, with the same look.
template <class Promise, class ChildPromise>
class ChildOrReturnAwaiter : public ChildAwaiter<ChildPromise> {
  using Base = ChildAwaiter<ChildPromise>;

 public:
  ChildOrReturnAwaiter(Promise& promise, ChildPromise& child)
      : Base(promise, child, &kVTable) {}

  bool await_suspend(std::coroutine_handle<> frame) {
    return Base::await_suspend(frame) || EndParent();
  }
  decltype(auto) await_resume() {
    RethrowFrom(*this->parent);
    return ValueOf(Base::await_resume());
  }

 private:
  static bool OnFinished(Awaiter* awaiter, Context&) {
    auto* self = static_cast<ChildOrReturnAwaiter*>(awaiter);
    ROUSE_TRY { self->EndParent(); }
    ROUSE_CATCH_ALL { self->parent->KeepException(); }
    return true;
  }

  static constexpr AwaiterVTable kVTable = {&OnFinished, nullptr};

  // Whether the child's error has ended the parent.
  bool EndParent() {
    auto* outcome = static_cast<ChildPromise*>(this->child)->Peek();
    if (outcome == nullptr || outcome->ok()) return false;
    absl::Status error = ErrorOf(std::move(*outcome));
    // Gone before the parent is, as ever; and a chain that ends with one error
    // does so frame by frame, in constant stack.
    std::exchange(this->child, nullptr)->Destroy();
    ReturnError(static_cast<Promise&>(*this->parent), std::move(error));
    return true;
  }
};

// Whether a coroutine can end with an error.
template <class Promise>
concept ReturnsErrors = requires(Promise& promise, absl::Status error) {
  promise.return_value(std::move(error));
};

// Instantiated by the `co_await`: the compiler names its line.
template <class Promise>
struct CheckReturnsErrors {
  static_assert(ReturnsErrors<Promise>,
                "OrReturn ends the coroutine with an error: let it return "
                "absl::Status or absl::StatusOr; a Gen returns nothing, and "
                "yields the StatusOr");
};

template <class Promise, class X>
struct OrReturnTraits : CheckReturnsErrors<Promise> {
  using Value = std::remove_reference_t<X>;
  static_assert(Future<Value> || kIsOutcome<std::remove_cv_t<Value>>,
                "OrReturn takes a status, a StatusOr, or a future of one");
  static constexpr bool kWaits = Future<Value>;

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
struct OrReturnTraits<Promise, Co<T>> : CheckReturnsErrors<Promise> {
  static_assert(kIsOutcome<T>,
                "OrReturn takes a coroutine of a status or of a StatusOr");
  static constexpr bool kWaits = true;

  static auto MakeAwaiter(Promise& promise, OrReturnOperand<Co<T>>& operand) {
    return ChildOrReturnAwaiter<Promise, CoPromise<T>>(
        promise, Promise::Release(operand.get()));
  }
};

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_OR_RETURN_H_
