// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handler_call.h
// -----------------------------------------------------------------------------
//
// `HandlerCall` calls a handler for one request after another, and makes errors
// of its exceptions. The servers of HTTP/1.1 and of HTTP/2 share the call, and
// what they check and log.

#ifndef ROUSE_HTTP_SERVING_HANDLER_CALL_H_
#define ROUSE_HTTP_SERVING_HANDLER_CALL_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/any_future.h"
#include "rouse/future/await_trace.h"
#include "rouse/http/handler.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/waker/context.h"

namespace rouse::http::internal {

// HandlerCall
//
// Not thread-safe. Movable between calls.
class HandlerCall {
 public:
  // Calls the handler, or returns its exception. Takes `request`, and destroys
  // what the handler leaves of it.
  absl::Status Start(Handler& handler, std::optional<Request>& request);
  // Returns whether the handler's future exists.
  bool is_running() const { return future_.has_value(); }
  // Returns whether the future has ended. If so, destroys the future and sets
  // `answer`, which has the exception, if any.
  // REQUIRES: `is_running()`.
  bool Poll(Context& cx, std::optional<absl::StatusOr<Response>>& answer);
  // Destroys the future, if any.
  void Reset() { future_.reset(); }

  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) trace.Add(*future_);
  }

 private:
  std::optional<AnyFuture<absl::StatusOr<Response>>> future_;
};

// CurrentException()
//
// Returns the exception that is being handled, as a status.
absl::Status CurrentException();

// CheckStatus()
//
// Returns InvalidArgument if no response can have the status of `response`.
absl::Status CheckStatus(const Response& response);

// NameOfPeer()
//
// Returns the name that the log gives to a client with the address `peer`.
inline std::string_view NameOfPeer(std::string_view peer) {
  return peer.empty() ? "a client" : peer;
}

// LogFailure()
//
// Logs the failure of an answer to a request.
void LogFailure(std::string_view method, std::string_view target,
                std::string_view peer, const absl::Status& error);

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_SERVING_HANDLER_CALL_H_
