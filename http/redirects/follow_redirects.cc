// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/redirects/follow_redirects.h"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/http/body.h"
#include "rouse/http/client.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/url.h"
#include "rouse/timer/timeout.h"

namespace rouse::http {
namespace {

// What is read of the body of a redirect.
constexpr size_t kMostDiscarded = size_t{64} << 10;
constexpr absl::Duration kDiscardTime = absl::Seconds(1);

bool IsRedirect(const Response& response) {
  switch (response.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return response.headers.Has("Location");
    default:
      return false;
  }
}

bool BecomesGet(int status, std::string_view method) {
  if (status == 303) return method != "GET" && method != "HEAD";
  return (status == 301 || status == 302) && method == "POST";
}

void RemoveAll(Headers& headers,
               std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) headers.Remove(name);
}

// What a further request needs of the request before.
class Repeat {
 public:
  explicit Repeat(const Request& request)
      : method_(request.method), headers_(request.headers) {
    url_.origin = request.origin;
    url_.target = request.target;
    is_text_ = request.body.is_text();
    if (!is_text_) return;
    text_ = request.body.text();
    trailers_ = request.body.trailers();
  }

  // Returns the URL of the request.
  std::string url() const { return absl::StrCat(url_.origin, url_.target); }

  // Returns whether the redirect would repeat a body that was read.
  bool LacksBody(const Response& redirect) const {
    return !is_text_ && !BecomesGet(redirect.status, method_);
  }

  // Changes into the request that follows the redirect.
  absl::Status Follow(const Response& redirect) {
    absl::StatusOr<Url> next =
        ResolveUrl(url_, *redirect.headers.Get("Location"));
    if (!next.ok()) return next.status();
    if (BecomesGet(redirect.status, method_)) {
      method_ = "GET";
      is_text_ = true;
      text_.clear();
      trailers_.Clear();
      RemoveAll(headers_,
                {"Content-Encoding", "Content-Language", "Content-Length",
                 "Content-Location", "Content-Type", "Transfer-Encoding"});
    }
    if (next->origin != url_.origin) {
      RemoveAll(headers_,
                {"Authorization", "Cookie", "Host", "Proxy-Authorization"});
    }
    url_ = *std::move(next);
    return absl::OkStatus();
  }

  // Returns the request.
  Request Make() const {
    Request request;
    request.method = method_;
    request.origin = url_.origin;
    request.target = url_.target;
    request.headers = headers_;
    request.body = text_;
    if (!trailers_.empty()) request.body.trailers() = trailers_;
    return request;
  }

 private:
  std::string method_;
  Url url_;
  Headers headers_;
  bool is_text_ = false;
  std::string text_;
  Headers trailers_;
};

// Reads the rest of the body, so that the connection can be used again.
Co<> Discard(Response redirect) {
  auto rest = redirect.body.ReadAll(kMostDiscarded);
  // A body that is too long, too slow or broken costs only its connection.
  (co_await Timeout(kDiscardTime, std::move(rest))).status().IgnoreError();
}

}  // namespace

Co<absl::StatusOr<Response>> FollowRedirects(Client client, Request request,
                                             RedirectOptions options) {
  for (int redirects = 0;; ++redirects) {
    Repeat repeat(request);
    Response response = co_await OrReturn(client.Send(std::move(request)));
    if (!IsRedirect(response) || repeat.LacksBody(response)) {
      co_return response;
    }
    const std::string url = repeat.url();
    if (redirects >= options.max_redirects) {
      co_return absl::ResourceExhaustedError(absl::StrCat(
          url, ": redirects again, after ", redirects,
          " redirects; raise RedirectOptions::max_redirects unless the "
          "redirects are a loop"));
    }
    absl::Status status = repeat.Follow(response);
    request = repeat.Make();
    if (status.ok() && options.on_redirect != nullptr) {
      status = options.on_redirect(request);
    }
    if (!status.ok()) {
      co_return absl::Status(
          status.code(),
          absl::StrCat(url, ": the redirect: ", status.message()));
    }
    co_await Discard(std::move(response));
  }
}

}  // namespace rouse::http
