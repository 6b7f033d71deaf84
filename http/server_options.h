// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_options.h
// -----------------------------------------------------------------------------
//
// The limits of a server:
//
//   http::ServerOptions options;
//   options.max_body_bytes = 100 << 20;
//   options.stop = stop;

#ifndef ROUSE_HTTP_SERVER_OPTIONS_H_
#define ROUSE_HTTP_SERVER_OPTIONS_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "rouse/sync/cancellation_token.h"

namespace rouse::http {

namespace internal {
class Protocol;
}  // namespace internal

// ServerOptions
//
// Every limit is on by default, except `request_timeout`. A duration of
// `absl::InfiniteDuration()` switches a time limit off.
struct ServerOptions {
  // Not an aggregate, which g++ 12 would destroy twice in a `co_await`.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  ServerOptions() {}

  // Most bytes of the request line and the header. A larger header is answered
  // with 431. For more than 80 KiB, the parser's own limit must also be raised
  // with `http_parser_set_max_header_size()`, for the whole program.
  size_t max_header_bytes = size_t{16} << 10;
  // Most fields of a header, and of the trailers. More fields of a header are
  // answered with 431, and more trailers with 400.
  size_t max_header_count = 100;
  // Most bytes of a request's body. A larger body is answered with 413, and
  // reading beyond the limit fails with ResourceExhausted.
  uint64_t max_body_bytes = uint64_t{1} << 20;
  // Most connections of one `Serve()`. Further connections wait in the queue of
  // the system until a connection ends. 0 counts as 1.
  size_t max_connections = 10'000;

  // Most time from the first byte of a request to the end of its header; 408.
  absl::Duration header_timeout = absl::Seconds(10);
  // Most time between two requests, and before the first request. The
  // connection is then closed.
  absl::Duration idle_timeout = absl::Minutes(1);
  // Most time without progress while a body is received, or a response is sent.
  // A read of the body then fails with DeadlineExceeded, and the answer is 408
  // unless the handler gives another; a response ends with the connection.
  absl::Duration progress_timeout = absl::Seconds(30);
  // Most time from the end of a request's header to the end of the response.
  // The handler's future is then destroyed, and the answer is 408 if it waits
  // for the body, and otherwise 503. Set this limit if clients are not trusted:
  // a body of 1 MiB that arrives byte by byte makes progress for a year.
  absl::Duration request_timeout = absl::InfiniteDuration();

  // Lets a client end its side of the connection and still wait for the
  // response. By default the handler's future is destroyed when the client
  // closes the connection while the future waits, unless a part of the
  // request's body is unread.
  bool allow_half_close = false;

  // When cancelled: no connection is accepted any more, connections between
  // requests are closed, and requests under way are finished, each with
  // "Connection: close".
  CancellationToken stop;
  // Most time that `Serve()` waits for the requests under way after `stop` was
  // cancelled. The connections that are left are then closed.
  absl::Duration drain_timeout = absl::Seconds(10);

  // Null, or `http::h2::Protocol()` (http/h2/protocol.h). The server then also
  // answers HTTP/2: over TLS if the two ends have agreed on "h2" by ALPN, and
  // without ALPN if the first bytes of the client are those of HTTP/2.
  std::shared_ptr<const internal::Protocol> http2;
};

}  // namespace rouse::http

#endif  // ROUSE_HTTP_SERVER_OPTIONS_H_
