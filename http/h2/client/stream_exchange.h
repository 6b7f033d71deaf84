// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_exchange.h
// -----------------------------------------------------------------------------
//
// `StreamExchange` is the user's side of a request on an HTTP/2 connection.

#ifndef ROUSE_HTTP_H2_CLIENT_STREAM_EXCHANGE_H_
#define ROUSE_HTTP_H2_CLIENT_STREAM_EXCHANGE_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/http/body.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/shared/body_sender.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// StreamUse
//
// Owns the user's interest in a stream: destroying the object cancels the
// request, unless the stream has ended. Reads the source of the request's body,
// which is the user's code, in the user's task. Not thread-safe.
class StreamUse {
 public:
  // `body` is the body of the request if that body has a source.
  StreamUse(std::shared_ptr<ClientLink> link,
            std::shared_ptr<ClientStream> stream, Body body);
  StreamUse(const StreamUse&) = delete;
  StreamUse& operator=(const StreamUse&) = delete;
  ~StreamUse() { Cancel(/*has_timed_out=*/false); }

  // Reads from the source as far as the stream has room. Returns an error if
  // the source has failed, and then has cancelled the request.
  // REQUIRES: the request was submitted.
  absl::Status PollUpload(Context& cx);
  // Returns whether a part of the source was read.
  bool has_begun() const { return has_begun_; }
  // Returns whether the server has nothing to do before the source has more.
  bool waits_for_source() const {
    return has_begun_ && !is_done_ && sender_.waits_for_source();
  }
  // Returns the body of a request that was not begun.
  Body TakeBody() { return std::move(sender_.body()); }

  // Cancels the request, and gives up the unread part of the response.
  void Cancel(bool has_timed_out);

  const std::shared_ptr<ClientLink>& link() const { return link_; }
  const std::shared_ptr<ClientStream>& stream() const { return stream_; }

 private:
  const std::shared_ptr<ClientLink> link_;
  const std::shared_ptr<ClientStream> stream_;
  BodySender sender_;
  bool has_begun_ = false;
  bool is_done_;
};

// StreamExchange
//
// See `SharedExchange`.
class StreamExchange final : public SharedExchange {
 public:
  explicit StreamExchange(std::unique_ptr<StreamUse> use);

  PollResult<absl::StatusOr<Response>> Poll(Context& cx) override;
  Repeat repeat() const override;
  Request TakeRequest() override;

 private:
  // Makes the response, with its body.
  Response TakeResponse();
  bool IsOverdue(Context& cx);

  std::unique_ptr<StreamUse> use_;  // null after the response was returned
  Sleep timer_;
  bool timer_runs_ = false;
};

// CheckRequest()
//
// Returns InvalidArgument for a request that cannot be sent,
// ResourceExhausted if its fields are too large, and Unimplemented for CONNECT.
absl::Status CheckRequest(const Request& request);

// RefusedExchange
//
// A request that `CheckRequest()` has refused.
class RefusedExchange final : public SharedExchange {
 public:
  RefusedExchange(absl::Status error, Request request)
      : error_(std::move(error)), request_(std::move(request)) {}

  PollResult<absl::StatusOr<Response>> Poll(Context&) override {
    return absl::StatusOr<Response>(error_);
  }
  Repeat repeat() const override { return Repeat::kNever; }
  Request TakeRequest() override { return std::move(request_); }

 private:
  const absl::Status error_;
  Request request_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_CLIENT_STREAM_EXCHANGE_H_
