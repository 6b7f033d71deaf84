// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: follow_redirects.h
// -----------------------------------------------------------------------------
//
// `FollowRedirects()` sends a request, and follows the server's redirects to
// the response of another URL:
//
//   rouse::Co<absl::StatusOr<std::string>> Fetch(http::Client& client) {
//     http::Request request = co_await rouse::OrReturn(
//         http::Request::To("GET", "http://example.com/latest"));
//     http::Response response = co_await rouse::OrReturn(
//         http::FollowRedirects(client, std::move(request)));
//     co_return co_await response.body.ReadAll(1 << 20);
//   }

#ifndef ROUSE_HTTP_REDIRECTS_FOLLOW_REDIRECTS_H_
#define ROUSE_HTTP_REDIRECTS_FOLLOW_REDIRECTS_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/http/client.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"

namespace rouse::http {

// RedirectOptions
//
// The limit of redirects, and a function that sees each of them.
struct RedirectOptions {
  // Not an aggregate, which g++ 12 would destroy twice in a `co_await`.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  RedirectOptions() {}

  // Most redirects that are followed. A negative number counts as 0.
  int max_redirects = 10;

  // Called with each further request before it is sent, if not null. An error
  // is the result of `FollowRedirects()`. The function can refuse a server,
  // change the request's headers, or remember the last URL, which is
  // `next.origin + next.target`.
  std::function<absl::Status(Request& next)> on_redirect;
};

// FollowRedirects()
//
// Sends `request` with `client`. As long as the response is a redirect, sends a
// further request to the URL of the redirect. Returns the first response that
// is no redirect.
//
// A redirect is a response with status 301, 302, 303, 307 or 308 and the field
// `Location`. After 303, the method becomes GET, unless it is HEAD. After 301
// and 302, the method POST becomes GET, as in browsers. A request that becomes
// GET has no body, and no fields that describe the body. All other requests are
// repeated with their method and body. A redirect that would repeat a body
// that is not text cannot be followed, because the body was read: the redirect
// itself is returned.
//
// A request to another origin than that of the request before has no
// `Authorization`, `Cookie` or `Proxy-Authorization`, which belong to the first
// server, and a `Host` of its own. A redirect from "https" to "http" is
// followed; `on_redirect` can refuse it.
//
// A copy of a body of text is kept until the end. The body of a redirect is
// read, so that its connection can be used again, but no more than 64 KiB and
// for no longer than a second.
//
// REQUIRES: as `Client` does, a task of a runtime, or its `BlockOn()`. The
// function `on_redirect` is called there.
//
// Cancellation: destroying the future cancels the present request, as with
// `Client::Send()`. An exception of `on_redirect` ends the future with the
// exception.
//
//   InvalidArgument     the URL of a redirect is not valid, or its scheme is
//                       neither "http" nor "https"
//   ResourceExhausted   more than `max_redirects` redirects
//
// and the errors of `Client::Send()` and of `on_redirect`. The message names
// the URL that sent the redirect.
Co<absl::StatusOr<Response>> FollowRedirects(
    Client client, Request request,
    RedirectOptions options = RedirectOptions());

}  // namespace rouse::http

#endif  // ROUSE_HTTP_REDIRECTS_FOLLOW_REDIRECTS_H_
