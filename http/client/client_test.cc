// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// client_pool_test.cc tests which connections the client keeps.

#include "rouse/http/client/client.h"

#include <cstddef>
#include <string>
#include <string_view>
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
#include "rouse/future/yield.h"
#include "rouse/http/body.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read_exact.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Client, SendsBodies) {
  Runtime runtime = PausedRuntime();
  TestClient test(ServeEcho);
  const auto words = []() -> Gen<std::string> {
    co_yield "one ";
    co_await Yield();
    co_yield "two";
  };
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Request> request = Request::To("POST", "http://a/");
    request->body = "text";
    absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(co_await response->body.ReadAll(100),
                IsOkAndHolds("POST a / text"));
    request = Request::To("PUT", "http://a/");
    request->body = Body::FromStream(words());
    response = co_await test.client().Send(*std::move(request));
    EXPECT_THAT(co_await response->body.ReadAll(100),
                IsOkAndHolds("PUT a / one two"));
  };
  runtime.BlockOn(run);
  EXPECT_THAT(test.connected(), ElementsAre("a:80"));
}

TEST(Client, ReadsEachKindOfResponse) {
  Runtime runtime = PausedRuntime();
  const auto fetch = [&runtime](std::string answer, bool closes,
                                size_t& connections, size_t capacity) {
    TestClient test(Always(std::move(answer), closes), ClientOptions(),
                    capacity);
    std::string both;
    const auto run = [&]() -> Co<> {
      both = co_await Fetch(test.client(), "http://a/");
      both += "|";
      both += co_await Fetch(test.client(), "http://a/");
    };
    runtime.BlockOn(run);
    connections = test.connected().size();
    return both;
  };
  for (const size_t capacity : {size_t{1}, size_t{1000}}) {
    size_t connections = 0;
    EXPECT_EQ(fetch("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", false,
                    connections, capacity),
              "200 hi|200 hi");
    EXPECT_EQ(connections, 1);
    EXPECT_EQ(fetch("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 x\r\n\r\n"
                    "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "1\r\nh\r\n1;x\r\ni\r\n0\r\nT: 1\r\n\r\n",
                    false, connections, capacity),
              "404 hi|404 hi");
    EXPECT_EQ(connections, 1);
    EXPECT_EQ(fetch("HTTP/1.1 204 No\r\n\r\n", false, connections, capacity),
              "204 |204 ");
    EXPECT_EQ(connections, 1);
    EXPECT_EQ(
        fetch("HTTP/1.1 200 OK\r\n\r\nto the end", true, connections, capacity),
        "200 to the end|200 to the end");
    EXPECT_EQ(connections, 2);
    EXPECT_EQ(fetch("HTTP/1.1 200 OK\r\nConnection: close\r\n"
                    "Content-Length: 2\r\n\r\nhi",
                    false, connections, capacity),
              "200 hi|200 hi");
    EXPECT_EQ(connections, 2);
    EXPECT_EQ(fetch("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", false,
                    connections, capacity),
              "200 hi|200 hi");
    EXPECT_EQ(connections, 2);
  }
}

TEST(Client, RefusesResponsesThatAreNotValid) {
  Runtime runtime = PausedRuntime();
  for (const std::string_view answer :
       {"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "hello\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}) {
    TestClient test(Always(std::string(answer)));
    const auto run = [&]() -> Co<> {
      const absl::StatusOr<Response> response =
          co_await test.client().Get("http://a/b");
      EXPECT_THAT(response.status(),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr("GET http://a/b: the server's answer")))
          << answer;
    };
    runtime.BlockOn(run);
    EXPECT_EQ(test.client().idle_connections(), 0);
  }
}

TEST(Client, SaysThatTheServerSpeaksHttp2) {
  Runtime runtime = PausedRuntime();
  // An empty SETTINGS, a SETTINGS with one setting, and their beginnings.
  const std::string empty("\0\0\0\4\0\0\0\0\0", 9);
  const std::string one("\0\0\6\4\0\0\0\0\0\0\3\0\0\0\x64", 15);
  for (const std::string& settings : {empty, one}) {
    for (const bool closes : {false, true}) {
      TestClient test(Always(settings, closes));
      EXPECT_THAT(
          runtime.BlockOn(Fetch(test.client(), "http://a/b")),
          HasSubstr("INVALID_ARGUMENT: GET http://a/b: the server's answer is "
                    "HTTP/2, and not HTTP/1.1; set ClientOptions::http2"));
    }
    TestClient test(Always(settings.substr(0, 8), true));
    EXPECT_THAT(runtime.BlockOn(Fetch(test.client(), "http://a/b")),
                HasSubstr("closed the connection within the header"));
  }
}

TEST(Client, LimitsTheHeaderOfAResponse) {
  Runtime runtime = PausedRuntime();
  ClientOptions options;
  options.max_header_bytes = 200;
  options.max_header_count = 3;
  const auto fetch = [&](std::string fields) {
    TestClient test(
        Always(absl::StrCat("HTTP/1.1 204 No Content\r\n", fields, "\r\n")),
        options);
    return runtime.BlockOn(Fetch(test.client(), "http://a/b"));
  };
  EXPECT_EQ(fetch("A: 1\r\nB: 2\r\nC: 3\r\n"), "204 ");
  EXPECT_EQ(fetch("A: 1\r\nB: 2\r\nC: 3\r\nX: 4\r\n"),
            "RESOURCE_EXHAUSTED: GET http://a/b: the header of the response "
            "has more fields than the limit of 3");
  EXPECT_EQ(fetch(absl::StrCat("A: ", std::string(200, 'a'), "\r\n")),
            "RESOURCE_EXHAUSTED: GET http://a/b: the header of the response "
            "exceeds the limit of 200 bytes");
}

TEST(Client, RefusesRequestsThatWouldSplit) {
  Runtime runtime = PausedRuntime();
  TestClient test(ServeEcho);
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Request> request = Request::To("GET", "http://a/");
    request->target = "/ HTTP/1.1\r\nHost: a\r\n\r\nGET /evil";
    absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(response.status(),
                StatusIs(absl::StatusCode::kInvalidArgument));
    request = Request::To("GET", "http://a/");
    request->method = "GET / HTTP/1.1\r\n";
    response = co_await test.client().Send(*std::move(request));
    EXPECT_THAT(response.status(),
                StatusIs(absl::StatusCode::kInvalidArgument));
    Request without_origin;
    response = co_await test.client().Send(std::move(without_origin));
    EXPECT_THAT(response.status(),
                StatusIs(absl::StatusCode::kInvalidArgument));
  };
  runtime.BlockOn(run);
}

TEST(Client, ReportsABodyThatEndsEarly) {
  Runtime runtime = PausedRuntime();
  TestClient test(
      Always("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234", true));
  const auto run = [&]() -> Co<> {
    EXPECT_THAT(co_await Fetch(test.client(), "http://a/"),
                AllOf(HasSubstr("DATA_LOSS"), HasSubstr("5 bytes")));
  };
  runtime.BlockOn(run);
}

TEST(Client, LimitsTime) {
  Runtime runtime = PausedRuntime();
  const auto silent = [](DuplexStream server, size_t) -> Co<> {
    (void)co_await ReadHead(server);
    (void)co_await ReadHead(server);
  };
  TestClient test(silent);
  TestClient slow_body(
      Always("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234"));
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> fetching = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::Seconds(29));
    EXPECT_FALSE(fetching.IsFinished());
    co_await Advance(absl::Seconds(2));
    EXPECT_THAT(*co_await fetching, HasSubstr("not answered within 30s"));
    JoinHandle<std::string> reading =
        Spawn(Fetch(slow_body.client(), "http://a/"));
    co_await Advance(absl::Seconds(29));
    EXPECT_FALSE(reading.IsFinished());
    co_await Advance(absl::Seconds(2));
    EXPECT_THAT(*co_await reading, HasSubstr("DEADLINE_EXCEEDED"));
  };
  runtime.BlockOn(run);
}

// The server answers before it has read the request, and then reads and echoes
// it. Neither side waits for the other to finish.
TEST(Client, ReceivesWhileItSends) {
  Runtime runtime = PausedRuntime();
  const auto handler = [](Request request) {
    Response response;
    response.body = std::move(request.body);
    return response;
  };
  const auto serve = [&handler](DuplexStream server, size_t) -> Co<> {
    ServerOptions options;
    options.max_body_bytes = 1 << 20;
    (co_await ServeConnection(std::move(server), handler, options))
        .IgnoreError();
  };
  const auto chunks = []() -> Gen<std::string> {
    for (int i = 0; i < 100; ++i) co_yield std::string(1000, 'a' + i % 26);
  };
  TestClient test(serve, ClientOptions(), 500);
  const auto run = [&]() -> Co<> {
    for (int i = 0; i < 2; ++i) {
      absl::StatusOr<Request> request = Request::To("POST", "http://a/");
      request->body = Body::FromStream(chunks());
      absl::StatusOr<Response> response =
          co_await test.client().Send(*std::move(request));
      EXPECT_THAT(response, IsOk());
      const absl::StatusOr<std::string> all =
          co_await response->body.ReadAll(1 << 20);
      EXPECT_THAT(all, IsOk());
      EXPECT_EQ(all->size(), 100'000);
    }
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

TEST(Client, ReportsErrorsOfTheConnector) {
  Runtime runtime = PausedRuntime();
  TestClient test(ServeEcho);
  const Client plain;
  const auto run = [&]() -> Co<> {
    EXPECT_THAT((co_await test.client().Get("http://nowhere/")).status(),
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("GET http://nowhere/: no route")));
    EXPECT_THAT((co_await plain.Get("https://a/")).status(),
                StatusIs(absl::StatusCode::kUnimplemented,
                         HasSubstr("ClientOptions::connect")));
  };
  runtime.BlockOn(run);
}

TEST(Client, SaysUnavailableIfTheServerClosesWithinTheRequest) {
  Runtime runtime = PausedRuntime();
  const auto serve = [](DuplexStream server, size_t) -> Co<> {
    (void)co_await ReadHead(server);
  };
  TestClient test(serve);
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Request> request = Request::To("POST", "http://a/");
    request->body = std::string(100'000, 'x');
    const absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(response.status(),
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("did not take the request")));
  };
  runtime.BlockOn(run);
}

TEST(Client, SendsTheUnreadPartOfABody) {
  Runtime runtime = PausedRuntime();
  TestClient test(ServeEcho);
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Request> request = Request::To("POST", "http://a/");
    request->body = "hello";
    char bytes[2];
    EXPECT_THAT((co_await ReadExact(request->body, absl::MakeSpan(bytes))),
                IsOk());
    absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(co_await response->body.ReadAll(100),
                IsOkAndHolds("POST a / llo"));
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
  };
  runtime.BlockOn(run);
}

// The time that the request's own body takes is not the server's.
TEST(Client, WaitsForTheBodyOfItsRequest) {
  Runtime runtime = PausedRuntime();
  TestClient test(ServeEcho);
  const auto slow = []() -> Gen<std::string> {
    co_yield "a";
    co_await Sleep(absl::Seconds(25));
    co_yield "b";
    co_await Sleep(absl::Seconds(25));
  };
  const auto send = [&]() -> Co<std::string> {
    absl::StatusOr<Request> request = Request::To("POST", "http://a/");
    request->body = Body::FromStream(slow());
    absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    if (!response.ok()) co_return response.status().ToString();
    co_return *co_await response->body.ReadAll(100);
  };
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> sending = Spawn(send);
    co_await Advance(absl::Minutes(1));
    EXPECT_TRUE(sending.IsFinished());
    EXPECT_EQ(*co_await sending, "POST a / ab");
  };
  runtime.BlockOn(run);
}

}  // namespace
}  // namespace rouse::http
