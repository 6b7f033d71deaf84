// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: request.h
// -----------------------------------------------------------------------------
//
// `Request` is a request that a server has received, or that a client sends.
//
//   http::Request request = co_await rouse::OrReturn(
//       http::Request::To("PUT", "http://example.com/notes/7"));
//   request.body = "buy milk";

#ifndef ROUSE_HTTP_REQUEST_H_
#define ROUSE_HTTP_REQUEST_H_

#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "rouse/http/body.h"
#include "rouse/http/headers.h"

namespace rouse::http {

// Request
//
// A request of any version of HTTP. Movable. Not thread-safe.
struct Request {
  Request() = default;
  Request(Request&&) noexcept = default;
  Request& operator=(Request&&) noexcept = default;

  // Returns a request for a client. `url` is like
  // "http://example.com:8080/path?query"; a fragment is left out. Returns
  // InvalidArgument for another text, such as a URL with a space, with a user
  // name, or without a scheme.
  static absl::StatusOr<Request> To(std::string_view method,
                                    std::string_view url);

  // Returns the path of `target`, without the query, or the query, without the
  // '?'. Nothing is decoded.
  std::string_view path() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  std::string_view query() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Method, in its own case: "GET".
  std::string method = "GET";
  // Target: a path with a query, such as "/notes?page=2"; "*" for the whole
  // server; "example.com:443" for the method CONNECT.
  std::string target = "/";
  // Fields. Of a request that was received, `Host` has the authority, even if
  // the client sent it in the target or in a pseudo-header.
  Headers headers;
  Body body;

  // On a client, the server: "http://example.com:8080". Empty on a server.
  std::string origin;
  // On a server, the client's address as text; empty if unknown. The view is
  // valid until the handler's future and the response have been destroyed.
  std::string_view peer;
};

}  // namespace rouse::http

#endif  // ROUSE_HTTP_REQUEST_H_
