// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: catch_exception.h
// -----------------------------------------------------------------------------
//
// Makes a status of the exception of a future, as joining a task does:
//
//   absl::StatusOr<Reply> reply = co_await rouse::CatchException(Ask(plugin));
//
// To read the exception itself, keep the future:
//
//   auto caught = rouse::CatchException(Ask(plugin));
//   absl::StatusOr<Reply> reply = co_await caught;
//   if (caught.exception() != nullptr) Report(caught.exception());

#ifndef ROUSE_FUTURE_SINGLE_CATCH_EXCEPTION_H_
#define ROUSE_FUTURE_SINGLE_CATCH_EXCEPTION_H_

#include <exception>
#include <optional>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/single/status_output.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Returns an error with the text of `exception`, which must not be null.
absl::Status ExceptionToStatus(const std::exception_ptr& exception);

}  // namespace internal

// CatchExceptionFuture
//
// See `CatchException()`. Can be moved when the future inside can.
template <class F>
class [[nodiscard]] CatchExceptionFuture {
 public:
  using Output = internal::StatusOutput<FutureOutput<F>>;

  explicit CatchExceptionFuture(F&& future)
      : future_(std::in_place, std::forward<F>(future)) {}

  PollResult<Output> Poll(Context& cx) {
    if (!future_.has_value()) {
      Panic(
          "CatchException was polled after it completed; create a new "
          "CatchException");
    }
    ROUSE_TRY {
      PollResult<FutureOutput<F>> result = future_->get().Poll(cx);
      if (result.IsPending()) return kPending;
      future_.reset();
      return PollResult<Output>(std::in_place,
                                internal::ToStatusOutput(std::move(result)));
    }
    ROUSE_CATCH_ALL { exception_ = std::current_exception(); }
    future_.reset();
    return PollResult<Output>(std::in_place,
                              internal::StatusOutputError<FutureOutput<F>>(
                                  internal::ExceptionToStatus(exception_)));
  }

  // Returns the exception that has ended the future, or null if there was none.
  const std::exception_ptr& exception() const { return exception_; }

  bool BorrowsClosure() const {
    return future_.has_value() && internal::BorrowsClosure(future_->get());
  }
  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) trace.Add(future_->get());
  }

 private:
  std::optional<internal::OwnedOrRef<F>> future_;  // empty once finished
  std::exception_ptr exception_;
};

// CatchException()
//
// Returns a future with the output of `future`, in which an exception is an
// error. The output is `absl::Status` for void and for a status, and otherwise
// `absl::StatusOr<T>`. A `StatusOr` is not nested, and a reference is a
// `std::reference_wrapper`.
//
// An rvalue is moved in, and destroyed before the result is ready. A destructor
// that throws ends the program. An lvalue is polled in place and must outlive
// the result. A callable that returns a future is kept, as by `Join()`.
//
// Errors: `kInternal` if `future` throws an exception, including a `Panic()`.
// The message contains the text of the exception. Errors of `future` are passed
// on. Without exceptions, the program aborts at a throw, as everywhere.
template <IntoFuture F>
CatchExceptionFuture<internal::FutureFrom<F>> CatchException(F&& future) {
  return CatchExceptionFuture<internal::FutureFrom<F>>(
      internal::ToFuture<F>(future));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_SINGLE_CATCH_EXCEPTION_H_
