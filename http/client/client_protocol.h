// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_protocol.h
// -----------------------------------------------------------------------------
//
// `ClientProtocol` is the interface behind which a client speaks a protocol in
// which requests share a connection. http/h2/ implements the interface:
//
//   http::ClientOptions options;
//   options.http2 = http::h2::ClientProtocol();

#ifndef ROUSE_HTTP_CLIENT_CLIENT_PROTOCOL_H_
#define ROUSE_HTTP_CLIENT_CLIENT_PROTOCOL_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// The limits of an exchange of a request and its response.
struct ExchangeLimits {
  size_t max_header_bytes;
  size_t max_header_count;
  absl::Duration response_timeout;
  absl::Duration progress_timeout;
};

// Repeat
//
// Says whether a request that has failed can be sent again.
enum class Repeat {
  // The server may have executed the request, or a part of the body is lost.
  kNever,
  // The connection was lost before the server has sent anything of the
  // response. A safe request can be repeated if the connection was a kept one.
  kIfSafe,
  // The server has refused the request, and has surely not executed it.
  kOnce,
  // The connection, which has answered other requests, takes no more, and the
  // request was not executed; or another connection may have room.
  kFreely,
};

// SharedExchange
//
// A request on a shared connection. Not thread-safe. Destroying the object
// cancels the request, unless the response was returned.
class SharedExchange {
 public:
  SharedExchange() = default;
  SharedExchange(const SharedExchange&) = delete;
  SharedExchange& operator=(const SharedExchange&) = delete;
  virtual ~SharedExchange() = default;

  // Waits for the header of the response. Destroying the response's body
  // cancels the request. Errors are those of `Client::Send()`.
  virtual PollResult<absl::StatusOr<Response>> Poll(Context& cx) = 0;

  // After an error: return whether the request can be sent again, and the
  // request.
  virtual Repeat repeat() const = 0;
  virtual Request TakeRequest() = 0;
};

// SharedConnection
//
// A connection that several requests use at once. Thread-safe. When the object
// is destroyed, the connection ends after the last of its requests.
class SharedConnection {
 public:
  SharedConnection() = default;
  SharedConnection(const SharedConnection&) = delete;
  SharedConnection& operator=(const SharedConnection&) = delete;
  virtual ~SharedConnection() = default;

  // Begins a request. A request beyond the server's limit waits. Returns null,
  // and leaves the request as it is, if the connection takes no more requests.
  virtual std::unique_ptr<SharedExchange> Begin(Request& request) = 0;

  // Lets the requests that wait fail, so that they are sent on other
  // connections.
  virtual void ReleaseWaiting() = 0;

  // Returns whether the connection takes requests.
  virtual bool is_open() const = 0;
  // Returns the number of requests under way, and the number beyond which
  // requests wait.
  virtual size_t requests() const = 0;
  virtual size_t most_requests() const = 0;
};

// ClientProtocol
//
// Const members are thread-safe.
class ClientProtocol {
 public:
  ClientProtocol() = default;
  ClientProtocol(const ClientProtocol&) = delete;
  ClientProtocol& operator=(const ClientProtocol&) = delete;
  virtual ~ClientProtocol() = default;

  // Returns whether a new connection carries this protocol, rather than
  // HTTP/1.1.
  virtual bool Carries(const Io& io) const = 0;

  // Begins to use a connection, in a task of the current runtime. The
  // connection ends when no request has used it for `idle_timeout`.
  virtual std::shared_ptr<SharedConnection> Start(
      std::unique_ptr<Io> io, const ExchangeLimits& limits,
      absl::Duration idle_timeout) const = 0;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_CLIENT_CLIENT_PROTOCOL_H_
