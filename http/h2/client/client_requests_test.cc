// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the client of HTTP/2 against Rouse's own server.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

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
#include "rouse/http/client.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/h2/client/client_fixture.h"
#include "rouse/http/h2/client_protocol.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/io/read_exact.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

Gen<std::string> Pieces(int& count, int most, size_t size = 10'000) {
  for (int i = 0; i < most; ++i) {
    ++count;
    co_yield std::string(size, 'y');
  }
}

TEST(Http2Client, SendsRequests) {
  Runtime runtime = PausedRuntime();
  Peers test(Served(&EchoWithHost), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    const Client& client = test.client();
    EXPECT_EQ(co_await Fetch(client, "http://a/x?y"), "200 GET a /x?y ");
    EXPECT_EQ(co_await SendBody(client, "POST", "http://a/", "hello"),
              "200 POST a / hello");
    EXPECT_EQ(co_await SendBody(client, "PUT", "http://a/", ""),
              "200 PUT a / ");
    int count = 0;
    EXPECT_EQ(co_await SendBody(client, "POST", "http://a/",
                                Body::FromStream(Pieces(count, 3, 1))),
              "200 POST a / yyy");
    EXPECT_EQ(co_await SendBody(client, "OPTIONS", "http://a/", ""),
              "200 OPTIONS a / ");
    EXPECT_EQ(co_await Fetch(client, "http://b:81/"), "200 GET b:81 / ");
    EXPECT_EQ(client.idle_connections(), 2);
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 2);
}

TEST(Http2Client, SpeaksHttp1WithoutPriorKnowledge) {
  Runtime runtime = PausedRuntime();
  ClientOptions options;
  options.http2 = ClientProtocol();
  // This server knows only HTTP/1.1.
  Peers test(ServeEcho, options);
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
    EXPECT_EQ(test.client().idle_connections(), 1);
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

TEST(Http2Client, ManyRequestsShareAConnection) {
  Runtime runtime = PausedRuntime();
  size_t open = 0;
  size_t most = 0;
  const auto handler = [&](Request request) -> Answer {
    most = std::max(most, ++open);
    co_await Sleep(absl::Seconds(1));
    --open;
    co_return co_await EchoWithHost(std::move(request));
  };
  Peers test(Served(handler), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    std::vector<JoinHandle<std::string>> all;
    for (int i = 0; i < 100; ++i) {
      all.push_back(Spawn(SendBody(test.client(), "POST", "http://a/",
                                   absl::StrCat("number ", i))));
    }
    co_await Advance(absl::Seconds(2));
    for (int i = 0; i < 100; ++i) {
      EXPECT_THAT(co_await all[i],
                  IsOkAndHolds(absl::StrCat("200 POST a / number ", i)));
    }
    EXPECT_EQ(test.client().idle_connections(), 1);
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
  EXPECT_EQ(most, 100);
}

// The server's limit is one request at once.
TEST(Http2Client, KeepsToTheLimits) {
  Runtime runtime = PausedRuntime();
  for (const size_t connections : {1, 3}) {
    size_t open = 0;
    size_t most = 0;
    const auto handler = [&](Request request) -> Answer {
      most = std::max(most, ++open);
      co_await Sleep(absl::Seconds(1));
      --open;
      co_return co_await EchoWithHost(std::move(request));
    };
    Options limits;
    limits.max_concurrent_streams = 1;
    ClientOptions options = WithPriorKnowledge();
    options.max_connections_per_origin = connections;
    Peers test(Served(handler, limits), options);
    const auto run = [&]() -> Co<> {
      // The settings have arrived after the first.
      JoinHandle<std::string> first = Spawn(Fetch(test.client(), "http://a/"));
      co_await Advance(absl::Seconds(2));
      EXPECT_THAT(co_await first, IsOkAndHolds("200 GET a / "));
      std::vector<JoinHandle<std::string>> all;
      for (int i = 0; i < 20; ++i) {
        all.push_back(Spawn(Fetch(test.client(), "http://a/")));
      }
      co_await Advance(absl::Seconds(1));
      // Waiting for another request is not the server's fault.
      for (int i = 0; i < 60; ++i) co_await Advance(absl::Seconds(1));
      for (JoinHandle<std::string>& each : all) {
        EXPECT_THAT(co_await each, IsOkAndHolds("200 GET a / "));
      }
    };
    runtime.BlockOn(run);
    EXPECT_LE(test.connected().size(), connections);
    EXPECT_EQ(most, connections);
  }
}

TEST(Http2Client, BodiesHaveTrailers) {
  Runtime runtime = PausedRuntime();
  const auto handler = [](Request request) -> Answer {
    const std::string body = co_await OrReturn(request.body.ReadAll(100));
    Response response = Response::Text(absl::StrCat(
        body, " ", request.body.trailers().Get("x-sum").value_or("-")));
    response.body.trailers() = {{"X-Back", "1"}};
    co_return response;
  };
  Peers test(Served(handler), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    for (const bool has_source : {false, true}) {
      absl::StatusOr<Request> request = Request::To("POST", "http://a/");
      int count = 0;
      if (has_source) {
        request->body = Body::FromStream(Pieces(count, 1, 3));
      } else {
        request->body = "yyy";
      }
      request->body.trailers() = {{"X-Sum", "3"}, {"Connection", "close"}};
      absl::StatusOr<Response> response =
          co_await test.client().Send(*std::move(request));
      EXPECT_THAT(response, IsOk());
      EXPECT_THAT(co_await response->body.ReadAll(100), IsOkAndHolds("yyy 3"));
      EXPECT_EQ(response->body.trailers().Get("x-back"), "1");
    }
  };
  runtime.BlockOn(run);
}

TEST(Http2Client, ResponsesWithoutABody) {
  Runtime runtime = PausedRuntime();
  const auto handler = [](Request request) -> Answer {
    if (request.method == "HEAD") co_return Response::Text("hello");
    Response response(request.target == "/204" ? 204 : 304);
    response.headers = {{"X-A", "b"}};
    co_return response;
  };
  Peers test(Served(handler), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Request> request = Request::To("HEAD", "http://a/");
    absl::StatusOr<Response> head =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(head, IsOk());
    EXPECT_EQ(head->headers.Get("Content-Length"), "5");
    EXPECT_THAT(co_await head->body.ReadAll(100), IsOkAndHolds(""));
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/204"), "204 ");
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/304"), "304 ");
  };
  runtime.BlockOn(run);
}

TEST(Http2Client, FieldsOfConnectionsAreNotSent) {
  Runtime runtime = PausedRuntime();
  const auto handler = [](Request request) -> Answer {
    std::string all;
    for (const auto& [name, value] : request.headers) {
      absl::StrAppend(&all, name, "=", value, ";");
    }
    co_return Response::Text(all);
  };
  Peers test(Served(handler), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Request> request = Request::To("GET", "http://a/");
    request->headers = {{"Host", "other"},      {"Connection", "close, X-Hop"},
                        {"X-Hop", "1"},         {"Keep-Alive", "1"},
                        {"Upgrade", "x"},       {"TE", "trailers"},
                        {"X-User", "ada"},      {"Transfer-Encoding", "x"},
                        {"Content-Length", "7"}};
    absl::StatusOr<Response> response =
        co_await test.client().Send(*std::move(request));
    EXPECT_THAT(response, IsOk());
    EXPECT_THAT(co_await response->body.ReadAll(1000),
                IsOkAndHolds("te=trailers;x-user=ada;host=other;"));
  };
  runtime.BlockOn(run);
}

TEST(Http2Client, RefusesRequestsThatCannotBeSent) {
  Runtime runtime = PausedRuntime();
  Peers test(Served(&EchoWithHost), WithPriorKnowledge());
  const auto send = [&](std::string method, std::string target,
                        size_t field = 0) -> Co<absl::Status> {
    absl::StatusOr<Request> request = Request::To("GET", "http://a/");
    request->method = method;
    request->target = target;
    request->headers.Add("X-Long", std::string(field, 'x')).IgnoreError();
    co_return (co_await test.client().Send(*std::move(request))).status();
  };
  const auto run = [&]() -> Co<> {
    EXPECT_THAT(co_await send("GE T", "/"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("GE T http://a/: ")));
    EXPECT_THAT(co_await send("GET", "/ a"),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(co_await send("GET", "a"),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(co_await send("GET", "*"),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(co_await send("GET", "/" + std::string(200'000, 'a')),
                StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_THAT(co_await send("CONNECT", "b:1"),
                StatusIs(absl::StatusCode::kUnimplemented));
    EXPECT_THAT(co_await send("GET", "/", 200'000),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         HasSubstr("the fields of the request")));
    // The connection goes on.
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 GET a / ");
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

// ---- Flow control.

TEST(Http2Client, AResponseWaitsForItsReader) {
  Runtime runtime = PausedRuntime();
  int yielded = 0;
  const auto handler = [&](Request request) -> Answer {
    if (request.target == "/other") co_return Response::Text("other");
    Response response;
    response.body = Body::FromStream(Pieces(yielded, 100));
    co_return response;
  };
  ClientLimits limits;
  limits.stream_window_bytes = 100'000;
  Peers test(Served(handler), WithPriorKnowledge(limits));
  const auto run = [&]() -> Co<> {
    absl::StatusOr<Response> response = co_await test.client().Get("http://a/");
    EXPECT_THAT(response, IsOk());
    co_await Advance(absl::Seconds(1));
    // The window, and what the server has ready.
    EXPECT_GE(yielded, 10);
    EXPECT_LE(yielded, 19);
    // Other responses are not held up.
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/other"), "200 other");
    const absl::StatusOr<std::string> all =
        co_await response->body.ReadAll(10 << 20);
    EXPECT_THAT(all, IsOk());
    EXPECT_EQ(all->size(), 1'000'000);
  };
  runtime.BlockOn(run);
  EXPECT_EQ(yielded, 100);
  EXPECT_EQ(test.connected().size(), 1);
}

TEST(Http2Client, ManyResponsesReuseTheWindowOfTheConnection) {
  Runtime runtime = PausedRuntime();
  int yielded = 0;
  const auto handler = [&](Request) -> Answer {
    Response response;
    response.body = Body::FromStream(Pieces(yielded, 20));
    co_return response;
  };
  ClientLimits limits;
  limits.stream_window_bytes = 100'000;
  limits.connection_window_bytes = 100'000;
  Peers test(Served(handler), WithPriorKnowledge(limits));
  const auto run = [&]() -> Co<> {
    // Read, unread, and given up in the middle.
    for (int i = 0; i < 30; ++i) {
      absl::StatusOr<Response> response =
          co_await test.client().Get("http://a/");
      EXPECT_THAT(response, IsOk());
      if (i % 3 == 0) {
        const absl::StatusOr<std::string> all =
            co_await response->body.ReadAll(10 << 20);
        EXPECT_THAT(all, IsOk());
        EXPECT_EQ(all->size(), 200'000);
      } else if (i % 3 == 1) {
        char bytes[1000];
        const auto read =
            co_await ReadExact(response->body, absl::MakeSpan(bytes));
        EXPECT_THAT(read, IsOk());
      }
      co_await Advance(absl::ZeroDuration());
    }
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

TEST(Http2Client, AnUploadWaitsForItsReader) {
  Runtime runtime = PausedRuntime();
  const auto handler = [](Request request) -> Answer {
    co_await Sleep(absl::Seconds(20));
    const std::string all = co_await OrReturn(request.body.ReadAll(10 << 20));
    co_return Response::Text(absl::StrCat(all.size()));
  };
  Options limits;
  limits.stream_window_bytes = 100'000;
  ServerOptions server;
  server.max_body_bytes = 10 << 20;
  Peers test(Served(handler, limits, server), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    int yielded = 0;
    JoinHandle<std::string> sending =
        Spawn(SendBody(test.client(), "POST", "http://a/",
                       Body::FromStream(Pieces(yielded, 100))));
    JoinHandle<std::string> text = Spawn(SendBody(
        test.client(), "POST", "http://a/", std::string(1'000'000, 'x')));
    co_await Advance(absl::Seconds(1));
    EXPECT_GE(yielded, 10);
    EXPECT_LE(yielded, 19);
    co_await Advance(absl::Seconds(20));
    EXPECT_THAT(co_await sending, IsOkAndHolds("200 1000000"));
    EXPECT_THAT(co_await text, IsOkAndHolds("200 1000000"));
  };
  runtime.BlockOn(run);
}

TEST(Http2Client, ReceivesWhileItSends) {
  Runtime runtime = PausedRuntime();
  const auto handler = [](Request request) -> Answer {
    Response response;
    response.body = std::move(request.body);
    co_return response;
  };
  ServerOptions server;
  server.max_body_bytes = 10 << 20;
  Peers test(Served(handler, Options(), server), WithPriorKnowledge(), 500);
  const auto run = [&]() -> Co<> {
    int yielded = 0;
    const std::string echoed =
        co_await SendBody(test.client(), "POST", "http://a/",
                          Body::FromStream(Pieces(yielded, 200)));
    EXPECT_EQ(echoed.size(), 4 + 2'000'000);
  };
  runtime.BlockOn(run);
}

// ---- Cancelling.

TEST(Http2Client, CancellingARequestResetsNoOther) {
  Runtime runtime = PausedRuntime();
  int alive = 0;
  const auto handler = [&](Request) -> Answer {
    const Counted counted(alive);
    co_await Sleep(absl::Seconds(5));
    co_return Response::Text("late");
  };
  Peers test(Served(handler), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> cancelled =
        Spawn(Fetch(test.client(), "http://a/"));
    JoinHandle<std::string> other = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::Seconds(1));
    EXPECT_EQ(alive, 2);
    cancelled.Abort();
    (void)co_await cancelled;
    co_await Advance(absl::ZeroDuration());
    EXPECT_EQ(alive, 1);
    co_await Advance(absl::Seconds(5));
    EXPECT_THAT(co_await other, IsOkAndHolds("200 late"));
    EXPECT_EQ(test.client().idle_connections(), 1);
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

TEST(Http2Client, CancellingAWaitingRequestSendsNothing) {
  Runtime runtime = PausedRuntime();
  int handled = 0;
  const auto handler = [&](Request) -> Answer {
    ++handled;
    co_await Sleep(absl::Seconds(5));
    co_return Response::Text("late");
  };
  Options limits;
  limits.max_concurrent_streams = 1;
  ClientOptions options = WithPriorKnowledge();
  options.max_connections_per_origin = 1;
  Peers test(Served(handler, limits), options);
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> first = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::Seconds(1));
    JoinHandle<std::string> waiting = Spawn(Fetch(test.client(), "http://a/"));
    JoinHandle<std::string> last = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::Seconds(1));
    waiting.Abort();
    (void)co_await waiting;
    co_await Advance(absl::Seconds(4));
    co_await Advance(absl::Seconds(6));
    EXPECT_THAT(co_await first, IsOkAndHolds("200 late"));
    EXPECT_THAT(co_await last, IsOkAndHolds("200 late"));
  };
  runtime.BlockOn(run);
  EXPECT_EQ(handled, 2);
}

TEST(Http2Client, DestroyingABodyResetsTheRequest) {
  Runtime runtime = PausedRuntime();
  int alive = 0;
  const auto source = [&]() -> Gen<std::string> {
    const Counted counted(alive);
    for (;;) {
      co_await Sleep(absl::Milliseconds(1));
      co_yield "tick\n";
    }
  };
  const auto handler = [&](Request) -> Answer {
    Response response;
    response.body = Body::FromStream(source());
    co_return response;
  };
  Peers test(Served(handler), WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    {
      absl::StatusOr<Response> response =
          co_await test.client().Get("http://a/");
      EXPECT_THAT(response, IsOk());
      co_await Advance(absl::Milliseconds(10));
      char bytes[5];
      const auto read =
          co_await ReadExact(response->body, absl::MakeSpan(bytes));
      EXPECT_THAT(read, IsOk());
      EXPECT_EQ(alive, 1);
      EXPECT_EQ(test.client().idle_connections(), 0);
    }
    co_await Advance(absl::ZeroDuration());
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(test.client().idle_connections(), 1);
  };
  runtime.BlockOn(run);
}

TEST(Http2Client, AnErrorOfTheUploadIsTheResult) {
  Runtime runtime = PausedRuntime();
  absl::Status seen;
  const auto handler = [&](Request request) -> Answer {
    const absl::StatusOr<std::string> all = co_await request.body.ReadAll(100);
    seen = all.status();
    co_return Response::Text("x");
  };
  Peers test(Served(handler), WithPriorKnowledge());
  const auto source = []() -> Gen<absl::StatusOr<std::string>> {
    co_yield std::string("a");
    co_yield absl::DataLossError("the disk is broken");
  };
  const auto run = [&]() -> Co<> {
    EXPECT_THAT(co_await SendBody(test.client(), "POST", "http://a/",
                                  Body::FromStream(source())),
                HasSubstr("DATA_LOSS: POST http://a/: the disk is broken"));
    int yielded = 0;
    EXPECT_THAT(co_await SendBody(test.client(), "POST", "http://a/",
                                  Body::FromStream(Pieces(yielded, 1, 9), 10)),
                HasSubstr("INTERNAL: POST http://a/: the body ended 1 bytes"));
    EXPECT_EQ(co_await SendBody(test.client(), "POST", "http://a/", "y"),
              "200 x");
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 1);
}

}  // namespace
}  // namespace rouse::http::h2
