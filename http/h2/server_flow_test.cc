// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of bodies over HTTP/2, and of the flow control.

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
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/server_fixture.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/io/read.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

constexpr uint32_t kNoError = 0;
// At least this is open when nothing is unread.
const int32_t kHalfWindow =
    static_cast<int32_t>(Options().connection_window_bytes / 2);

TEST(Http2, ReceivesABodyThatCameWithTheHeader) {
  Connection connection(Echo);
  const int32_t id = connection.client().Post("/p", "hello");
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, "POST /p hello");
}

TEST(Http2, StreamsABodyBack) {
  const auto handler = [](Request request) -> Answer {
    Response response;
    response.body = std::move(request.body);
    co_return response;
  };
  for (const size_t capacity : {size_t{100}, size_t{65536}}) {
    ServerOptions options = WithHttp2();
    options.max_body_bytes = 10 << 20;
    Connection connection(handler, options, TestClient::Options(), capacity);
    std::string body(3 << 20, '\0');
    for (size_t i = 0; i < body.size(); ++i) {
      body[i] = static_cast<char>(i * 7 / 5);
    }
    if (capacity == 100) body.resize(100'000);
    const int32_t id = connection.client().Post("/", body);
    connection.Pump();
    EXPECT_TRUE(connection.reply(id).body == body);
    EXPECT_TRUE(connection.reply(id).has_ended);
  }
}

TEST(Http2, AHandlerThatDoesNotReadStopsTheClient) {
  std::optional<oneshot::Sender<int>> go;
  const auto handler = [&go](Request request) -> Answer {
    auto [sender, receiver] = oneshot::Channel<int>();
    go.emplace(std::move(sender));
    (void)co_await receiver;
    const std::string body = co_await OrReturn(request.body.ReadAll(10 << 20));
    co_return Response::Text(absl::StrCat(body.size()));
  };
  Options limits;
  limits.stream_window_bytes = 100'000;
  ServerOptions options = WithHttp2(limits);
  options.max_body_bytes = 10 << 20;
  Connection connection(handler, options);
  connection.Pump();  // the settings
  auto upload = std::make_shared<TestClient::Upload>();
  upload->unsent = std::string(5 << 20, 'x');
  upload->has_ended = true;
  const int32_t id = connection.client().Send("POST", "/", {}, upload);
  connection.Pump();
  EXPECT_EQ(upload->sent, 100'000);
  EXPECT_EQ(connection.client().window(id), 0);
  EXPECT_FALSE(connection.reply(id).has_ended);
  EXPECT_TRUE(std::move(*go).Send(1));
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, absl::StrCat(5 << 20));
}

TEST(Http2, AHandlerThatReadsOpensTheWindow) {
  Options limits;
  limits.stream_window_bytes = 10'000;
  ServerOptions options = WithHttp2(limits);
  options.max_body_bytes = 10 << 20;
  const auto handler = [](Request request) -> Answer {
    const std::string body = co_await OrReturn(request.body.ReadAll(10 << 20));
    co_return Response::Text(absl::StrCat(body.size()));
  };
  Connection connection(handler, options);
  connection.Pump();
  const int32_t id = connection.client().Post("/", std::string(5 << 20, 'x'));
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, absl::StrCat(5 << 20));
}

TEST(Http2, UnreadBodiesShareTheWindowOfTheConnection) {
  int alive = 0;
  ServerOptions options = WithHttp2();
  options.max_body_bytes = 10 << 20;
  Connection connection(Never(alive), options);
  connection.Pump();
  std::vector<std::shared_ptr<TestClient::Upload>> uploads;
  std::vector<int32_t> ids;
  for (int i = 0; i < 20; ++i) {
    uploads.push_back(std::make_shared<TestClient::Upload>());
    uploads.back()->unsent = std::string(1 << 20, 'x');
    ids.push_back(connection.client().Send("POST", "/", {}, uploads.back()));
  }
  connection.Pump();
  size_t sent = 0;
  for (const auto& upload : uploads) sent += upload->sent;
  EXPECT_EQ(sent, Options().connection_window_bytes);
  EXPECT_EQ(alive, 20);
  // The bytes of requests that are reset count no more.
  for (const int32_t id : ids) connection.client().Reset(id);
  connection.Pump();
  EXPECT_EQ(alive, 0);
  EXPECT_THAT(connection.client().window(0), Ge(kHalfWindow));
}

TEST(Http2, UnreadBodiesThatAreCompleteShareTheWindowOfTheConnection) {
  int alive = 0;
  Connection connection(Never(alive));
  connection.Pump();
  std::vector<std::shared_ptr<TestClient::Upload>> uploads;
  for (int i = 0; i < 100; ++i) {
    uploads.push_back(std::make_shared<TestClient::Upload>());
    uploads.back()->unsent = std::string(20'000, 'x');
    uploads.back()->has_ended = true;
    connection.client().Send("POST", "/", {}, uploads.back());
    connection.Pump();
  }
  size_t sent = 0;
  for (const auto& upload : uploads) sent += upload->sent;
  EXPECT_EQ(sent, Options().connection_window_bytes);
  EXPECT_EQ(alive, 100);
}

TEST(Http2, ReceivesABodyOfKnownSizeThatCameWithTheHeader) {
  const auto handler = [](Request request) -> Answer {
    const std::optional<uint64_t> size = request.body.size();
    const std::string body = co_await OrReturn(request.body.ReadAll(1 << 20));
    EXPECT_EQ(size, body.size());
    EXPECT_EQ(request.body.trailers().Get("sum"), "3");
    co_return Response::Text(body);
  };
  Connection connection(handler);
  connection.Pump();
  for (const size_t size : {0, 1, 4096, 4097, 30'000}) {
    const std::string body(size, 'x');
    auto upload = std::make_shared<TestClient::Upload>();
    upload->unsent = body;
    upload->has_ended = true;
    upload->trailers = {{"sum", "3"}};
    const int32_t id = connection.client().Send("POST", "/", {}, upload);
    connection.Pump();
    EXPECT_EQ(connection.reply(id).body, body);
  }
}

// Leaves `/unread` unread, and counts the bytes of other bodies.
AnyHandler CountOrLeave() {
  return [](Request request) -> Answer {
    if (request.target == "/unread") {
      co_await Sleep(absl::InfiniteDuration());
    }
    const std::string body = co_await OrReturn(request.body.ReadAll(10 << 20));
    co_return Response::Text(absl::StrCat(body.size()));
  };
}

TEST(Http2, UnreadBodiesDoNotStopOthers) {
  // The bytes that the others leave of the window.
  for (const int32_t left : {600'000, 500'000, 300'000, 65'536, 1000, 1}) {
    SCOPED_TRACE(left);
    ServerOptions options = WithHttp2();
    options.max_body_bytes = 10 << 20;
    Connection connection(CountOrLeave(), options);
    connection.Pump();
    for (int i = 0; i < 4; ++i) {
      auto upload = std::make_shared<TestClient::Upload>();
      upload->unsent.resize(Options().connection_window_bytes / 4 -
                            (i == 0 ? left % 4 : 0) - left / 4);
      connection.client().Send("POST", "/unread", {}, std::move(upload));
    }
    connection.Pump();
    EXPECT_EQ(connection.client().window(0), left);
    const size_t size = left > 1000 ? 3 << 20 : 500 * left;
    const int32_t id = connection.client().Post("/", std::string(size, 'x'));
    connection.Pump();
    EXPECT_EQ(connection.reply(id).body, absl::StrCat(size));
  }
}

TEST(Http2, PaddingComesBackToTheWindow) {
  Connection connection(CountOrLeave());
  // 2 MiB of padding, which would exceed the window.
  std::string padded = absl::StrCat("\xff", "x", std::string(255, '\0'));
  std::string frames = Frame(1, 4, 1, HeaderBlock("POST"));
  for (int i = 0; i < 128; ++i) {
    for (int j = 0; j < 64; ++j) {
      absl::StrAppend(&frames, Frame(0, 8, 1, padded));
    }
    connection.client().SendRaw(std::exchange(frames, std::string()));
    connection.Pump();
    ASSERT_FALSE(connection.client().has_ended());
  }
}

TEST(Http2, AClosedWindowOfTheConnectionIsNotTheFaultOfAClient) {
  ServerOptions options = WithHttp2();
  options.max_body_bytes = 10 << 20;
  Connection connection(CountOrLeave(), options);
  connection.Pump();
  std::vector<int32_t> unread;
  for (int i = 0; i < 4; ++i) {
    auto upload = std::make_shared<TestClient::Upload>();
    upload->unsent.resize(Options().connection_window_bytes / 4);
    unread.push_back(
        connection.client().Send("POST", "/unread", {}, std::move(upload)));
  }
  connection.Pump();
  EXPECT_EQ(connection.client().window(0), 0);
  auto upload = std::make_shared<TestClient::Upload>();
  upload->unsent = "hello";
  const int32_t id = connection.client().Send("POST", "/", {}, upload);
  for (int i = 0; i < 3; ++i) connection.Pass(options.progress_timeout);
  EXPECT_EQ(connection.reply(id).status, 0);
  EXPECT_EQ(upload->sent, 0);
  connection.client().Reset(unread[0]);
  connection.Pass(options.progress_timeout - absl::Seconds(1));
  EXPECT_EQ(upload->sent, 5);
  EXPECT_EQ(connection.reply(id).status, 0);
  // From here, the time counts.
  connection.Pass(absl::Seconds(1));
  EXPECT_EQ(connection.reply(id).status, 408);
}

TEST(Http2, AnswersToUnreadBodiesOpenTheWindowOfTheConnection) {
  std::vector<oneshot::Sender<int>> senders;
  const auto handler = [&senders](Request request) -> Answer {
    if (request.target != "/unread") {
      co_return co_await Echo(std::move(request));
    }
    auto [sender, receiver] = oneshot::Channel<int>();
    senders.push_back(std::move(sender));
    (void)co_await receiver;
    co_return Response(204);
  };
  Connection connection(handler);
  connection.Pump();
  for (int i = 0; i < 4; ++i) {
    auto upload = std::make_shared<TestClient::Upload>();
    upload->unsent.resize(Options().connection_window_bytes / 4);
    connection.client().Send("POST", "/unread", {}, std::move(upload));
  }
  connection.Pump();
  EXPECT_EQ(connection.client().window(0), 0);
  const int32_t id = connection.client().Post("/", "hello");
  connection.Pump();
  EXPECT_EQ(connection.reply(id).status, 0);
  ASSERT_EQ(senders.size(), 4);
  for (auto& sender : senders) EXPECT_TRUE(std::move(sender).Send(1));
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, "POST / hello");
  EXPECT_THAT(connection.client().window(0), Ge(kHalfWindow));
}

TEST(Http2, BodiesThatHandlersDestroyDoNotStopOthers) {
  for (const bool has_arrived : {false, true}) {
    SCOPED_TRACE(has_arrived);
    std::vector<oneshot::Sender<int>> senders;
    const auto handler = [&senders](Request request) -> Answer {
      if (request.target == "/") co_return co_await Echo(std::move(request));
      if (request.target == "/late") {
        auto [sender, receiver] = oneshot::Channel<int>();
        senders.push_back(std::move(sender));
        (void)co_await receiver;
      }
      request.body = Body();
      co_await Sleep(absl::InfiniteDuration());
      co_return Response();
    };
    Connection connection(handler);
    connection.Pump();
    for (int i = 0; i < 4; ++i) {
      auto upload = std::make_shared<TestClient::Upload>();
      upload->unsent.resize(Options().connection_window_bytes / 4);
      connection.client().Send("POST", has_arrived ? "/late" : "/early", {},
                               std::move(upload));
    }
    connection.Pump();
    const int32_t id = connection.client().Post("/", "hello");
    connection.Pump();
    EXPECT_EQ(senders.size(), has_arrived ? 4 : 0);
    for (auto& sender : senders) EXPECT_TRUE(std::move(sender).Send(1));
    connection.Pump();
    EXPECT_EQ(connection.reply(id).body, "POST / hello");
    EXPECT_THAT(connection.client().window(0), Ge(kHalfWindow));
  }
}

TEST(Http2, ReadsBodiesOfManyRequestsInSmallPieces) {
  // Bytes for which the window was not opened again must not add up.
  const auto handler = [](Request request) -> Answer {
    size_t total = 0;
    char bytes[100];
    for (;;) {
      const size_t size =
          co_await OrReturn(Read(request.body, absl::MakeSpan(bytes)));
      if (size == 0) break;
      total += size;
    }
    co_return Response::Text(absl::StrCat(total));
  };
  Connection connection(handler);
  connection.Pump();
  std::vector<std::shared_ptr<TestClient::Upload>> uploads;
  std::vector<int32_t> ids;
  for (int i = 0; i < 50; ++i) {
    uploads.push_back(std::make_shared<TestClient::Upload>());
    ids.push_back(connection.client().Send("POST", "/", {}, uploads.back()));
  }
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 50; ++i) {
      uploads[i]->unsent = std::string(60'000, 'x');
      uploads[i]->has_ended = round == 9;
      if (round > 0) connection.client().Resume(ids[i]);
    }
    connection.Pump();
    for (const auto& upload : uploads) ASSERT_EQ(upload->unsent.size(), 0);
  }
  for (const int32_t id : ids) {
    EXPECT_EQ(connection.reply(id).body, "600000");
  }
}

TEST(Http2, ASourceIsReadOnlyAsTheClientTakesIt) {
  int count = 0;
  const auto handler = [&count](Request) -> Answer {
    Response response;
    response.body = Body::FromStream(Pieces(count, 1000));
    co_return response;
  };
  TestClient::Options client;
  client.stream_window = 1000;
  client.opens_windows = false;
  Connection connection(handler, WithHttp2(), client);
  const int32_t id = connection.client().Get("/");
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body.size(), 1000);
  EXPECT_THAT(count, AllOf(Ge(1), Le(9)));
  connection.client().OpenWindow(id, 20'000);
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body.size(), 21'000);
  EXPECT_THAT(count, AllOf(Ge(3), Le(11)));
  connection.client().OpenWindow(0, 100'000'000);
  connection.client().OpenWindow(id, 100'000'000);
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body.size(), 10'000'000);
  EXPECT_TRUE(connection.reply(id).has_ended);
}

TEST(Http2, OneResponseDoesNotWaitForAnother) {
  int count = 0;
  const auto handler = [&count](Request request) -> Answer {
    if (request.target == "/") co_return Response::Text("hello\n");
    Response response;
    response.body = Body::FromStream(Pieces(count, 1000));
    co_return response;
  };
  TestClient::Options client;
  client.stream_window = 30'000;
  client.opens_windows = false;
  Connection connection(handler, WithHttp2(), client);
  const int32_t first = connection.client().Get("/large");
  const int32_t second = connection.client().Get("/large");
  connection.Pump();
  EXPECT_EQ(connection.reply(first).body.size(), 30'000);
  EXPECT_EQ(connection.reply(second).body.size(), 30'000);
  EXPECT_EQ(connection.Get("/").body, "hello\n");
}

TEST(Http2, LargeResponsesAreSentInTurns) {
  const auto handler = [](Request) -> Answer {
    co_return Response::Text(std::string(1 << 20, 'z'));
  };
  TestClient::Options client;
  client.stream_window = 1 << 20;
  client.opens_windows = false;
  Connection connection(handler, WithHttp2(), client);
  const int32_t first = connection.client().Get("/");
  const int32_t second = connection.client().Get("/");
  connection.Pump();
  // The window of the connection is shared.
  EXPECT_THAT(connection.reply(first).body.size(),
              AllOf(Ge(20'000), Le(45'535)));
  EXPECT_EQ(connection.reply(first).body.size() +
                connection.reply(second).body.size(),
            65'535);
}

TEST(Http2, TrailersGoBothWays) {
  const auto handler = [](Request request) -> Answer {
    const std::string body = co_await OrReturn(request.body.ReadAll(1000));
    Response response = Response::Text(body);
    EXPECT_EQ(request.body.trailers().Get("checksum"), "17");
    if (request.target == "/streamed") {
      const auto pieces = [](std::string text) -> Gen<std::string> {
        co_yield std::move(text);
      };
      response.body = Body::FromStream(pieces(body));
    }
    response.body.trailers().AddChecked("Result", "fine");
    co_return response;
  };
  Connection connection(handler);
  for (const std::string_view path : {"/text", "/streamed"}) {
    for (const std::string_view text : {"hello", ""}) {
      auto upload = std::make_shared<TestClient::Upload>();
      upload->unsent = text;
      upload->has_ended = true;
      upload->trailers = {{"checksum", "17"}};
      const int32_t id = connection.client().Send("POST", path, {}, upload);
      connection.Pump();
      EXPECT_EQ(connection.reply(id).body, text);
      EXPECT_EQ(connection.reply(id).trailers, Headers({{"result", "fine"}}));
      EXPECT_TRUE(connection.reply(id).has_ended);
    }
  }
}

TEST(Http2, TrailersThatWouldChangeTheMessageAreRefused) {
  Connection connection(Echo);
  auto upload = std::make_shared<TestClient::Upload>();
  const int32_t id = connection.client().Send("POST", "/", {}, upload);
  connection.Pump();
  upload->has_ended = true;
  upload->trailers = {{"content-type", "x"}};
  connection.client().Resume(id);
  connection.Pump();
  EXPECT_EQ(connection.reply(id).status, 400);
}

TEST(Http2, AsksForABodyWhenTheHandlerReads) {
  std::optional<oneshot::Sender<int>> go;
  const auto handler = [&go](Request request) -> Answer {
    auto [sender, receiver] = oneshot::Channel<int>();
    go.emplace(std::move(sender));
    (void)co_await receiver;
    co_return co_await Echo(std::move(request));
  };
  Connection connection(handler);
  auto upload = std::make_shared<TestClient::Upload>();
  const int32_t id = connection.client().Send(
      "POST", "/", {{"expect", "100-continue"}}, upload);
  connection.Pump();
  EXPECT_TRUE(connection.reply(id).informational.empty());
  EXPECT_TRUE(std::move(*go).Send(1));
  connection.Pump();
  EXPECT_THAT(connection.reply(id).informational, ElementsAre(100));
  upload->unsent = "hello";
  upload->has_ended = true;
  connection.client().Resume(id);
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, "POST / hello");
}

TEST(Http2, DoesNotAskForABodyThatIsNotRead) {
  const auto handler = [](Request) -> Answer {
    co_return Response::Text("no", 403);
  };
  Connection connection(handler);
  auto upload = std::make_shared<TestClient::Upload>();
  const int32_t id = connection.client().Send(
      "POST", "/", {{"expect", "100-continue"}}, upload);
  connection.Pump();
  EXPECT_TRUE(connection.reply(id).informational.empty());
  EXPECT_EQ(connection.reply(id).status, 403);
  EXPECT_TRUE(connection.reply(id).is_closed);
  EXPECT_EQ(connection.reply(id).error, kNoError);
}

TEST(Http2, DoesNotWaitForABodyThatIsTooLarge) {
  ServerOptions options = WithHttp2();
  options.max_body_bytes = 100'000;
  Connection connection(Echo, options);
  const int32_t id = connection.client().Send(
      "POST", "/", {{"expect", "100-continue"}, {"content-length", "200000"}},
      std::make_shared<TestClient::Upload>());
  connection.Pump();
  EXPECT_TRUE(connection.reply(id).informational.empty());
  EXPECT_EQ(connection.reply(id).status, 413);
  EXPECT_TRUE(connection.reply(id).is_closed);
  EXPECT_EQ(connection.reply(id).error, kNoError);
}

TEST(Http2, DiscardsAShortBodyThatIsNotRead) {
  const auto handler = [](Request) -> Answer { co_return Response(); };
  ServerOptions options = WithHttp2();
  Connection connection(handler, options);
  connection.Pump();
  for (const bool is_late : {false, true}) {
    auto upload = std::make_shared<TestClient::Upload>();
    upload->unsent = std::string(100'000, 'x');
    const int32_t id = connection.client().Send(
        "POST", "/", {{"content-length", "200000"}}, upload);
    connection.Pump();
    EXPECT_TRUE(connection.reply(id).has_ended);
    EXPECT_FALSE(connection.reply(id).is_closed);
    if (is_late) {
      connection.Pass(options.progress_timeout);
    } else {
      upload->unsent = std::string(100'000, 'x');
      upload->has_ended = true;
      connection.client().Resume(id);
      connection.Pump();
      EXPECT_EQ(upload->sent, 200'000);
    }
    EXPECT_TRUE(connection.reply(id).is_closed);
    EXPECT_EQ(connection.reply(id).error, kNoError);
  }
  EXPECT_THAT(connection.client().window(0), Ge(kHalfWindow));
}

TEST(Http2, StopsALongBodyThatIsNotRead) {
  const auto handler = [](Request) -> Answer { co_return Response(); };
  Connection connection(handler);
  connection.Pump();
  auto upload = std::make_shared<TestClient::Upload>();
  upload->unsent = "x";
  const int32_t id = connection.client().Send("POST", "/", {}, upload);
  connection.Pump();
  EXPECT_TRUE(connection.reply(id).has_ended);
  EXPECT_TRUE(connection.reply(id).is_closed);
  EXPECT_EQ(connection.reply(id).error, kNoError);
}

TEST(Http2, ABodyCannotBeReadAfterTheResponse) {
  std::optional<Body> body;
  const auto handler = [&body](Request request) -> Answer {
    body = std::move(request.body);
    co_return Response();
  };
  Connection connection(handler);
  auto upload = std::make_shared<TestClient::Upload>();
  upload->unsent = "some bytes";
  connection.client().Send("POST", "/", {}, upload);
  connection.Pump();
  ASSERT_TRUE(body.has_value());
  const auto read = [&body]() -> Co<absl::Status> {
    co_return (co_await body->ReadAll(100)).status();
  };
  EXPECT_THAT(connection.runtime().BlockOn(read()),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(Http2, AnotherTaskCanReadTheBody) {
  const auto handler = [](Request request) -> Answer {
    const auto read = [](Body body) -> Co<absl::StatusOr<std::string>> {
      co_return co_await body.ReadAll(1 << 20);
    };
    JoinHandle<absl::StatusOr<std::string>> reader =
        Spawn(read(std::move(request.body)));
    const std::string text = co_await OrReturn(std::move(reader));
    co_return Response::Text(text);
  };
  Connection connection(handler);
  auto upload = std::make_shared<TestClient::Upload>();
  const int32_t id = connection.client().Send("POST", "/", {}, upload);
  connection.Pump();
  upload->unsent = "hello";
  upload->has_ended = true;
  connection.client().Resume(id);
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, "hello");
}

}  // namespace
}  // namespace rouse::http::h2
