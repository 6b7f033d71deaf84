// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `Serve()` with clients over TCP.

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
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
#include "rouse/future/or_return.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/read.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

// Listens, and runs `body` in `runtime` with the listener and its URL.
template <class F>
void WithListener(Runtime runtime, const F& body) {
  const auto run = [&body]() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    std::string url =
        absl::StrCat("http://", co_await OrReturn(listener.local_addr()), "/");
    co_await body(std::move(listener), std::move(url));
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(run), IsOk());
}
template <class F>
void WithListener(const F& body) {
  WithListener(Builder::CurrentThread().Build().value(), body);
}

TEST(ClientAndServer, TalkOverTcp) {
  const auto test = [](TcpListener listener, std::string url) -> Co<> {
    ServerOptions options;
    JoinHandle<absl::Status> serving =
        Spawn(Serve(std::move(listener), &EchoWithHost, options));
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
  };
  WithListener(Builder::MultiThread().WorkerThreads(2).Build().value(), test);
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
  const auto test = [](TcpListener listener, std::string url) -> Co<> {
    const auto handler = [](Request request) {
      Spawn(ReadOn(std::move(request.body))).Detach();
      return Response::Text("fine");
    };
    ServerOptions options;
    JoinHandle<absl::Status> serving =
        Spawn(Serve(std::move(listener), handler, options));
    const Client client;
    for (int i = 0; i < 200; ++i) {
      absl::StatusOr<Request> request = Request::To("POST", url);
      request->body = std::string(5000, 'x');
      absl::StatusOr<Response> response =
          co_await client.Send(*std::move(request));
      EXPECT_THAT(response, IsOk());
      EXPECT_EQ(response->status, 200);
      EXPECT_THAT(co_await response->body.ReadAll(100), IsOkAndHolds("fine"));
    }
    options.stop.Cancel();
    EXPECT_THAT(co_await serving, IsOk());
  };
  WithListener(Builder::MultiThread().WorkerThreads(3).Build().value(), test);
}

TEST(Serve, ClosesWhatHasNotEndedInTime) {
  const auto test = [](TcpListener listener, std::string url) -> Co<> {
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
  };
  WithListener(PausedRuntime(), test);
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
        Spawn(ServeSecured(std::move(listener), secure, &EchoWithHost));
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
        Spawn(ServeSecured(std::move(listener), secure, &EchoWithHost));
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
      co_return co_await EchoWithHost(std::move(request));
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
