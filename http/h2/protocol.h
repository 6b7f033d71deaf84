// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: protocol.h
// -----------------------------------------------------------------------------
//
// Lets an HTTP server answer HTTP/2, besides HTTP/1.1:
//
//   http::ServerOptions options;
//   options.http2 = http::h2::Protocol();
//   co_return co_await http::Serve(std::move(listener), &Handle, options);
//
// Over TLS, the acceptor must offer the protocol by ALPN:
//
//   TlsAcceptor::Builder().Alpn({"h2", "http/1.1"})

#ifndef ROUSE_HTTP_H2_PROTOCOL_H_
#define ROUSE_HTTP_H2_PROTOCOL_H_

#include <memory>

#include "rouse/http/h2/options.h"
#include "rouse/http/server/protocol.h"

namespace rouse::http::h2 {

// Protocol()
//
// Returns the value for `ServerOptions::http2`. The value is constant: several
// servers, on any threads, can use it at once.
//
// # Handlers
//
// Each request is a task of the current runtime, so that the requests of a
// connection are answered at once, on several threads, and in any order. A
// handler therefore is called concurrently even by `ServeConnection()`. A
// request that the client resets, and all requests of a connection that ends,
// are aborted: the futures of their handlers are destroyed. `Serve()` waits for
// this, and so does `ServeConnection()`. The destructors of their futures do
// not, because each task destroys its own future.
//
// The body of a request can be read in the handler's task or in another one.
// Reading fails with Cancelled after the response was sent, and also after the
// client has reset the request.
//
// # Errors
//
// A connection ends with the errors of `ServeConnection()`: InvalidArgument
// includes a client that floods the server with frames of no use, and
// ResourceExhausted says that nghttp2 had no memory.
//
// # Differences from HTTP/1.1
//
// * The limits and the answers are those of `ServerOptions` and `Serve()`.
//   `max_header_bytes` counts the bytes of each field's name and value, and 32
//   more (RFC 9113, section 6.5.2). A message that the RFC calls malformed
//   resets its stream, or ends the connection. The connection goes on after a
//   request that is answered with an error, except for a header that is late,
//   or exceeds `max_header_bytes` four times, which gets no answer.
// * `progress_timeout` ends the stream whose window the client does not open,
//   and the connection only if the client takes no bytes at all.
// * If the source of a response's body fails, the stream is reset, and the
//   connection goes on. So does the connection of a body that the handler has
//   not read: the client is asked to stop.
// * Trailers of a response are sent whether or not the size is known.
// * "Connection: close" in a response lets the connection end after the
//   requests under way. `Response::upgrade` is answered with 500.
// * After `ServerOptions::stop` was cancelled, the client is notified with
//   GOAWAY. Requests that were on their way are still answered.
//
// Cost: a request is a task and a few objects in memory; figures are in
// docs/guide/http.md.
std::shared_ptr<const internal::Protocol> Protocol(
    const Options& options = Options());

}  // namespace rouse::http::h2

#endif  // ROUSE_HTTP_H2_PROTOCOL_H_
