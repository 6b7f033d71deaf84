// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which connections the client keeps, reuses and closes.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/http/client/client.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/io/duplex.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Client, ReusesConnectionsOfOneOrigin) {
  Runtime runtime = PausedRuntime();
  TestClient test(ServeEcho);
  const auto run = [&]() -> Co<> {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(co_await Fetch(test.client(), "http://a/x?y"),
                "200 GET a /x?y ");
    }
    EXPECT_EQ(co_await Fetch(test.client(), "http://a:81/"), "200 GET a:81 / ");
    EXPECT_EQ(co_await Fetch(test.client(), "HTTP://A:80"), "200 GET a / ");
    EXPECT_EQ(test.client().idle_connections(), 2);
  };
  runtime.BlockOn(run);
  EXPECT_THAT(test.connected(), ElementsAre("a:80", "a:81"));
}

// A server that closes a kept connection after its first answer.
Co<> CloseAtTheSecondRequest(DuplexStream server, size_t) {
  (void)co_await ReadHead(server);
  (co_await WriteAll(server, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"))
      .IgnoreError();
  (void)co_await ReadHead(server);
}

TEST(Client, RepeatsASafeRequestOnANewConnection) {
  Runtime runtime = PausedRuntime();
  TestClient test(CloseAtTheSecondRequest);
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 1");
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 1");
    absl::StatusOr<Request> request = Request::To("PUT", "http://a/");
    request->body = std::string(20'000, 'x');
    absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(response, IsOk());
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 3);
}

TEST(Client, DoesNotRepeatAnUnsafeRequest) {
  Runtime runtime = PausedRuntime();
  TestClient test(CloseAtTheSecondRequest);
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 1");
    absl::StatusOr<Request> request = Request::To("POST", "http://a/");
    const absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(response.status(),
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("closed the connection without an answer")));
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

TEST(Client, DoesNotRepeatARequestThatWasAnsweredInPart) {
  Runtime runtime = PausedRuntime();
  const auto serve = [](DuplexStream server, size_t) -> Co<> {
    (void)co_await ReadHead(server);
    (co_await WriteAll(server, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"))
        .IgnoreError();
    (void)co_await ReadHead(server);
    (co_await WriteAll(server, "HTTP/1.1 2")).IgnoreError();
  };
  TestClient test(serve);
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 1");
    EXPECT_THAT(
        co_await Fetch(test.client(), "http://a/"),
        AllOf(HasSubstr("UNAVAILABLE"), HasSubstr("within the header")));
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

// A connection that the server has closed meanwhile is not even tried.
TEST(Client, DropsConnectionsThatTheServerHasClosed) {
  Runtime runtime = PausedRuntime();
  TestClient test(
      Always("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", true));
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 1");
    co_await Advance(absl::ZeroDuration());
    EXPECT_EQ(test.client().idle_connections(), 1);
    absl::StatusOr<Request> request = Request::To("POST", "http://a/");
    const absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(response, IsOk());
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 2);
}

// Bytes behind an answer are not taken for the next answer.
TEST(Client, DropsAConnectionWithUnexpectedBytes) {
  Runtime runtime = PausedRuntime();
  TestClient test(
      Always("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1HTTP/1.1 200 OK\r\n"
             "Content-Length: 4\r\n\r\nevil"));
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 1");
    co_await Advance(absl::ZeroDuration());
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 1");
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 2);
}

TEST(Client, ClosesConnectionsThatAreIdleForTooLong) {
  Runtime runtime = PausedRuntime();
  size_t open = 0;
  const auto serve = [&open](DuplexStream server, size_t number) -> Co<> {
    ++open;
    co_await ServeEcho(std::move(server), number);
    --open;
  };
  TestClient test(serve);
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
    co_await Advance(absl::Seconds(20));
    EXPECT_EQ(co_await Fetch(test.client(), "http://b/"), "200 GET b / ");
    co_await Advance(absl::Seconds(11));
    EXPECT_EQ(open, 1);
    EXPECT_EQ(test.client().idle_connections(), 1);
    co_await Advance(absl::Seconds(20));
    EXPECT_EQ(open, 0);
    EXPECT_EQ(test.client().idle_connections(), 0);
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 3);
}

TEST(Client, LimitsConnections) {
  Runtime runtime = PausedRuntime();
  size_t open = 0;
  size_t most = 0;
  const auto serve = [&](DuplexStream server, size_t number) -> Co<> {
    most = std::max(most, ++open);
    co_await ServeEcho(std::move(server), number);
    --open;
  };
  ClientOptions options;
  options.max_connections_per_origin = 3;
  options.max_idle_per_origin = 2;
  TestClient test(serve, options);
  const auto run = [&]() -> Co<> {
    std::vector<JoinHandle<std::string>> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(Spawn(Fetch(test.client(), "http://a/")));
    }
    for (JoinHandle<std::string>& one : all) {
      const absl::StatusOr<std::string> text = co_await one;
      EXPECT_THAT(text, IsOkAndHolds("200 GET a / "));
    }
    EXPECT_LE(test.client().idle_connections(), 2);
  };
  runtime.BlockOn(run);
  EXPECT_EQ(most, 3);
}

TEST(Client, KeepsTheConnectionWithTheBody) {
  Runtime runtime = PausedRuntime();
  TestClient test(
      Always("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"));
  const auto run = [&]() -> Co<> {
    {
      absl::StatusOr<Response> unread = co_await test.client().Get("http://a/");
      EXPECT_THAT(unread, IsOk());
      EXPECT_EQ(unread->body.size(), 10);
      EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 0123456789");
      EXPECT_EQ(test.connected().size(), 2);
      EXPECT_EQ(test.client().idle_connections(), 1);
    }
    // Dropping the response has closed its connection, and no other.
    EXPECT_EQ(test.client().idle_connections(), 1);
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 0123456789");
    EXPECT_EQ(test.connected().size(), 2);
  };
  runtime.BlockOn(run);
}

TEST(Client, CancellingClosesTheConnection) {
  Runtime runtime = PausedRuntime();
  size_t open = 0;
  const auto serve = [&open](DuplexStream server, size_t) -> Co<> {
    ++open;
    (void)co_await ReadHead(server);
    (void)co_await ReadHead(server);
    --open;
  };
  TestClient test(serve);
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> fetching = Spawn(Fetch(test.client(), "http://a/"));
    JoinHandle<std::string> other = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::ZeroDuration());
    EXPECT_EQ(open, 2);
    fetching.Abort();
    (void)co_await fetching;
    co_await Advance(absl::ZeroDuration());
    EXPECT_EQ(open, 1);
    EXPECT_FALSE(other.IsFinished());
    other.Abort();
    (void)co_await other;
  };
  runtime.BlockOn(run);
}

TEST(Client, DoesNotKeepATunnel) {
  Runtime runtime = PausedRuntime();
  TestClient test(Always("HTTP/1.1 200 OK\r\n\r\n"));
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Request> request = Request::To("CONNECT", "http://a/");
    request->target = "b:1";
    const absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(response.status(), StatusIs(absl::StatusCode::kUnimplemented));
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.client().idle_connections(), 0);
}

TEST(Client, DoesNotKeepAConnectionThatItHasClosed) {
  Runtime runtime = PausedRuntime();
  TestClient test(Always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Request> request = Request::To("GET", "http://a/");
    EXPECT_THAT(request->headers.Set("Connection", "close"), IsOk());
    EXPECT_THAT(co_await test.client().Send(*std::move(request)), IsOk());
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.client().idle_connections(), 0);
}

}  // namespace
}  // namespace rouse::http
