// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_protocol.h
// -----------------------------------------------------------------------------
//
// Lets an HTTP client speak HTTP/2, besides HTTP/1.1:
//
//   http::ClientOptions options;
//   options.http2 = http::h2::ClientProtocol();
//   options.connect = [connector](http::Origin origin) {
//     return ConnectWithTls(connector, std::move(origin));
//   };
//   http::Client client(std::move(options));
//
// The connector must offer the protocol by ALPN:
//
//   TlsConnector::Builder().Alpn({"h2", "http/1.1"})

#ifndef ROUSE_HTTP_H2_CLIENT_CLIENT_PROTOCOL_H_
#define ROUSE_HTTP_H2_CLIENT_CLIENT_PROTOCOL_H_

#include <cstdint>
#include <memory>

#include "rouse/http/client/client_protocol.h"

namespace rouse::http::h2 {

// ClientLimits
//
// The choice of the protocol, and the limits of each connection of a client. A
// number that is out of its range counts as the nearest number of the range.
struct ClientLimits {
  // Not an aggregate, which g++ 12 would destroy twice in a `co_await`.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  ClientLimits() {}

  // Speaks HTTP/2 on connections that know no ALPN, too, such as those in clear
  // text. A server of HTTP/1.1 alone does not understand this.
  bool prior_knowledge = false;
  // Most bytes of a response's body that can arrive before the body is read:
  // from 1 to 2^31 - 1.
  uint32_t stream_window_bytes = uint32_t{256} << 10;
  // Most unread bytes of all bodies of a connection, and thereby most memory
  // for these bytes: from 65,535, the protocol's own number, to 2^31 - 1. A
  // connection with this many unread bytes receives no further body, not even
  // of other responses, until a body is read or destroyed.
  uint32_t connection_window_bytes = uint32_t{16} << 20;
};

// ClientProtocol()
//
// Returns the value for `ClientOptions::http2`. The value is constant: several
// clients, on any threads, can use it at once.
//
// # Which protocol
//
// A connection whose stream has a member `alpn()` that returns "h2", such as a
// `TlsStream`, carries HTTP/2. So does a connection whose `alpn()` is empty or
// missing, with `ClientLimits::prior_knowledge`. Any other connection carries
// HTTP/1.1.
//
// # Connections
//
// The requests to a server share a connection. When the server's limit of
// concurrent requests is reached, one more connection is opened, up to
// `ClientOptions::max_connections_per_origin`; requests meanwhile wait on the
// connection with the fewest requests. Only one connection to a server is made
// at once, as long as the server is not known to speak only HTTP/1.1. A new
// connection carries one request until the server's limit has arrived.
//
// Each connection is a task of the runtime whose request has opened it. The
// task ends, with the connection, when no request has used the connection for
// `idle_timeout`, when the last copy of the client and the last response were
// destroyed, or when the server says so (GOAWAY) and the requests under way
// have ended. A connection on which nothing arrived between a request and its
// `response_timeout` takes no further requests. `max_idle_per_origin` does not
// count these connections.
//
// # Requests
//
// A request that the server has refused before execution (REFUSED_STREAM) is
// sent once more if its body is text. So is a request beyond the last number of
// a GOAWAY, and not only once if the connection has answered other requests. A
// request that waits while its connection ends moves to another connection. Its
// body may then have a source, which is read only after the request was sent.
//
// Cancellation: destroying the future of `Client::Send()`, or the body of a
// response, resets the request (CANCEL). Other requests go on.
//
// # Differences from HTTP/1.1
//
// * `max_header_bytes` counts the bytes of each field's name and value, and 32
//   more (RFC 9113, section 6.5.2).
// * `progress_timeout` also limits the time in which the connection takes no
//   bytes at all.
// * The field "Connection: close" does not end the connection.
// * Trailers of a request are sent whether or not the size is known.
// * CONNECT fails with Unimplemented.
//
// Cost: a connection is a task, and a request is a few objects in memory.
std::shared_ptr<const internal::ClientProtocol> ClientProtocol(
    const ClientLimits& limits = ClientLimits());

}  // namespace rouse::http::h2

#endif  // ROUSE_HTTP_H2_CLIENT_CLIENT_PROTOCOL_H_
