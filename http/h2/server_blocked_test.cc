// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of a server of HTTP/2 whose connection takes no more bytes for a while.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/server_fixture.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server/flushed_stream.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::StatusIs;

TEST(Http2, LimitsTheTimeOfAFlush) {
  for (const bool client_goes_on : {false, true}) {
    // A further request keeps the connection from being idle.
    int alive = 0;
    const AnyHandler never = Never(alive);
    const auto handler = [&never](Request request) -> Answer {
      if (request.target == "/never") co_return co_await never(Request());
      co_return Response::Text(std::string(50'000, 'z'));
    };
    ServerOptions options = WithHttp2();
    options.progress_timeout = absl::Seconds(10);
    Runtime runtime = PausedRuntime();
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    TestClient client(std::move(ends.first));
    JoinHandle<absl::Status> served = runtime.Spawn(ServeConnection(
        FlushedStream(std::move(ends.second)), handler, options));
    const auto run = [&]() -> Co<> {
      client.Get("/never");
      co_await client.Pump();
      const int32_t id = client.Get("/");
      client.SetReading(false);
      co_await client.Pump();
      co_await Advance(absl::Seconds(9));
      EXPECT_FALSE(served.IsFinished());
      if (client_goes_on) {
        client.SetReading(true);
        co_await client.Pump();
        EXPECT_EQ(client.reply(id).body.size(), 50'000);
      }
      co_await Advance(absl::Seconds(2));
      co_await client.Pump();
      EXPECT_EQ(served.IsFinished(), !client_goes_on);
      if (client_goes_on) {
        // The time has ended with the flush.
        co_await Advance(absl::Seconds(60));
        EXPECT_FALSE(served.IsFinished());
        served.Abort();
        (void)co_await served;
      } else if (served.IsFinished()) {
        const absl::Status status = co_await served;
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
      }
    };
    runtime.BlockOn(run());
  }
}

TEST(Http2, AClientThatClosesBeforeTheLastBytesOfAResponseLosesThem) {
  const auto handler = [](Request) -> Answer {
    co_return Response::Text(std::string(50'000, 'z'));
  };
  Connection connection(handler, WithHttp2(), TestClient::Options(),
                        /*capacity=*/1000);
  connection.Pump();
  connection.client().SetReading(false);
  connection.client().Get("/");
  connection.Pump();
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(Http2, AClosedWindowIsNotForgottenWhileTheSessionYields) {
  const auto handler = [](Request request) -> Answer {
    co_return Response::Text(
        std::string(request.target == "/large" ? 20 << 20 : 10'000, 'z'));
  };
  ServerOptions options = WithHttp2();
  TestClient::Options window;
  window.stream_window = 1000;
  window.opens_windows = false;
  // The connection takes everything, but not in one poll of the session.
  Connection connection(handler, options, window, /*capacity=*/32 << 20);
  const int32_t stalled = connection.client().Get("/");
  connection.Pass(options.progress_timeout - absl::Seconds(10));
  const int32_t large = connection.client().Get("/large");
  connection.Pump();
  connection.client().OpenWindow(0, 100'000'000);
  connection.client().OpenWindow(large, 100'000'000);
  connection.Pump();
  EXPECT_EQ(connection.reply(large).body.size(), 20 << 20);
  EXPECT_FALSE(connection.reply(stalled).is_closed);
  connection.Pass(absl::Seconds(10));
  EXPECT_TRUE(connection.reply(stalled).is_closed);
}

TEST(Http2, ReadsOnWhenTheConnectionTakesBytesAgain) {
  const auto handler = [](Request request) -> Answer {
    Response response;
    if (request.target == "/large") {
      response.headers.AddChecked("x", std::string(15'000, 'z'));
    }
    co_return response;
  };
  Options limits;
  limits.max_concurrent_streams = 3000;
  Connection connection(handler, WithHttp2(limits), TestClient::Options(),
                        /*capacity=*/256 << 10);
  connection.Pump();
  connection.client().SetReading(false);
  // Fill the connection and the buffer of the session, and then the queue.
  for (int i = 0; i < 30; ++i) connection.client().Get("/large");
  connection.Pump();
  std::vector<int32_t> ids;
  for (int i = 0; i < 1500; ++i) ids.push_back(connection.client().Get("/"));
  connection.Pump();
  // The session does not read this while so much waits.
  ids.push_back(connection.client().Get("/"));
  connection.Pump();
  connection.client().SetReading(true);
  connection.Pump();
  for (const int32_t id : ids) EXPECT_EQ(connection.reply(id).status, 200);
}

}  // namespace
}  // namespace rouse::http::h2
