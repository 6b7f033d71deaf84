// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/client.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/config.h"
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
#include "rouse/future/yield.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/http/url.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"
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

// Serves one end of a `Duplex`: the server of a test.
using ServeEnd = std::function<Co<>(DuplexStream server, size_t number)>;

// A client whose connections lead to `serve`, and what its connector has seen.
class TestClient {
 public:
  explicit TestClient(ServeEnd serve, ClientOptions options = ClientOptions(),
                      size_t capacity = 1000)
      : serve_(std::move(serve)) {
    options.connect = [this, capacity](Origin origin) {
      return Connect(std::move(origin), capacity);
    };
    client_.emplace(std::move(options));
  }

  const Client& client() const { return *client_; }
  const std::vector<std::string>& connected() const { return connected_; }

 private:
  // Keeps the function for as long as its coroutine.
  static Co<> Run(ServeEnd serve, DuplexStream server, size_t number) {
    co_await serve(std::move(server), number);
  }

  Co<absl::StatusOr<ByteStream>> Connect(Origin origin, size_t capacity) {
    connected_.push_back(origin.host_port());
    if (origin.host == "nowhere") {
      co_return absl::UnavailableError("no route");
    }
    std::pair<DuplexStream, DuplexStream> ends = Duplex(capacity);
    Spawn(Run(serve_, std::move(ends.second), connected_.size())).Detach();
    co_return ByteStream(std::move(ends.first));
  }

  const ServeEnd serve_;
  std::vector<std::string> connected_;
  std::optional<Client> client_;
};

Co<absl::StatusOr<Response>> Echo(Request request) {
  std::string body = co_await OrReturn(request.body.ReadAll(1 << 20));
  co_return Response::Text(absl::StrCat(
      request.method, " ", request.headers.Get("Host").value_or("-"), " ",
      request.target, " ", body));
}

Co<> ServeEcho(DuplexStream server, size_t) {
  (co_await ServeConnection(std::move(server), &Echo)).IgnoreError();
}

// Reads the head of a request.
Co<std::string> ReadHead(const DuplexStream& stream) {
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    char byte[1];
    const absl::StatusOr<size_t> size =
        co_await Read(stream, absl::MakeSpan(byte));
    if (!size.ok() || *size == 0) break;
    head += byte[0];
  }
  co_return head;
}

// Returns a server that answers each request with `answer`.
ServeEnd Always(std::string answer, bool closes = false) {
  return [answer, closes](DuplexStream server, size_t) -> Co<> {
    return [](DuplexStream server, std::string answer, bool closes) -> Co<> {
      for (;;) {
        const std::string head = co_await ReadHead(server);
        if (head.empty()) co_return;
        const absl::Status sent = co_await WriteAll(server, answer);
        if (!sent.ok() || closes) co_return;
      }
    }(std::move(server), answer, closes);
  };
}

// Returns "status body", or the error.
Co<std::string> Fetch(const Client& client, std::string url) {
  absl::StatusOr<Response> response = co_await client.Get(std::move(url));
  if (!response.ok()) co_return response.status().ToString();
  const absl::StatusOr<std::string> body =
      co_await response->body.ReadAll(1 << 20);
  if (!body.ok()) co_return body.status().ToString();
  co_return absl::StrCat(response->status, " ", *body);
}

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

// Bytes that nobody asked for are not taken for the next answer.
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

TEST(ClientAndServer, TalkOverTcp) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(2).Build();
  const auto run = []() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    const std::string url =
        absl::StrCat("http://", co_await OrReturn(listener.local_addr()), "/x");
    ServerOptions options;
    JoinHandle<absl::Status> serving =
        Spawn(Serve(std::move(listener), &Echo, options));
    const Client client;
    std::vector<JoinHandle<std::string>> all;
    for (int i = 0; i < 200; ++i) all.push_back(Spawn(Fetch(client, url)));
    for (JoinHandle<std::string>& one : all) {
      const absl::StatusOr<std::string> text = co_await one;
      EXPECT_THAT(text, IsOkAndHolds(HasSubstr("200 GET 127.0.0.1:")));
    }
    options.stop.Cancel();
    const absl::Status served = co_await serving;
    EXPECT_THAT(served, IsOk());
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime->BlockOn(run), IsOk());
}

// Reads `body` until it ends, or until the response was sent.
Co<> ReadOn(Body body) {
  char bytes[100];
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await Read(body, absl::MakeSpan(bytes));
    if (!size.ok()) {
      EXPECT_THAT(size.status(), StatusIs(absl::StatusCode::kCancelled));
    }
    if (!size.ok() || *size == 0) co_return;
  }
}

// Other threads read the bodies while the connection goes on.
TEST(ClientAndServer, ReadBodiesInOtherTasks) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(3).Build();
  const auto run = []() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    const std::string url =
        absl::StrCat("http://", co_await OrReturn(listener.local_addr()), "/");
    const auto handler = [](Request request) {
      Spawn(ReadOn(std::move(request.body))).Detach();
      return Response::Text("fine");
    };
    ServerOptions options;
    JoinHandle<absl::Status> serving =
        Spawn(Serve(std::move(listener), handler, options));
    const Client client;
    for (int i = 0; i < 200; ++i) {
      Request request = co_await OrReturn(Request::To("POST", url));
      request.body = std::string(5000, 'x');
      Response response = co_await OrReturn(client.Send(std::move(request)));
      EXPECT_EQ(response.status, 200);
      EXPECT_THAT(co_await response.body.ReadAll(100), IsOkAndHolds("fine"));
    }
    options.stop.Cancel();
    EXPECT_THAT(co_await serving, IsOk());
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime->BlockOn(run), IsOk());
}

TEST(Serve, ClosesWhatHasNotEndedInTime) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    const std::string url =
        absl::StrCat("http://", co_await OrReturn(listener.local_addr()), "/");
    ServerOptions options;
    options.drain_timeout = absl::Seconds(3);
    const auto never = [](Request) -> Co<Response> {
      co_await Sleep(absl::Hours(1));
      co_return Response();
    };
    JoinHandle<absl::Status> serving =
        Spawn(Serve(std::move(listener), never, options));
    const Client client;
    JoinHandle<std::string> fetching = Spawn(Fetch(client, url));
    co_await Advance(absl::Seconds(1));
    options.stop.Cancel();
    co_await Advance(absl::Seconds(2));
    EXPECT_FALSE(serving.IsFinished());
    co_await Advance(absl::Seconds(2));
    EXPECT_TRUE(serving.IsFinished());
    EXPECT_THAT(co_await serving, StatusIs(absl::StatusCode::kDeadlineExceeded,
                                           HasSubstr("1 connections")));
    EXPECT_THAT(*co_await fetching, HasSubstr("UNAVAILABLE"));
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(run), IsOk());
}

// Listens, and runs `body` with the listener and its URL.
template <class F>
void WithListener(const F& body) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  const auto run = [&body]() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    std::string url =
        absl::StrCat("http://", co_await OrReturn(listener.local_addr()), "/");
    co_await body(std::move(listener), std::move(url));
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime->BlockOn(run), IsOk());
}

TEST(Serve, CallsAFunctionForEachConnectionFirst) {
  WithListener([](TcpListener listener, std::string url) -> Co<> {
    int handshakes = 0;
    const auto secure =
        [&handshakes](TcpStream stream) -> Co<absl::StatusOr<ByteStream>> {
      if (++handshakes == 1) co_return absl::UnauthenticatedError("no key");
      co_return ByteStream(std::move(stream));
    };
    JoinHandle<absl::Status> serving =
        Spawn(ServeSecured(std::move(listener), secure, &Echo));
    const Client client;
    EXPECT_THAT(co_await Fetch(client, url), HasSubstr("UNAVAILABLE"));
    EXPECT_THAT(co_await Fetch(client, url), HasSubstr("200 GET"));
    EXPECT_EQ(handshakes, 2);
    serving.Abort();
    (void)co_await serving;
  });
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(Serve, SurvivesAFunctionThatThrows) {
  WithListener([](TcpListener listener, std::string url) -> Co<> {
    int handshakes = 0;
    const auto connected =
        [](TcpStream stream) -> Co<absl::StatusOr<ByteStream>> {
      co_return ByteStream(std::move(stream));
    };
    const auto secure = [&](TcpStream stream) {
      if (++handshakes == 1) throw std::runtime_error("no key");
      return connected(std::move(stream));
    };
    JoinHandle<absl::Status> serving =
        Spawn(ServeSecured(std::move(listener), secure, &Echo));
    const Client client;
    EXPECT_THAT(co_await Fetch(client, url), HasSubstr("UNAVAILABLE"));
    EXPECT_THAT(co_await Fetch(client, url), HasSubstr("200 GET"));
    serving.Abort();
    (void)co_await serving;
  });
}
#endif  // ABSL_HAVE_EXCEPTIONS

TEST(Serve, LimitsConnections) {
  WithListener([](TcpListener listener, std::string url) -> Co<> {
    ServerOptions server_options;
    server_options.max_connections = 2;
    int running = 0;
    int most = 0;
    const auto handler = [&](Request request) -> Co<absl::StatusOr<Response>> {
      most = std::max(most, ++running);
      co_await Sleep(absl::Milliseconds(1));
      --running;
      co_return co_await Echo(std::move(request));
    };
    JoinHandle<absl::Status> serving =
        Spawn(Serve(std::move(listener), handler, server_options));
    ClientOptions options;
    options.max_idle_per_origin = 0;
    const Client client(options);
    std::vector<JoinHandle<std::string>> all;
    for (int i = 0; i < 20; ++i) all.push_back(Spawn(Fetch(client, url)));
    for (JoinHandle<std::string>& one : all) {
      const absl::StatusOr<std::string> text = co_await one;
      EXPECT_THAT(text, IsOkAndHolds(HasSubstr("200 GET")));
    }
    EXPECT_LE(most, 2);
    serving.Abort();
    (void)co_await serving;
  });
}

TEST(Serve, ClosesEverythingWhenItsFutureIsDestroyed) {
  WithListener([](TcpListener listener, std::string url) -> Co<> {
    auto [began, has_begun] = oneshot::Channel<int>();
    const auto never = [&began = began](Request) -> Co<Response> {
      EXPECT_TRUE(began.Send(1));
      co_await Sleep(absl::Hours(1));
      co_return Response();
    };
    JoinHandle<absl::Status> serving = Spawn(Serve(std::move(listener), never));
    const Client client;
    JoinHandle<std::string> fetching = Spawn(Fetch(client, url));
    (void)co_await has_begun;
    serving.Abort();
    (void)co_await serving;
    EXPECT_THAT(*co_await fetching, HasSubstr("UNAVAILABLE"));
    EXPECT_THAT(co_await Fetch(client, url), HasSubstr("UNAVAILABLE"));
  });
}

}  // namespace
}  // namespace rouse::http
