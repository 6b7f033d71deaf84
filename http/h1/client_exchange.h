// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_exchange.h
// -----------------------------------------------------------------------------
//
// `ClientExchange` sends one request on a connection, and receives the
// response.

#ifndef ROUSE_HTTP_H1_CLIENT_EXCHANGE_H_
#define ROUSE_HTTP_H1_CLIENT_EXCHANGE_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/receiver.h"
#include "rouse/http/h1/sender.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// A connection to a server, between or within exchanges.
struct ClientConnection {
  explicit ClientConnection(std::unique_ptr<Io> io) : io(std::move(io)) {}

  // Returns whether the server has neither closed the connection nor sent
  // anything since the last exchange.
  bool IsAlive(Context& cx) {
    return in.empty() && in.PollMore(cx, *io).IsPending();
  }

  std::unique_ptr<Io> io;
  Receiver in{false};
  Sender sender;
  Instant idle_since;
};

// ClientExchange
//
// Not thread-safe, and not movable. Destroying it closes the connection, unless
// the connection was taken.
//
// The request's body is sent while the response is awaited and read. A server
// can therefore answer before it has read the body, and can answer as it reads.
class ClientExchange {
 public:
  ClientExchange(std::unique_ptr<ClientConnection> connection, Request request,
                 const ExchangeLimits& limits);
  ClientExchange(const ClientExchange&) = delete;
  ClientExchange& operator=(const ClientExchange&) = delete;

  // Begins the exchange. Returns InvalidArgument for a request that cannot be
  // sent.
  absl::Status Start();

  // Waits for the head of the response, whose body is then empty.
  PollResult<absl::StatusOr<Response>> Poll(Context& cx);

  // Reads from the body of the response, as `AsyncRead` requires.
  PollResult<absl::StatusOr<size_t>> PollBody(Context& cx,
                                              absl::Span<char> buffer);
  Headers TakeTrailers() { return std::move(connection_->in.trailers()); }

  // Returns how the length of the response's body is given.
  const HeadInfo& info() const { return info_; }
  // Returns whether the response was received to its end.
  bool is_done() const { return has_head_ && connection_->in.body_is_done(); }
  // Returns whether another exchange can use the connection.
  bool is_reusable() const {
    return is_done() && info_.keep_alive && !closes_ && is_sent_ &&
           write_error_.ok() && connection_->in.empty();
  }
  // Returns whether the server has sent anything.
  bool has_received() const { return has_received_; }

  std::unique_ptr<ClientConnection> TakeConnection() {
    return std::move(connection_);
  }
  // Returns the request, whose body is whole if it is text.
  Request TakeRequest();

 private:
  // Sends more of the request. Returns an error if the request's body fails.
  absl::Status Send(Context& cx);
  bool TimeIsUp(Context& cx, absl::Duration time);

  std::unique_ptr<ClientConnection> connection_;
  Request request_;
  const ExchangeLimits limits_;
  HeadInfo info_;
  bool is_sent_ = false;
  bool closes_ = false;  // the request says so
  bool has_received_ = false;
  bool has_head_ = false;
  // An error of writing. The server may have answered before it.
  absl::Status write_error_;
  Sleep timer_;
  bool timer_runs_ = false;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H1_CLIENT_EXCHANGE_H_
