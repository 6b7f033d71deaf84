// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: or_return.h
// -----------------------------------------------------------------------------
//
// `co_await OrReturn(x)` returns the value of `x`, or ends the coroutine with
// the error in `x`:
//
//   rouse::Co<absl::StatusOr<User>> Load(Database& db, int id) {
//     Row row = co_await rouse::OrReturn(db.Find(id));
//     co_await rouse::OrReturn(Check(row));   // an absl::Status
//     co_return co_await rouse::OrReturn(Parse(row));
//   }
//
// `x` is an `absl::Status`, an `absl::StatusOr<T>`, an object that has an
// `ok()` and converts to `absl::Status` (such as a `SleepResult`), or a future
// (such as a `Co`) of one of these. The coroutine must be a `Co` that returns
// `absl::Status` or `absl::StatusOr`, or a `Gen` that yields one of these: the
// error is then the last item of the stream.

#ifndef ROUSE_FUTURE_OR_RETURN_H_
#define ROUSE_FUTURE_OR_RETURN_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <coroutine>
#include <source_location>
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

// Refers to `x` until the end of the full expression. `OrReturn(x)` returns
// this type.
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
// For use directly after `co_await` only. The `co_await` expression returns
// void for a status, a reference to the value for a `StatusOr` that is an
// lvalue, and the value otherwise.
//
// Ending the coroutine destroys the locals as a `co_return` does, when the
// caller takes the result.
template <class X>
internal::OrReturnOperand<X> OrReturn(X&& x ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal::OrReturnOperand<X>(std::forward<X>(x));
}

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

namespace internal {

// Satisfied by `absl::Status`, and by types that can be tested with `ok()`
// before a conversion to `absl::Status`.
template <class T>
concept StatusLike =
    std::convertible_to<const T&, absl::Status> && requires(const T& outcome) {
      { outcome.ok() } -> std::same_as<bool>;
    };

// Returns the error of an outcome. The error is moved out of an rvalue only,
// because any other outcome keeps its error. A status-like object is converted
// to a status here, and only if it is an error.
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

// Ends the coroutine of `promise`, which must be suspended.
template <class Promise>
void ReturnError(Promise& promise, absl::Status&& error) {
  // Otherwise the `co_await` does not compile.
  if constexpr (requires { promise.return_value(std::move(error)); }) {
    using Result = std::remove_cvref_t<decltype(*promise.Peek())>;
    // An exception from here is treated like an exception from a `co_return`.
    ROUSE_TRY { promise.return_value(ErrorFor<Result>(std::move(error))); }
    ROUSE_CATCH_ALL { promise.KeepException(); }
    promise.Finish();
  } else if constexpr (requires { promise.YieldLast(std::move(error)); }) {
    ROUSE_TRY {
      promise.YieldLast(ErrorFor<typename Promise::Item>(std::move(error)));
    }
    ROUSE_CATCH_ALL { promise.KeepException(); }
    promise.Finish();
  }
}

// Awaits a status, a status-like object or a `StatusOr`: there is nothing to
// wait for.
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

// Awaits a future like `FutureAwaiter`, but checks the outcome before the frame
// is resumed.
template <class Promise, class F>
class FutureOrReturnAwaiter : public Awaiter {
 public:
  FutureOrReturnAwaiter(Promise& promise, F& future, std::source_location where)
      : Awaiter(promise, where), future_(future) {}

  bool await_ready() {
    return outcome_.FillBy([this] { return future_.Poll(frame->context()); }) &&
           outcome_.Peek()->ok();
  }
  void await_suspend(std::coroutine_handle<>) {
    if (outcome_.IsFull()) {
      End(*frame);
    } else {
      frame->WaitIn(*this, kVTable);
    }
  }
  decltype(auto) await_resume() {
    // The frame was resumed, but not because the future is ready.
    if (!outcome_.IsFull()) [[unlikely]]
      RethrowKept();
    return ValueOf(outcome_.Take());
  }

 private:
  // Ends the frame with the error.
  void End(Frame& ended) {
    ReturnError(static_cast<Promise&>(ended), ErrorOf(outcome_.Take()));
  }

  static bool PollAgain(Awaiter* awaiter, Frame& waiting, Context& cx) {
    auto* self = static_cast<FutureOrReturnAwaiter*>(awaiter);
    ROUSE_TRY {
      const auto poll = [self, &cx] { return self->future_.Poll(cx); };
      if (!self->outcome_.FillBy(poll)) return false;
      if (!self->outcome_.Peek()->ok()) self->End(waiting);
    }
    ROUSE_CATCH_ALL {
      self->outcome_.Clear();
      self->KeepException();
    }
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

// Awaits a coroutine like `ChildAwaiter`, but checks the outcome before the
// frame is resumed.
template <class Promise, class ChildPromise>
class ChildOrReturnAwaiter : public ChildAwaiter<ChildPromise> {
  using Base = ChildAwaiter<ChildPromise>;

 public:
  ChildOrReturnAwaiter(ChildPromise& child, std::source_location where)
      : Base(child, where, &kVTable) {}

  bool await_suspend(std::coroutine_handle<> handle) {
    return Base::await_suspend(handle) || EndParent(Frame::Of(handle));
  }
  decltype(auto) await_resume() {
    // The functions are there unless an exception, whose representation is a
    // pointer too, has taken their place.
    if (this->vtable != &kVTable) [[unlikely]]
      this->RethrowKept();
    return ValueOf(Base::await_resume());
  }

 private:
  static bool OnFinished(Awaiter* awaiter, Frame& parent, Context&) {
    auto* self = static_cast<ChildOrReturnAwaiter*>(awaiter);
    ROUSE_TRY { self->EndParent(parent); }
    ROUSE_CATCH_ALL { self->KeepException(); }
    return true;
  }

  static constexpr AwaiterVTable kVTable = {&OnFinished, nullptr};

  // Returns whether the child's error has ended the parent.
  bool EndParent(Frame& parent) {
    auto* outcome = static_cast<ChildPromise*>(this->child)->Peek();
    if (outcome == nullptr || outcome->ok()) return false;
    absl::Status error = ErrorOf(std::move(*outcome));
    // As always, the child is destroyed before the parent. A chain that ends
    // with a single error therefore unwinds frame by frame, in constant stack
    // space.
    std::exchange(this->child, nullptr)->Destroy();
    ReturnError(static_cast<Promise&>(parent), std::move(error));
    return true;
  }
};

// Satisfied if a coroutine with this promise can end with an error.
template <class Promise>
concept ReturnsErrors = requires(Promise& promise, absl::Status error) {
  promise.return_value(std::move(error));
} || requires(Promise& promise, absl::Status error) {
  promise.YieldLast(std::move(error));
};

// Instantiated by the `co_await`, so that the compiler names the line.
template <class Promise>
struct CheckReturnsErrors {
  static_assert(
      ReturnsErrors<Promise>,
      "OrReturn returns an error from the coroutine: let the coroutine return "
      "absl::Status or absl::StatusOr; let a Gen yield absl::StatusOr, of "
      "which the error is the last item");
};

template <class Promise, class X>
struct OrReturnTraits : CheckReturnsErrors<Promise> {
  using Value = std::remove_reference_t<X>;
  static_assert(Future<Value> || kIsOutcome<std::remove_cv_t<Value>>,
                "OrReturn takes an absl::Status, an absl::StatusOr, or a "
                "future of either");

  static auto MakeAwaiter(Promise& promise, OrReturnOperand<X>& operand,
                          std::source_location where) {
    if constexpr (Future<Value>) {
      static_assert(kIsOutcome<FutureOutput<Value>>,
                    "OrReturn takes a future whose output is absl::Status or "
                    "absl::StatusOr");
      Value& future = operand.lvalue();
      return FutureOrReturnAwaiter<Promise, Value>(promise, future, where);
    } else {
      return OutcomeAwaiter<Promise, X>(promise, operand.get());
    }
  }
};

template <class Promise, class T>
struct OrReturnTraits<Promise, Co<T>> : CheckReturnsErrors<Promise> {
  static_assert(
      kIsOutcome<T>,
      "OrReturn takes a coroutine that returns absl::Status or absl::StatusOr");

  static auto MakeAwaiter(Promise&, OrReturnOperand<Co<T>>& operand,
                          std::source_location where) {
    return ChildOrReturnAwaiter<Promise, CoPromise<T>>(
        Promise::Release(operand.get()), where);
  }
};

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_OR_RETURN_H_
