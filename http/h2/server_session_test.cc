// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of requests and responses of HTTP/2.

#include <cstdint>
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
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/paused_time.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr uint32_t kNoError = 0;
constexpr uint32_t kInternalError = 2;
constexpr int32_t kMaxId = 0x7fffffff;

// ---- Requests and responses.
TEST(Http2, AnswersARequest) {
  std::optional<Request> seen;
  const auto handler = [&seen](Request request) -> Answer {
    seen = std::move(request);
    Response response = Response::Text("hello\n", 201);
    co_await OrReturn(response.headers.Set("X-Case", "Kept"));
    co_return response;
  };
  Connection connection(handler);
  const TestClient::Reply& reply =
      connection.Get("/a?b=c", {{"x-user", "ada"}, {"accept", "*/*"}});
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->method, "GET");
  EXPECT_EQ(seen->target, "/a?b=c");
  EXPECT_EQ(seen->headers.Get("Host"), "example.com");
  EXPECT_EQ(seen->headers.Get("X-User"), "ada");
  EXPECT_EQ(seen->body.size(), uint64_t{0});
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "hello\n");
  EXPECT_EQ(reply.headers.Get("content-length"), "6");
  EXPECT_EQ(reply.headers.Get("x-case"), "Kept");
  EXPECT_TRUE(reply.headers.Has("date"));
  EXPECT_TRUE(reply.has_ended && reply.is_closed);
  EXPECT_EQ(reply.error, kNoError);
  EXPECT_FALSE(connection.HasEnded());
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), IsOk());
}

TEST(Http2, SendsItsLimits) {
  Options limits;
  limits.max_concurrent_streams = 7;
  limits.stream_window_bytes = 12345;
  limits.connection_window_bytes = 100'000;
  ServerOptions options = WithHttp2(limits);
  options.max_header_bytes = 4321;
  Connection connection(Echo, std::move(options));
  connection.Pump();
  const auto& settings = connection.client().settings();
  EXPECT_EQ(settings.at(3), 7);
  EXPECT_EQ(settings.at(4), 12345);
  EXPECT_EQ(settings.at(6), 4321);
  EXPECT_EQ(connection.client().window(0), 100'000);
}

TEST(Http2, LeavesHttp11ToTheOtherServer) {
  for (const std::string_view first :
       {"GET / HTTP/1.1\r\n", "PRI * HTTP/1.1\r\n", "P / HTTP/1.1\r\n"}) {
    Runtime runtime = PausedRuntime();
    std::pair<DuplexStream, DuplexStream> ends = Duplex(4096);
    auto served = runtime.Spawn(
        ServeConnection(std::move(ends.second), Echo, WithHttp2()));
    const auto run = [&]() -> Co<std::string> {
      const std::string request =
          absl::StrCat(first, "Host: x\r\nConnection: close\r\n\r\n");
      for (const char& c : request) {
        const absl::Status sent =
            co_await WriteAll(ends.first, std::string_view(&c, 1));
        EXPECT_THAT(sent, IsOk());
        co_await Yield();
      }
      std::string text(1000, '\0');
      const auto size = co_await Read(ends.first, absl::MakeSpan(text));
      text.resize(size.value_or(0));
      co_return text;
    };
    EXPECT_THAT(runtime.BlockOn(run()), HasSubstr("HTTP/1.1 "));
  }
}

TEST(Http2, ClosesAConnectionWithoutARequest) {
  for (const std::string_view sent : {"", "PRI * HT"}) {
    ServerOptions options = WithHttp2();
    Runtime runtime = PausedRuntime();
    std::pair<DuplexStream, DuplexStream> ends = Duplex(4096);
    auto served =
        runtime.Spawn(ServeConnection(std::move(ends.second), Echo, options));
    const auto run = [&]() -> Co<absl::Status> {
      co_await OrReturn(WriteAll(ends.first, sent));
      const absl::Duration time =
          sent.empty() ? options.idle_timeout : options.header_timeout;
      co_await Advance(time - absl::Seconds(1));
      EXPECT_FALSE(served.IsFinished());
      co_await Advance(absl::Milliseconds(1001));
      EXPECT_TRUE(served.IsFinished());
      co_return co_await served;
    };
    const absl::Status status = runtime.BlockOn(run());
    if (sent.empty()) {
      EXPECT_THAT(status, IsOk());
    } else {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
    }
  }
}

TEST(Http2, StopsAConnectionBeforeItsFirstByte) {
  ServerOptions options = WithHttp2();
  const CancellationToken stop = options.stop;
  Runtime runtime = PausedRuntime();
  std::pair<DuplexStream, DuplexStream> ends = Duplex(4096);
  auto served =
      runtime.Spawn(ServeConnection(std::move(ends.second), Echo, options));
  const auto run = [&]() -> Co<absl::Status> {
    co_await Advance(absl::ZeroDuration());
    EXPECT_FALSE(served.IsFinished());
    stop.Cancel();
    co_return co_await served;
  };
  EXPECT_THAT(runtime.BlockOn(run()), IsOk());
}

TEST(Http2, AnswersManyRequestsAtOnceInAnyOrder) {
  std::vector<oneshot::Sender<int>> senders;
  const auto handler = [&senders](Request request) -> Answer {
    auto [sender, receiver] = oneshot::Channel<int>();
    senders.push_back(std::move(sender));
    const absl::StatusOr<int> number = co_await receiver;
    co_return Response::Text(absl::StrCat(request.target, " ", *number));
  };
  Connection connection(handler);
  std::vector<int32_t> ids;
  for (int i = 0; i < 50; ++i) {
    ids.push_back(connection.client().Get(absl::StrCat("/", i)));
  }
  connection.Pump();
  ASSERT_EQ(senders.size(), 50);
  for (int i = 49; i >= 0; --i) {
    EXPECT_FALSE(connection.reply(ids[i]).has_ended);
    EXPECT_TRUE(std::move(senders[i]).Send(i));
    connection.Pump();
    EXPECT_EQ(connection.reply(ids[i]).body, absl::StrCat("/", i, " ", i));
  }
}

TEST(Http2, AnswersHeadAndStatusesWithoutABody) {
  const auto handler = [](Request request) -> Answer {
    Response response = Response::Text("hello\n");
    if (request.target == "/204") response.status = 204;
    if (request.target == "/304") {
      response.status = 304;
      response.body = Body();
      co_await OrReturn(response.headers.Set("Content-Length", "77"));
    }
    co_return response;
  };
  Connection connection(handler);
  const int32_t head = connection.client().Send("HEAD", "/", {});
  const int32_t none = connection.client().Get("/204");
  const int32_t not_modified = connection.client().Get("/304");
  connection.Pump();
  for (const int32_t id : {head, none, not_modified}) {
    EXPECT_TRUE(connection.reply(id).has_ended);
    EXPECT_EQ(connection.reply(id).body, "");
  }
  EXPECT_EQ(connection.reply(head).headers.Get("content-length"), "6");
  EXPECT_EQ(connection.reply(none).status, 204);
  EXPECT_FALSE(connection.reply(none).headers.Has("content-length"));
  EXPECT_EQ(connection.reply(not_modified).headers.Get("content-length"), "77");
}

TEST(Http2, LeavesOutTheFieldsOfHttp11) {
  const auto handler = [](Request) -> Answer {
    Response response;
    response.headers = {{"Connection", "keep-alive"},
                        {"Keep-Alive", "1"},
                        {"Transfer-Encoding", "chunked"},
                        {"Upgrade", "x"},
                        {"Proxy-Connection", "close"},
                        {"Date", "today"},
                        {"Content-Length", "99"},
                        {"X", "y"},
                        {"Connection", "hop, Skip"},
                        {"Hop", "1"},
                        {"TE", "trailers"},
                        {"skip", "2"}};
    response.body.trailers() = {
        {"Connection", "x"},     {"Transfer-Encoding", "chunked"},
        {"Content-Length", "1"}, {"Keep-Alive", "1"},
        {"TE", "trailers"},      {"Sum", "3"}};
    co_return response;
  };
  Connection connection(handler);
  const TestClient::Reply& reply = connection.Get("/");
  EXPECT_EQ(reply.headers,
            Headers({{"date", "today"}, {"x", "y"}, {"content-length", "0"}}));
  EXPECT_EQ(reply.trailers, Headers({{"sum", "3"}}));
}

TEST(Http2, JoinsCookies) {
  const auto handler = [](Request request) -> Answer {
    co_return Response::Text(std::string(*request.headers.Get("cookie")));
  };
  Connection connection(handler);
  EXPECT_EQ(connection.Get("/", {{"cookie", "a=1"}, {"cookie", "b=2"}}).body,
            "a=1; b=2");
}

TEST(Http2, TheAuthorityReplacesHost) {
  const auto handler = [](Request request) -> Answer {
    EXPECT_EQ(request.headers.GetAll("host").size(), 1);
    co_return Response::Text(std::string(*request.headers.Get("host")));
  };
  Connection connection(handler);
  // Another authority is refused: see server_attacks_test.cc.
  EXPECT_EQ(connection.Get("/", {{"host", "Example.com"}}).body, "example.com");
  const int32_t id = connection.client().SendFields({{":method", "GET"},
                                                     {":scheme", "http"},
                                                     {":path", "/"},
                                                     {"host", "by.field"}});
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body, "by.field");
}

TEST(Http2, ConnectAndUpgradeAreRefused) {
  const auto handler = [](Request request) -> Answer {
    Response response(request.method == "CONNECT" ? 200 : 101);
    if (request.method != "CONNECT") {
      response.upgrade = [](ByteStream) -> Co<> { co_return; };
    }
    co_return response;
  };
  Connection connection(handler);
  EXPECT_EQ(connection.Get("/").status, 500);
  const int32_t id = connection.client().SendFields(
      {{":method", "CONNECT"}, {":authority", "example.com:443"}});
  connection.Pump();
  EXPECT_EQ(connection.reply(id).status, 500);
}

TEST(Http2, AFieldConnectionCloseEndsTheConnection) {
  const auto handler = [](Request) -> Answer {
    Response response = Response::Text("bye\n");
    response.headers.AddChecked("Connection", "close");
    co_return response;
  };
  Connection connection(handler);
  EXPECT_EQ(connection.Get("/").body, "bye\n");
  EXPECT_THAT(connection.client().goaways(),
              ElementsAre(Pair(kMaxId, kNoError), Pair(1, kNoError)));
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), IsOk());
}

// ---- Errors.
TEST(Http2, ErrorsOfTheHandlerAreStatus500) {
  const auto handler = [](Request request) -> Answer {
    if (request.target == "/status") co_return Response(99);
    co_return absl::DataLossError("secret");
  };
  Connection connection(handler);
  EXPECT_EQ(connection.Get("/").status, 500);
  EXPECT_EQ(connection.Get("/").body, "the server has failed\n");
  EXPECT_EQ(connection.Get("/status").status, 500);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(Http2, ExceptionsOfTheHandlerAreStatus500) {
  const auto handler = [](Request request) -> Answer {
    if (request.target == "/call") throw std::runtime_error("in the call");
    const auto answer = [](Request) -> Answer {
      co_await Yield();
      throw std::runtime_error("in the future");
    };
    return answer(std::move(request));
  };
  Connection connection(handler);
  EXPECT_EQ(connection.Get("/call").status, 500);
  EXPECT_EQ(connection.Get("/future").status, 500);
}

TEST(Http2, AnExceptionOfASourceResetsTheStream) {
  const auto pieces = []() -> Gen<std::string> {
    co_yield "first";
    throw std::runtime_error("in the source");
  };
  const auto handler = [&pieces](Request) -> Answer {
    Response response;
    response.body = Body::FromStream(pieces());
    co_return response;
  };
  Connection connection(handler);
  const TestClient::Reply& reply = connection.Get("/");
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.has_ended);
  EXPECT_EQ(reply.error, kInternalError);
}
#endif

TEST(Http2, AnErrorOfASourceResetsTheStreamOnly) {
  int count = 0;
  const auto handler = [&count](Request request) -> Answer {
    const auto pieces = []() -> Gen<absl::StatusOr<std::string>> {
      co_yield std::string("first");
      co_yield absl::DataLossError("the disk is broken");
    };
    Response response;
    if (request.target == "/error") {
      response.body = Body::FromStream(pieces());
    } else {
      const uint64_t size = request.target == "/long" ? 9'999 : 10'001;
      response.body = Body::FromStream(Pieces(count, 1), size);
    }
    co_return response;
  };
  Connection connection(handler);
  const int32_t healthy = connection.client().Send("HEAD", "/error", {});
  for (const std::string_view path : {"/error", "/short", "/long"}) {
    const TestClient::Reply& reply = connection.Get(path);
    EXPECT_EQ(reply.status, 200) << path;
    EXPECT_FALSE(reply.has_ended) << path;
    EXPECT_EQ(reply.error, kInternalError) << path;
  }
  EXPECT_TRUE(connection.reply(healthy).has_ended);
  EXPECT_FALSE(connection.HasEnded());
}

// ---- Both protocols in one `Serve()`: see also //examples/http2_server.
TEST(Http2, WithoutTheOptionThePrefaceIsNoRequest) {
  Runtime runtime = PausedRuntime();
  std::pair<DuplexStream, DuplexStream> ends = Duplex(4096);
  auto served = runtime.Spawn(ServeConnection(std::move(ends.second), Echo));
  const auto run = [&]() -> Co<std::string> {
    const std::string preface = Preface();
    const absl::Status sent = co_await WriteAll(ends.first, preface);
    EXPECT_THAT(sent, IsOk());
    std::string text(1000, '\0');
    const auto size = co_await Read(ends.first, absl::MakeSpan(text));
    text.resize(size.value_or(0));
    co_return text;
  };
  EXPECT_THAT(runtime.BlockOn(run()), HasSubstr("HTTP/1.1 501 "));
}

}  // namespace
}  // namespace rouse::http::h2
