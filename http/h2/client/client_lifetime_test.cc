// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests how long requests and connections of the HTTP/2 client last, against
// Rouse's own server.

#include <cstddef>
#include <optional>
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
#include "rouse/future/gen.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/h2/client/client_fixture.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/http/url.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::testing::AllOf;
using ::testing::HasSubstr;

Gen<std::string> Letters() {
  co_yield "a";
  co_await Sleep(absl::Seconds(25));
  co_yield "b";
  co_await Sleep(absl::Seconds(25));
}

Gen<std::string> Stuck() {
  co_yield "a";
  co_await Sleep(absl::Minutes(10));
}

// ---- Time.

TEST(Http2Client, LimitsTime) {
  Runtime runtime = PausedRuntime();
  int alive = 0;
  const auto handler = [&](Request request) -> Answer {
    const Counted counted(alive);
    if (request.target == "/body") {
      Response response;
      response.body = Body::FromStream(Stuck());
      co_return response;
    }
    if (request.target == "/never") co_await Sleep(absl::Minutes(10));
    co_return Response::Text("x");
  };
  Peers test(Served(handler), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> never =
        Spawn(Fetch(test.client(), "http://a/never"));
    JoinHandle<std::string> body = Spawn(Fetch(test.client(), "http://a/body"));
    co_await Advance(absl::Seconds(29));
    EXPECT_FALSE(never.IsFinished());
    EXPECT_FALSE(body.IsFinished());
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 x");
    co_await Advance(absl::Seconds(2));
    EXPECT_THAT(
        co_await never,
        IsOkAndHolds(AllOf(HasSubstr("DEADLINE_EXCEEDED: GET http://a/never: "),
                           HasSubstr("not answered within 30s"))));
    EXPECT_THAT(co_await body, IsOkAndHolds(HasSubstr("DEADLINE_EXCEEDED")));
    co_await Advance(absl::ZeroDuration());
    EXPECT_EQ(alive, 0);
    // The connection has answered meanwhile, and is kept.
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 x");
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

// The time that the request's own body takes is not the server's.
TEST(Http2Client, WaitsForTheBodyOfItsRequest) {
  Runtime runtime = PausedRuntime();
  Peers test(Served(&EchoWithHost), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> sending = Spawn(SendBody(
        test.client(), "POST", "http://a/", Body::FromStream(Letters())));
    for (int i = 0; i < 6; ++i) co_await Advance(absl::Seconds(10));
    EXPECT_TRUE(sending.IsFinished());
    EXPECT_THAT(co_await sending, IsOkAndHolds("200 POST a / ab"));
  };
  runtime.BlockOn(run);
}

TEST(Http2Client, ClosesAConnectionThatIsIdleForTooLong) {
  Runtime runtime = PausedRuntime();
  size_t open = 0;
  const ServeEnd echo = Served(&EchoWithHost);
  const auto serve = [&](DuplexStream server, size_t number) -> Co<> {
    ++open;
    co_await echo(std::move(server), number);
    --open;
  };
  Peers test(serve, WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
    co_await Advance(absl::Seconds(20));
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
    co_await Advance(absl::Seconds(20));
    EXPECT_EQ(open, 1);
    EXPECT_EQ(test.client().idle_connections(), 1);
    co_await Advance(absl::Seconds(11));
    co_await Advance(absl::Seconds(2));
    EXPECT_EQ(open, 0);
    EXPECT_EQ(test.client().idle_connections(), 0);
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 2);
}

TEST(Http2Client, ANewConnectionWaitsForItsRequest) {
  ClientOptions options = WithPriorKnowledge();
  options.idle_timeout = absl::ZeroDuration();
  Peers test(Served(&EchoWithHost), options);
  // On the other worker, the session often runs before the request begins.
  Runtime runtime = Builder::MultiThread().WorkerThreads(2).Build().value();
  const auto run = [&]() -> Co<> {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
    }
  };
  runtime.BlockOn(run);
}

// A request can move from one connection to the next as often as connections
// are made.
TEST(Http2Client, RequestsMoveAlongManyConnections) {
  Runtime runtime = PausedRuntime();
  Options limits;
  limits.max_concurrent_streams = 1;
  const auto handler = [](Request request) -> Answer {
    co_await Sleep(absl::Seconds(1));
    co_return co_await EchoWithHost(std::move(request));
  };
  Peers test(Served(handler, limits), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    std::vector<JoinHandle<std::string>> all;
    for (int i = 0; i < 300; ++i) {
      all.push_back(Spawn(Fetch(test.client(), "http://a/")));
    }
    for (int i = 0; i < 20; ++i) co_await Advance(absl::Seconds(1));
    for (JoinHandle<std::string>& each : all) {
      EXPECT_THAT(co_await each, IsOkAndHolds("200 GET a / "));
    }
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 64);
}

// ---- The end.

TEST(Http2Client, TheConnectionEndsWithTheLastResponse) {
  Runtime runtime = PausedRuntime();
  size_t open = 0;
  const auto handler = [](Request) -> Answer {
    Response response;
    response.body = Body::FromStream(Letters());
    co_return response;
  };
  const ServeEnd served = Served(handler);
  const auto serve = [&](DuplexStream server, size_t number) -> Co<> {
    ++open;
    co_await served(std::move(server), number);
    --open;
  };
  std::optional<Peers> test;
  test.emplace(serve, WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Response> response =
        co_await test->client().Get("http://a/");
    EXPECT_THAT(response, IsOk());
    test.reset();
    co_await Advance(absl::Seconds(1));
    EXPECT_EQ(open, 1);
    const auto read = [](Body body) -> Co<absl::StatusOr<std::string>> {
      co_return co_await body.ReadAll(100);
    };
    auto reading = Spawn(read(std::move(response->body)));
    for (int i = 0; i < 6; ++i) co_await Advance(absl::Seconds(10));
    const absl::StatusOr<std::string> text = co_await reading;
    EXPECT_THAT(text, IsOkAndHolds("ab"));
    co_await Advance(absl::Seconds(2));
    EXPECT_EQ(open, 0);
  };
  runtime.BlockOn(run);
}

TEST(Http2Client, AServerThatStopsFinishesTheRequestsUnderWay) {
  Runtime runtime = PausedRuntime();
  const auto handler = [](Request) -> Answer {
    co_await Sleep(absl::Seconds(5));
    co_return Response::Text("done");
  };
  ServerOptions server;
  const CancellationToken stop = server.stop;
  const ServeEnd first = Served(handler, Options(), server);
  const ServeEnd others = Served(&EchoWithHost);
  const auto serve = [&](DuplexStream end, size_t number) -> Co<> {
    return number == 1 ? first(std::move(end), number)
                       : others(std::move(end), number);
  };
  Peers test(serve, WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> slow = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::Seconds(1));
    stop.Cancel();
    co_await Advance(absl::ZeroDuration());
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
    co_await Advance(absl::Seconds(5));
    EXPECT_THAT(co_await slow, IsOkAndHolds("200 done"));
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 2);
}

// The task of the connection ends with its runtime. The client can be used in
// another one.
TEST(Http2Client, OutlivesARuntime) {
  Peers test(Served(&EchoWithHost), WithPriorKnowledge());
  for (int i = 0; i < 2; ++i) {
    Runtime runtime = PausedRuntime();
    EXPECT_EQ(runtime.BlockOn(Fetch(test.client(), "http://a/")),
              "200 GET a / ");
  }
  EXPECT_EQ(test.connected().size(), 2);
  EXPECT_EQ(test.client().idle_connections(), 0);
}

// ---- Connecting.

TEST(Http2Client, RequestsThatWaitForAConnectionFailInTime) {
  Runtime runtime = PausedRuntime();
  int connects = 0;
  ClientOptions options = WithPriorKnowledge();
  options.connect = [&](Origin) -> Co<absl::StatusOr<ByteStream>> {
    ++connects;
    co_await Sleep(absl::Minutes(10));
    co_return absl::InternalError("unreachable");
  };
  const Client client(options);
  const auto run = [&]() -> Co<> {
    std::vector<JoinHandle<std::string>> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(Spawn(Fetch(client, "http://a/")));
    }
    co_await Advance(absl::Seconds(9));
    EXPECT_EQ(connects, 1);
    co_await Advance(absl::Seconds(2));
    for (JoinHandle<std::string>& each : all) {
      EXPECT_THAT(co_await each,
                  IsOkAndHolds(HasSubstr("connecting took longer than 10s")));
    }
  };
  runtime.BlockOn(run);
}

}  // namespace
}  // namespace rouse::http::h2
