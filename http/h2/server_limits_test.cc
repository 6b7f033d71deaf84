// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of the limits of a server of HTTP/2, and of the ends of requests and of
// connections.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/or_return.h"
#include "rouse/http/body.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/server_fixture.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr uint32_t kNoError = 0;
constexpr uint32_t kRefusedStream = 7;
constexpr uint32_t kCancel = 8;
constexpr uint32_t kEnhanceYourCalm = 11;
constexpr int32_t kMaxId = 0x7fffffff;
// The window of a connection is opened again when half of it was used.
const int32_t kHalfWindow =
    static_cast<int32_t>(Options().connection_window_bytes / 2);

// ---- Limits.
TEST(Http2, LimitsTheHeader) {
  ServerOptions options = WithHttp2();
  options.max_header_bytes = 1000;
  options.max_header_count = 10;
  Connection connection(Echo, options);
  EXPECT_EQ(connection.Get("/", {{"x", std::string(700, 'x')}}).status, 200);
  EXPECT_EQ(connection.Get("/", {{"x", std::string(1000, 'x')}}).status, 431);
  Headers many;
  for (int i = 0; i < 10; ++i) many.AddChecked("x", "y");
  EXPECT_EQ(connection.Get("/", many).status, 200);
  many.AddChecked("x", "y");
  EXPECT_EQ(connection.Get("/", many).status, 431);
  EXPECT_EQ(connection.Get("/").status, 200);
  // Not worth an answer.
  EXPECT_EQ(connection.Get("/", {{"x", std::string(9000, 'x')}}).status, 0);
  EXPECT_TRUE(connection.client().has_ended());
  ASSERT_FALSE(connection.client().goaways().empty());
  EXPECT_EQ(connection.client().goaways().back().second, kEnhanceYourCalm);
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("max_header_bytes")));
}

TEST(Http2, LimitsTheBody) {
  ServerOptions options = WithHttp2();
  options.max_body_bytes = 1000;
  Connection connection(Echo, options);
  connection.Pump();
  const int32_t fits = connection.client().Post("/", std::string(1000, 'x'));
  const int32_t known = connection.client().Post("/", std::string(1001, 'x'),
                                                 {{"content-length", "1001"}});
  const int32_t unknown = connection.client().Post("/", std::string(1001, 'x'));
  const int32_t huge = connection.client().Post("/", std::string(1 << 20, 'x'));
  connection.Pump();
  EXPECT_EQ(connection.reply(fits).status, 200);
  for (const int32_t id : {known, unknown, huge}) {
    EXPECT_EQ(connection.reply(id).status, 413);
    EXPECT_TRUE(connection.reply(id).is_closed);
    EXPECT_EQ(connection.reply(id).error, kNoError);
  }
  EXPECT_THAT(connection.client().window(0), Ge(kHalfWindow));
}

TEST(Http2, LimitsTheStreams) {
  int alive = 0;
  Options limits;
  limits.max_concurrent_streams = 3;
  Connection connection(Never(alive), WithHttp2(limits));
  std::vector<int32_t> ids;
  // The client does not know the limit yet.
  for (int i = 0; i < 5; ++i) ids.push_back(connection.client().Get("/"));
  connection.Pump();
  EXPECT_EQ(alive, 3);
  EXPECT_EQ(connection.reply(ids[3]).error, kRefusedStream);
  EXPECT_EQ(connection.reply(ids[4]).error, kRefusedStream);
  connection.client().Reset(ids[0]);
  connection.Pump();
  EXPECT_EQ(alive, 2);
  connection.client().Get("/");
  connection.Pump();
  EXPECT_EQ(alive, 3);
}

TEST(Http2, LimitsTheTimeOfAHandler) {
  int alive = 0;
  ServerOptions options = WithHttp2();
  options.request_timeout = absl::Seconds(5);
  Connection connection(Never(alive), options);
  const int32_t id = connection.client().Get("/");
  connection.Pass(absl::Seconds(4));
  EXPECT_FALSE(connection.reply(id).has_ended);
  EXPECT_EQ(alive, 1);
  connection.Pass(absl::Seconds(1));
  EXPECT_EQ(connection.reply(id).status, 503);
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(connection.HasEnded());
}

TEST(Http2, LimitsTheTimeOfARequestsBody) {
  ServerOptions options = WithHttp2();
  options.request_timeout = absl::Seconds(5);
  options.progress_timeout = absl::Seconds(2);
  Connection connection(Echo, options);
  auto upload = std::make_shared<TestClient::Upload>();
  const int32_t slow = connection.client().Send("POST", "/", {}, upload);
  const int32_t silent = connection.client().Send(
      "POST", "/", {}, std::make_shared<TestClient::Upload>());
  for (int i = 0; i < 4; ++i) {
    connection.Pass(absl::Seconds(1));
    upload->unsent = "x";
    connection.client().Resume(slow);
    connection.Pump();
    EXPECT_EQ(connection.reply(silent).status, i < 1 ? 0 : 408) << i;
    EXPECT_FALSE(connection.reply(slow).has_ended);
  }
  connection.Pass(absl::Seconds(1));
  EXPECT_EQ(connection.reply(slow).status, 408);
}

TEST(Http2, LimitsTheTimeOfAClosedWindow) {
  int count = 0;
  const auto handler = [&count](Request request) -> Answer {
    Response response;
    if (request.target == "/text") {
      response.body = std::string(1 << 20, 'z');
    } else {
      response.body = Body::FromStream(Pieces(count, 1000));
    }
    co_return response;
  };
  for (const std::string_view path : {"/text", "/source"}) {
    for (const int window : {0, 1, 1000}) {
      ServerOptions options = WithHttp2();
      options.progress_timeout = absl::Seconds(10);
      TestClient::Options client;
      client.stream_window = window;
      client.opens_windows = false;
      Connection connection(handler, options, client);
      const int32_t id = connection.client().Get(path);
      connection.Pass(absl::Seconds(9));
      EXPECT_EQ(connection.reply(id).body.size(), window);
      // A byte is progress.
      connection.client().OpenWindow(id, 1);
      connection.Pass(absl::Seconds(9));
      EXPECT_EQ(connection.reply(id).body.size(), window + 1);
      EXPECT_FALSE(connection.reply(id).is_closed);
      connection.Pass(absl::Seconds(1));
      EXPECT_TRUE(connection.reply(id).is_closed);
      EXPECT_EQ(connection.reply(id).error, kCancel);
      EXPECT_FALSE(connection.HasEnded());
    }
  }
}

TEST(Http2, AWaitingSourceIsNotTheClientsFault) {
  const auto handler = [](Request) -> Answer {
    const auto pieces = []() -> Gen<std::string> {
      co_yield "first";
      co_await Sleep(absl::Hours(1));
      co_yield "second";
    };
    Response response;
    response.body = Body::FromStream(pieces());
    co_return response;
  };
  Connection connection(handler);
  const int32_t id = connection.client().Get("/");
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, "first");
  connection.Pass(absl::Hours(1));
  EXPECT_EQ(connection.reply(id).body, "firstsecond");
  EXPECT_TRUE(connection.reply(id).has_ended);
}

TEST(Http2, LimitsTheTimeOfAClientThatDoesNotReceive) {
  const auto handler = [](Request) -> Answer {
    co_return Response::Text(std::string(50'000, 'z'));
  };
  ServerOptions options = WithHttp2();
  options.progress_timeout = absl::Seconds(10);
  Connection connection(handler, options, TestClient::Options(),
                        /*capacity=*/1000);
  connection.Pump();
  connection.client().SetReading(false);
  connection.client().Get("/");
  connection.Pass(absl::Seconds(9));
  EXPECT_FALSE(connection.HasEnded());
  connection.Pass(absl::Seconds(1));
  EXPECT_THAT(connection.Status(),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(Http2, ClosesAnIdleConnection) {
  ServerOptions options = WithHttp2();
  options.idle_timeout = absl::Seconds(10);
  Connection connection(Echo, options);
  connection.Pass(absl::Seconds(5));
  connection.Get("/");
  connection.Pass(absl::Seconds(9));
  EXPECT_FALSE(connection.client().has_ended());
  connection.Pass(absl::Seconds(1));
  EXPECT_TRUE(connection.client().has_ended());
  EXPECT_THAT(connection.client().goaways(), ElementsAre(Pair(1, kNoError)));
  // The client may close a little later.
  connection.Pass(absl::Seconds(1));
  EXPECT_THAT(connection.Status(), IsOk());
}

TEST(Http2, ARequestKeepsTheConnection) {
  int alive = 0;
  ServerOptions options = WithHttp2();
  options.idle_timeout = absl::Seconds(10);
  Connection connection(Never(alive), options);
  connection.client().Get("/");
  connection.Pass(absl::Hours(10));
  EXPECT_EQ(alive, 1);
}

TEST(Http2, LimitsTheTimeOfAHeader) {
  for (const bool has_settings : {false, true}) {
    ServerOptions options = WithHttp2();
    Runtime runtime = PausedRuntime();
    std::pair<DuplexStream, DuplexStream> ends = Duplex(65536);
    auto served =
        runtime.Spawn(ServeConnection(std::move(ends.second), Echo, options));
    const auto run = [&]() -> Co<absl::Status> {
      const std::string sent =
          has_settings
              // HEADERS without END_HEADERS.
              ? absl::StrCat(Preface(), Frame(1, 1, 1, HeaderBlock()))
              : Preface().substr(0, 24);
      co_await OrReturn(WriteAll(ends.first, sent));
      co_await Advance(options.header_timeout - absl::Seconds(1));
      EXPECT_FALSE(served.IsFinished());
      co_await Advance(absl::Seconds(2));
      co_return co_await served;
    };
    EXPECT_THAT(runtime.BlockOn(run()),
                StatusIs(absl::StatusCode::kDeadlineExceeded));
  }
}

// ---- Cancelling.
TEST(Http2, AResetDestroysTheHandler) {
  int alive = 0;
  Connection connection(Never(alive));
  const int32_t first = connection.client().Get("/");
  const int32_t second = connection.client().Get("/");
  connection.Pump();
  EXPECT_EQ(alive, 2);
  connection.client().Reset(first);
  connection.Pump();
  EXPECT_EQ(alive, 1);
  connection.client().Reset(second);
  connection.Pump();
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(connection.HasEnded());
}

TEST(Http2, AResetDestroysASource) {
  int alive = 0;
  const auto handler = [&alive](Request) -> Answer {
    const auto pieces = [](Counted) -> Gen<std::string> {
      for (;;) co_yield std::string(10'000, 'y');
    };
    Response response;
    response.body = Body::FromStream(pieces(Counted(alive)));
    co_return response;
  };
  Connection connection(handler);
  const int32_t id = connection.client().Get("/");
  connection.client().SetReading(false);
  connection.Pump();
  EXPECT_EQ(alive, 1);
  connection.client().Reset(id);
  connection.Pump();
  EXPECT_EQ(alive, 0);
}

TEST(Http2, TheEndOfTheClientDestroysHandlers) {
  int alive = 0;
  Connection connection(Never(alive));
  for (int i = 0; i < 10; ++i) connection.client().Get("/");
  connection.Pump();
  EXPECT_EQ(alive, 10);
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(alive, 0);
}

TEST(Http2, AClientMayEndItsSideIfAllowed) {
  std::optional<oneshot::Sender<int>> go;
  const auto handler = [&go](Request request) -> Answer {
    if (request.method == "POST") co_return co_await Echo(std::move(request));
    auto [sender, receiver] = oneshot::Channel<int>();
    go.emplace(std::move(sender));
    (void)co_await receiver;
    co_return Response::Text("late\n");
  };
  ServerOptions options = WithHttp2();
  options.allow_half_close = true;
  Connection connection(handler, options);
  const int32_t id = connection.client().Get("/");
  const int32_t cut = connection.client().Send(
      "POST", "/", {}, std::make_shared<TestClient::Upload>());
  connection.Pump();
  connection.client().EndWriting();
  connection.Pump();
  EXPECT_FALSE(connection.HasEnded());
  EXPECT_EQ(connection.reply(cut).status, 500);
  EXPECT_TRUE(std::move(*go).Send(1));
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, "late\n");
  EXPECT_THAT(connection.Status(), IsOk());
}

TEST(Http2, DestroyingTheFutureDestroysHandlers) {
  int alive = 0;
  Connection connection(Never(alive));
  for (int i = 0; i < 10; ++i) connection.client().Get("/");
  connection.Pump();
  EXPECT_EQ(alive, 10);
  connection.Abort();
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(connection.client().has_ended());
}

// ---- Shutdown.
TEST(Http2, DrainsAnIdleConnection) {
  ServerOptions options = WithHttp2();
  const CancellationToken stop = options.stop;
  Connection connection(Echo, options);
  EXPECT_EQ(connection.Get("/").status, 200);
  stop.Cancel();
  connection.Pump();
  EXPECT_THAT(connection.client().goaways(),
              ElementsAre(Pair(kMaxId, kNoError)));
  // nghttp2's client does not answer a PING if no request is under way.
  connection.client().SendRaw(Frame(6, 1, 0, "draining"));
  connection.Pump();
  EXPECT_THAT(connection.client().goaways(),
              ElementsAre(Pair(kMaxId, kNoError), Pair(1, kNoError)));
  EXPECT_TRUE(connection.client().has_ended());
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), IsOk());
}

TEST(Http2, TheDrainSendsThePingAfterTheGoaway) {
  ServerOptions options = WithHttp2();
  const CancellationToken stop = options.stop;
  Runtime runtime = PausedRuntime();
  std::pair<DuplexStream, DuplexStream> ends = Duplex(65536);
  const JoinHandle<absl::Status> served =
      runtime.Spawn(ServeConnection(std::move(ends.second), Echo, options));
  const auto run = [&]() -> Co<std::string> {
    const std::string preface = Preface();
    const absl::Status written = co_await WriteAll(ends.first, preface);
    EXPECT_THAT(written, IsOk());
    co_await Advance(absl::ZeroDuration());
    stop.Cancel();
    co_await Advance(absl::ZeroDuration());
    std::string bytes(1000, '\0');
    const auto size = co_await Read(ends.first, absl::MakeSpan(bytes));
    bytes.resize(size.value_or(0));
    co_return bytes;
  };
  const std::string sent = runtime.BlockOn(run());
  const size_t goaway = sent.find(
      Frame(7, 0, 0, absl::StrCat("\x7f\xff\xff\xff", std::string(4, '\0'))));
  const size_t ping = sent.find(Frame(6, 0, 0, "draining"));
  ASSERT_NE(goaway, std::string::npos);
  ASSERT_NE(ping, std::string::npos);
  EXPECT_LT(goaway, ping);
}

TEST(Http2, DrainFinishesRequestsAndThoseOnTheirWay) {
  std::vector<oneshot::Sender<int>> senders;
  const auto handler = [&senders](Request request) -> Answer {
    auto [sender, receiver] = oneshot::Channel<int>();
    senders.push_back(std::move(sender));
    (void)co_await receiver;
    co_return co_await Echo(std::move(request));
  };
  ServerOptions options = WithHttp2();
  const CancellationToken stop = options.stop;
  TestClient::Options client;
  client.answers_pings = false;
  Connection connection(handler, options, client);
  const int32_t first = connection.client().Get("/first");
  connection.Pump();
  // The client does not know of the end when it sends.
  connection.client().SetReading(false);
  stop.Cancel();
  connection.Pump();
  const int32_t second = connection.client().Get("/second");
  connection.Pump();
  EXPECT_EQ(senders.size(), 2);
  connection.client().SetReading(true);
  connection.Pump();
  EXPECT_THAT(connection.client().goaways(),
              ElementsAre(Pair(kMaxId, kNoError)));
  // Without an answer to the PING, a second is enough.
  connection.Pass(absl::Seconds(1));
  EXPECT_THAT(connection.client().goaways(),
              ElementsAre(Pair(kMaxId, kNoError), Pair(second, kNoError)));
  EXPECT_FALSE(connection.HasEnded());
  for (auto& sender : senders) EXPECT_TRUE(std::move(sender).Send(1));
  connection.Pump();
  EXPECT_EQ(connection.reply(first).body, "GET /first ");
  EXPECT_EQ(connection.reply(second).body, "GET /second ");
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), IsOk());
}

TEST(Http2, EndsAfterTheClientsGoaway) {
  Connection connection(Echo);
  EXPECT_EQ(connection.Get("/").status, 200);
  connection.client().SendRaw(Frame(7, 0, 0, std::string(8, '\0')));
  connection.Pump();
  EXPECT_TRUE(connection.client().has_ended());
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), IsOk());
}

}  // namespace
}  // namespace rouse::http::h2
