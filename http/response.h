// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: response.h
// -----------------------------------------------------------------------------
//
// `Response` is a response that a server sends, or that a client has received.
//
//   co_return http::Response::Json(R"({"ok": true})");
//   co_return http::Response::Text("no such note\n", 404);

#ifndef ROUSE_HTTP_RESPONSE_H_
#define ROUSE_HTTP_RESPONSE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "rouse/future/co.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/headers.h"

namespace rouse::http {

// StatusText()
//
// Returns the usual phrase for the number of a status, such as "Not Found" for
// 404, or "Unknown" for a number without a phrase.
std::string_view StatusText(int status);

// Response
//
// A response of any version of HTTP. Movable. Not thread-safe.
//
// A server adds `Date` unless the field exists, and the fields that frame the
// message or belong to the connection. Of the handler's own fields,
// `Content-Length`, `Transfer-Encoding`, `Connection` and `Keep-Alive` are left
// out, with these exceptions: "Connection: close" ends the connection after the
// response; `Connection` is sent with status 101; and `Content-Length` is sent
// with a response to HEAD, and with status 304, if the body is empty. A body is
// not sent with status 204 or 304, nor to HEAD.
struct Response {
  // Takes over the connection, after the response with status 101 (or 200 to
  // CONNECT) has been sent. The stream begins with bytes that were received
  // after the request. The connection ends with the returned coroutine. A
  // shutdown of the server does not notify the coroutine; use the same token.
  using Upgrade = absl::AnyInvocable<Co<>(ByteStream stream)>;

  Response() = default;
  explicit Response(int status) : status(status) {}
  Response(Response&&) noexcept = default;
  Response& operator=(Response&&) noexcept = default;

  // Returns a response whose body has the type text/plain with UTF-8.
  static Response Text(std::string text, int status = 200);
  // Returns a response whose body has the type application/json.
  static Response Json(std::string json, int status = 200);

  // Number of the status, from 200 to 599, or 101 with `upgrade`.
  int status = 200;
  Headers headers;
  Body body;
  // Null unless the connection changes to another protocol. The request must
  // have asked for this, by the fields `Connection` and `Upgrade` or by the
  // method CONNECT.
  Upgrade upgrade;
};

}  // namespace rouse::http

#endif  // ROUSE_HTTP_RESPONSE_H_
