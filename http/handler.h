// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handler.h
// -----------------------------------------------------------------------------
//
// The concept of a function that answers requests, and the interface behind
// which the protocols call the function.

#ifndef ROUSE_HTTP_HANDLER_H_
#define ROUSE_HTTP_HANDLER_H_

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/future/any_future.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http {

namespace internal {

template <class T>
concept ResponseOrStatus =
    std::same_as<T, Response> || std::same_as<T, absl::StatusOr<Response>>;

template <class T>
inline constexpr bool kGivesResponse = ResponseOrStatus<T>;
template <Future T>
inline constexpr bool kGivesResponse<T> = ResponseOrStatus<FutureOutput<T>>;

}  // namespace internal

// RequestHandler
//
// Satisfied by a callable that takes a `Request`, and returns a `Response` or
// an `absl::StatusOr<Response>`, or a future of either, such as a `Co`.
//
// A callable that returns a future must take the request by value, because a
// reference would dangle when the future is polled. The compiler rejects a
// `const Request&`, but cannot detect a `Request&&`.
template <class H>
concept RequestHandler =
    std::invocable<H&, Request> &&
    internal::kGivesResponse<std::invoke_result_t<H&, Request>>;

namespace internal {

// Handler
//
// A `RequestHandler` of any type.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  // Returns a future of the response. The handler must outlive the future.
  virtual AnyFuture<absl::StatusOr<Response>> Handle(Request&& request) = 0;
};

// Makes a `StatusOr` of a future's response.
template <class F>
class ResponseFuture {
 public:
  explicit ResponseFuture(F future) : future_(std::move(future)) {}

  PollResult<absl::StatusOr<Response>> Poll(Context& cx) {
    PollResult<Response> response = future_.Poll(cx);
    if (response.IsPending()) return kPending;
    return PollResult<absl::StatusOr<Response>>(std::in_place,
                                                *std::move(response));
  }
  void Trace(AwaitTrace& trace) const { trace.Add(future_); }

 private:
  F future_;
};

template <class H>
class HandlerOf final : public Handler {
 public:
  explicit HandlerOf(H handler) : handler_(std::move(handler)) {}

  AnyFuture<absl::StatusOr<Response>> Handle(Request&& request) override {
    using Result = std::invoke_result_t<H&, Request>;
    static_assert(
        ResponseOrStatus<Result> || !std::invocable<H&, const Request&>,
        "a handler that returns a future must take the Request by "
        "value: a reference would dangle");
    if constexpr (ResponseOrStatus<Result>) {
      return Ready(absl::StatusOr<Response>(handler_(std::move(request))));
    } else if constexpr (std::same_as<FutureOutput<Result>, Response>) {
      return ResponseFuture<Result>(handler_(std::move(request)));
    } else {
      return handler_(std::move(request));
    }
  }

 private:
  H handler_;
};

template <RequestHandler H>
std::shared_ptr<Handler> MakeHandler(H handler) {
  return std::make_shared<HandlerOf<H>>(std::move(handler));
}

}  // namespace internal

}  // namespace rouse::http

#endif  // ROUSE_HTTP_HANDLER_H_
