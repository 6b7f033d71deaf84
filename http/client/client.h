// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client.h
// -----------------------------------------------------------------------------
//
// An HTTP client, which keeps connections for further requests:
//
//   rouse::Co<absl::StatusOr<std::string>> Fetch(http::Client& client) {
//     http::Response response = co_await rouse::OrReturn(
//         client.Get("http://example.com/notes?page=2"));
//     if (response.status != 200) co_return absl::NotFoundError("no notes");
//     co_return co_await response.body.ReadAll(1 << 20);
//   }

#ifndef ROUSE_HTTP_CLIENT_CLIENT_H_
#define ROUSE_HTTP_CLIENT_CLIENT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/url.h"

namespace rouse::http {

namespace internal {
class ClientPool;
class ClientProtocol;
}  // namespace internal

// Connector
//
// Returns a connection to the server of `origin`. Must be callable by several
// threads at once. For "https", a connector connects by TLS; another connector
// connects to a Unix socket, through a proxy, or to an end of a `Duplex`.
using Connector = std::function<Co<absl::StatusOr<ByteStream>>(Origin origin)>;

// ConnectPlain()
//
// The default connector: connects by TCP, as `ConnectTcp()` does. Returns
// Unimplemented for "https", and otherwise the errors of `ConnectTcp()`.
Co<absl::StatusOr<ByteStream>> ConnectPlain(Origin origin);

// ClientOptions
//
// A duration of `absl::InfiniteDuration()` switches a time limit off.
struct ClientOptions {
  // Not an aggregate, which g++ 12 would destroy twice in a `co_await`.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  ClientOptions() {}

  // Most connections to one server. Further requests wait. 0 counts as 1.
  size_t max_connections_per_origin = 64;
  // Most connections to one server that are kept while no request needs them,
  // and how long.
  size_t max_idle_per_origin = 16;
  absl::Duration idle_timeout = absl::Seconds(30);

  // Most time to connect.
  absl::Duration connect_timeout = absl::Seconds(10);
  // Most time without an answer, after the last part of the request was sent.
  absl::Duration response_timeout = absl::Seconds(30);
  // Most time without progress while the body of the response is read.
  absl::Duration progress_timeout = absl::Seconds(30);

  // Most bytes and fields of the header of a response. For more than 80 KiB,
  // the parser's own limit must also be raised with
  // `http_parser_set_max_header_size()`, for the whole program.
  size_t max_header_bytes = size_t{16} << 10;
  size_t max_header_count = 100;

  // Makes connections.
  Connector connect = &ConnectPlain;

  // Null, or `http::h2::ClientProtocol()` (http/h2/client_protocol.h). The
  // client then also speaks HTTP/2, in which many requests share a connection:
  // on connections whose two ends have agreed on "h2" by ALPN.
  std::shared_ptr<const internal::ClientProtocol> http2;
};

// Client
//
// A handle: copies share the connections. Thread-safe, except for assigning and
// destroying the same object. The connections that no request uses are closed
// when the last copy is destroyed. Requests under way, and the bodies of
// responses, do not need the `Client`.
//
// REQUIRES: requests run in a task of a runtime, or in its `BlockOn()`.
//
// Redirects are returned like other responses (`FollowRedirects()` follows
// them), cookies are not kept, and bodies are not decompressed.
class Client {
 public:
  Client() : Client(ClientOptions()) {}
  explicit Client(ClientOptions options);

  // Sends a GET request for `url`: see `Request::To()` and `Send()`.
  Co<absl::StatusOr<Response>> Get(std::string url) const;

  // Sends `request`, and returns the response when its header has arrived. The
  // request's `origin` names the server. The body of the response is read from
  // the connection: read it to the end, so that the connection can be used
  // again, or destroy it, which closes the connection or, over HTTP/2, cancels
  // the request. `Host` is added if it is missing; `Content-Length` and
  // `Transfer-Encoding` follow from the body.
  //
  // Any status of the response is a success. The request's body may still be
  // sent while the response's body is read.
  //
  // A server may close a kept connection at any time. A request that finds its
  // kept connection closed, before the server has sent anything, is sent once
  // more on a new connection if that is safe: the method is GET, HEAD, OPTIONS,
  // TRACE, PUT or DELETE, and the body is text. Otherwise the result is
  // Unavailable, and the caller must decide. Over HTTP/2 a server can also
  // refuse a request before execution. Such a request is sent again, whatever
  // the method is, if the body is text: see `http::h2::ClientProtocol()`.
  //
  // Cancellation: destroying the future closes the request's connection, and no
  // other. Over HTTP/2, it cancels the request, and the connection goes on. The
  // server may have executed the request.
  //
  //   InvalidArgument     the request is not valid; or the server has broken
  //                       the rules of HTTP
  //   DeadlineExceeded    a limit of time
  //   ResourceExhausted   the header of the response exceeds
  //                       `max_header_bytes` or `max_header_count`
  //   Unavailable         the server closed the connection, or reset the
  //                       request
  //   Unimplemented       the server changed the protocol (101)
  //
  // and the errors of the connector, of the connection, and of the request's
  // body. The message names the method and the URL.
  Co<absl::StatusOr<Response>> Send(Request request) const;

  // Returns the number of connections to all servers that no request uses, and
  // that further requests can use.
  size_t idle_connections() const;

 private:
  std::shared_ptr<internal::ClientPool> pool_;
};

}  // namespace rouse::http

#endif  // ROUSE_HTTP_CLIENT_CLIENT_H_
