// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of docs/guide/http.md, word for word (http_quotes_test sees to
// that), and tests of the examples.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/or_return.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client.h"
#include "rouse/http/redirects/follow_redirects.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server/server_fixture.h"
#include "rouse/http/server_options.h"
#include "rouse/io/read.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/timer/sleep.h"

namespace http = rouse::http;

namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::EndsWith;
using ::testing::StartsWith;

rouse::Co<absl::StatusOr<http::Response>> Handle(http::Request request) {
  if (request.path() == "/") co_return http::Response::Text("hello\n");
  if (request.path() == "/echo" && request.method == "POST") {
    std::string body =
        co_await rouse::OrReturn(request.body.ReadAll(/*limit=*/10'000));
    co_return http::Response::Text(std::move(body));
  }
  co_return http::Response::Text("no such page\n", 404);
}

rouse::Co<absl::Status> RunServer(rouse::TcpListener listener,
                                  rouse::CancellationToken stop) {
  http::ServerOptions options;
  options.max_body_bytes = 10'000;
  options.stop = std::move(stop);
  options.drain_timeout = absl::Seconds(5);
  co_return co_await http::Serve(std::move(listener), &Handle,
                                 std::move(options));
}

rouse::Co<absl::StatusOr<http::Response>> CountBytes(http::Request request) {
  std::string buffer(64 << 10, '\0');
  uint64_t total = 0;
  for (;;) {
    const size_t size = co_await rouse::OrReturn(
        rouse::Read(request.body, absl::MakeSpan(buffer)));
    if (size == 0) break;
    total += size;
  }
  co_return http::Response::Json(absl::StrCat("{\"bytes\": ", total, "}"));
}

rouse::Gen<std::string> Ticks(int count) {
  for (int i = 0; i < count; ++i) {
    co_await rouse::Sleep(absl::Milliseconds(1));
    co_yield absl::StrCat("tick ", i, "\n");
  }
}

http::Response Ticker(const http::Request&) {
  http::Response response;
  response.body = http::Body::FromStream(Ticks(3));
  return response;
}

rouse::Co<absl::StatusOr<std::string>> Fetch(http::Client client,
                                             std::string url) {
  http::Response response =
      co_await rouse::OrReturn(client.Get(std::move(url)));
  if (response.status != 200) {
    co_return absl::NotFoundError(absl::StrCat("status ", response.status));
  }
  co_return co_await response.body.ReadAll(/*limit=*/1 << 20);
}

rouse::Co<absl::StatusOr<std::string>> Send(http::Client client,
                                            std::string url) {
  http::Request request =
      co_await rouse::OrReturn(http::Request::To("POST", url));
  co_await rouse::OrReturn(request.headers.Set("X-User", "ada"));
  request.body = "buy milk";
  http::Response response =
      co_await rouse::OrReturn(client.Send(std::move(request)));
  co_return co_await response.body.ReadAll(/*limit=*/1 << 20);
}

rouse::Co<absl::StatusOr<http::Response>> GetLatest(http::Client client,
                                                    std::string url) {
  http::Request request =
      co_await rouse::OrReturn(http::Request::To("GET", url));
  http::RedirectOptions options;
  options.on_redirect = [](http::Request& next) {
    return next.origin.starts_with("https:")
               ? absl::OkStatus()
               : absl::PermissionDeniedError("not encrypted");
  };
  co_return co_await http::FollowRedirects(client, std::move(request), options);
}

http::Response Shout(const http::Request&) {
  http::Response response(101);
  response.headers = {{"Connection", "Upgrade"}, {"Upgrade", "shout"}};
  response.upgrade = [](http::ByteStream stream) -> rouse::Co<> {
    const absl::Status sent = co_await rouse::WriteAll(stream, "HELLO\n");
    sent.IgnoreError();
  };
  return response;
}

TEST(HttpPage, ServerAndClient) {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::CurrentThread().Build();
  const auto run = []() -> rouse::Co<absl::Status> {
    rouse::TcpListener listener = co_await rouse::OrReturn(
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)));
    const std::string origin = absl::StrCat(
        "http://", co_await rouse::OrReturn(listener.local_addr()));
    const rouse::CancellationToken stop;
    rouse::JoinHandle<absl::Status> serving =
        rouse::Spawn(RunServer(std::move(listener), stop));
    const http::Client client;
    EXPECT_THAT(co_await Fetch(client, origin), IsOkAndHolds("hello\n"));
    EXPECT_FALSE((co_await Fetch(client, origin + "/x")).ok());
    EXPECT_THAT(co_await Send(client, origin + "/echo"),
                IsOkAndHolds("buy milk"));
    stop.Cancel();
    EXPECT_THAT(co_await serving, IsOk());
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime->BlockOn(run), IsOk());
}

TEST(HttpPage, Bodies) {
  EXPECT_THAT(
      http::Answers(&CountBytes,
                    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                    "Connection: close\r\n\r\nhello")
          .text,
      EndsWith("{\"bytes\": 5}"));
  EXPECT_THAT(
      http::Answers(&Ticker,
                    "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
          .text,
      EndsWith("0007\r\ntick 2\n\r\n0\r\n\r\n"));
}

TEST(HttpPage, Redirects) {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::CurrentThread().Build();
  const auto run = []() -> rouse::Co<absl::Status> {
    rouse::TcpListener listener = co_await rouse::OrReturn(
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)));
    const std::string url = absl::StrCat(
        "http://", co_await rouse::OrReturn(listener.local_addr()), "/latest");
    const auto handle = [](const http::Request&) {
      http::Response response(302);
      response.headers = {{"Location", "/7"}};
      return response;
    };
    http::ServerOptions options;
    options.stop = rouse::CancellationToken();
    rouse::JoinHandle<absl::Status> serving =
        rouse::Spawn(http::Serve(std::move(listener), handle, options));
    const absl::StatusOr<http::Response> response =
        co_await GetLatest(http::Client(), url);
    EXPECT_THAT(response, StatusIs(absl::StatusCode::kPermissionDenied));
    options.stop.Cancel();
    EXPECT_THAT(co_await serving, IsOk());
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime->BlockOn(run), IsOk());
}

TEST(HttpPage, Upgrade) {
  const std::string text =
      http::Answers(&Shout,
                    "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n"
                    "Upgrade: shout\r\n\r\n")
          .text;
  EXPECT_THAT(text, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\nHELLO\n"));
}

}  // namespace
