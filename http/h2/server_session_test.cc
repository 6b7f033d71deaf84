// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of the server of HTTP/2, through `ServeConnection()`, with nghttp2's
// own client.

#include <cstddef>
#include <cstdint>
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
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/protocol.h"
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
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr uint32_t kNoError = 0;
constexpr uint32_t kProtocolError = 1;
constexpr uint32_t kInternalError = 2;
constexpr uint32_t kRefusedStream = 7;
constexpr uint32_t kCancel = 8;
constexpr uint32_t kEnhanceYourCalm = 11;
// The window of a connection is opened again when half of it was used.
const int32_t kHalfWindow =
    static_cast<int32_t>(Options().connection_window_bytes / 2);
constexpr int32_t kMaxId = 0x7fffffff;

using Answer = Co<absl::StatusOr<Response>>;
using AnyHandler = std::function<Answer(Request)>;

// Options of a server with HTTP/2.
ServerOptions WithHttp2(const Options& options = Options()) {
  ServerOptions result;
  result.http2 = Protocol(options);
  return result;
}

// A server, a client, and the runtime. Time stands still.
class Connection {
 public:
  explicit Connection(AnyHandler handler, ServerOptions options = WithHttp2(),
                      TestClient::Options client = TestClient::Options(),
                      size_t capacity = 65536)
      : runtime_(PausedRuntime()) {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(capacity);
    client_.emplace(std::move(ends.first), client);
    served_.emplace(runtime_.Spawn(
        ServeConnection(std::move(ends.second), std::move(handler),
                        std::move(options), "the test")));
  }

  TestClient& client() { return *client_; }
  TestClient::Reply& reply(int32_t id) { return client_->reply(id); }

  void Pump() { runtime_.BlockOn(client_->Pump()); }
  // Lets time pass, and a tick more, after which the timers for `time` end.
  void Pass(absl::Duration time) {
    Pump();
    const auto pass = [time]() -> Co<> {
      co_await Advance(time + absl::Milliseconds(1));
    };
    runtime_.BlockOn(pass());
    Pump();
  }

  // Sends a request and returns what has come of it.
  TestClient::Reply& Get(std::string_view path,
                         const Headers& headers = Headers()) {
    const int32_t id = client_->Get(path, headers);
    Pump();
    return reply(id);
  }

  bool HasEnded() const { return served_->IsFinished(); }
  // Waits for the end.
  absl::Status Status() {
    Pump();
    EXPECT_TRUE(HasEnded());
    if (!HasEnded()) return absl::UnknownError("the connection goes on");
    const auto join = [this]() -> Co<absl::Status> {
      co_return co_await *served_;
    };
    return runtime_.BlockOn(join());
  }
  // Destroys the future of the connection.
  void Abort() {
    served_->Abort();
    Pump();
  }

  Runtime& runtime() { return runtime_; }

 private:
  Runtime runtime_;
  std::optional<TestClient> client_;
  std::optional<JoinHandle<absl::Status>> served_;
};

// Answers with the method, the target and the body.
Answer Echo(Request request) {
  std::string body = co_await OrReturn(request.body.ReadAll(1 << 20));
  co_return Response::Text(
      absl::StrCat(request.method, " ", request.target, " ", body));
}

// Counts the objects that exist.
class Counted {
 public:
  explicit Counted(int& count) : count_(&count) { ++*count_; }
  Counted(Counted&& other) noexcept
      : count_(std::exchange(other.count_, nullptr)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (count_ != nullptr) --*count_;
  }

 private:
  int* count_;
};

// A handler that never answers. `alive` is the number of its futures.
AnyHandler Never(int& alive) {
  return [&alive](Request) -> Answer {
    const Counted counted(alive);
    co_await Sleep(absl::InfiniteDuration());
    co_return Response();
  };
}

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
    response.headers = {{"Connection", "keep-alive"},     {"Keep-Alive", "1"},
                        {"Transfer-Encoding", "chunked"}, {"Upgrade", "x"},
                        {"Proxy-Connection", "close"},    {"Date", "today"},
                        {"Content-Length", "99"},         {"X", "y"}};
    co_return response;
  };
  Connection connection(handler);
  const Headers& headers = connection.Get("/").headers;
  EXPECT_EQ(headers,
            Headers({{"date", "today"}, {"x", "y"}, {"content-length", "0"}}));
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
  EXPECT_EQ(connection.Get("/", {{"host", "other"}}).body, "example.com");
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

// ---- Bodies.

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

// Yields pieces of 10,000 bytes, and counts them.
Gen<std::string> Pieces(int& count, int most) {
  for (int i = 0; i < most; ++i) {
    ++count;
    co_yield std::string(10'000, 'y');
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
  // Not worth an answer.
  EXPECT_EQ(connection.Get("/", {{"x", std::string(9000, 'x')}}).error,
            kInternalError);
  EXPECT_EQ(connection.Get("/").status, 200);
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
              ElementsAre(Pair(kMaxId, kNoError), Pair(1, kNoError)));
  EXPECT_TRUE(connection.client().has_ended());
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(), IsOk());
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

// ---- Clients that break the rules.

// Sends `frames` after the preface. Returns the status of the connection, whose
// last GOAWAY must have `error`.
absl::Status StatusAfter(std::string_view frames, uint32_t error,
                         AnyHandler handler = Echo,
                         ServerOptions options = WithHttp2()) {
  Connection connection(std::move(handler), std::move(options));
  connection.client().SendRaw(frames);
  connection.Pump();
  EXPECT_FALSE(connection.client().goaways().empty());
  if (!connection.client().goaways().empty()) {
    EXPECT_EQ(connection.client().goaways().back().second, error);
  }
  EXPECT_TRUE(connection.client().has_ended());
  connection.client().EndWriting();
  return connection.Status();
}

TEST(Http2, BrokenFramesEndTheConnection) {
  constexpr uint32_t kFrameSizeError = 6;
  constexpr uint32_t kCompressionError = 9;
  const std::string header = HeaderBlock();
  const std::vector<std::pair<std::string, uint32_t>> cases = {
      // DATA on stream 0, and on a stream that does not exist.
      {Frame(0, 0, 0, "x"), kProtocolError},
      {Frame(0, 0, 5, "x"), kProtocolError},
      // HEADERS on stream 0, and on a stream of the server.
      {Frame(1, 5, 0, header), kProtocolError},
      {Frame(1, 5, 2, header), kProtocolError},
      // A frame above the limit of 16 KiB.
      {Frame(0, 0, 1, std::string(16385, 'x')), kFrameSizeError},
      // SETTINGS, PING and WINDOW_UPDATE of a wrong size or value.
      {Frame(4, 0, 0, "x"), kFrameSizeError},
      {Frame(6, 0, 0, "x"), kFrameSizeError},
      {Frame(8, 0, 0, std::string(4, '\0')), kProtocolError},
      // CONTINUATION without HEADERS, and another frame instead of one.
      {Frame(9, 4, 1, header), kProtocolError},
      {absl::StrCat(Frame(1, 1, 1, header), Frame(6, 0, 0, "12345678")),
       kProtocolError},
      // An index that no table has.
      {Frame(1, 5, 1, "\xff\xff\xff\x7f"), kCompressionError},
      // PUSH_PROMISE of a client.
      {Frame(5, 4, 1, absl::StrCat(std::string("\0\0\0\2", 4), header)),
       kProtocolError},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [frames, error] = cases[i];
    EXPECT_THAT(StatusAfter(frames, error),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("rules of HTTP/2")));
  }
}

TEST(Http2, MalformedRequestsResetTheirStream) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  const Fields begin = {{":method", "GET"},
                        {":scheme", "http"},
                        {":authority", "x"},
                        {":path", "/"}};
  const auto with = [&begin](Fields more) {
    Fields fields = begin;
    for (auto& field : more) fields.push_back(std::move(field));
    return fields;
  };
  // 0 means a reset with PROTOCOL_ERROR.
  const std::vector<std::pair<Fields, int>> cases = {
      {{{":method", "GET"}, {":scheme", "http"}, {":authority", "x"}}, 0},
      {with({{":path", "/again"}}), 0},
      {with({{"a", "b"}, {":unknown", "x"}}), 0},
      {with({{"connection", "close"}}), 0},
      {with({{"transfer-encoding", "chunked"}}), 0},
      {with({{"keep-alive", "1"}}), 0},
      {with({{"content-length", "5"}}), 0},
      {with({{"content-length", "+0"}}), 0},
      {with({{"a b", "c"}}), 0},
      {with({{"a", "b\r\nc: d"}}), 0},
      {{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}}, 0},
      {{{":method", "G T"},
        {":scheme", "http"},
        {":authority", "x"},
        {":path", "/"}},
       0},
      {{{":method", "GET"},
        {":scheme", "http"},
        {":authority", "x/y"},
        {":path", "/"}},
       0},
      {{{":method", "GET"},
        {":scheme", "http"},
        {":authority", "x"},
        {":path", "/a#b"}},
       400},
      {{{":method", "GET"},
        {":scheme", "http"},
        {":authority", "x"},
        {":path", "/\xc3\xa4"}},
       400},
      {{{":method", "CONNECT"}, {":authority", "x"}}, 400},
      {with({{"expect", "miracles"}}), 417},
  };
  Connection connection(Echo);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [fields, status] = cases[i];
    const int32_t id = connection.client().SendFields(fields);
    connection.Pump();
    const TestClient::Reply& reply = connection.reply(id);
    EXPECT_EQ(reply.status, status);
    EXPECT_TRUE(reply.is_closed);
    EXPECT_EQ(reply.error, status == 0 ? kProtocolError : kNoError);
  }
  EXPECT_EQ(connection.Get("/").status, 200);
}

std::string Repeat(std::string_view frame, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) absl::StrAppend(&all, frame);
  return all;
}

TEST(Http2, FloodsOfFramesEndTheConnection) {
  const std::string priority = Frame(2, 0, 1, std::string(5, '\1'));
  const std::string post = Frame(1, 4, 1, HeaderBlock("POST"));
  const std::string empty = Frame(0, 0, 1);
  for (const std::string& frames :
       {Repeat(priority, 1200), absl::StrCat(post, Repeat(empty, 1200))}) {
    EXPECT_THAT(StatusAfter(frames, kEnhanceYourCalm),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(Http2, FloodsOfFramesWithAnswersEndTheConnection) {
  const std::string ping = Frame(6, 0, 0, "12345678");
  const std::string settings = Frame(4, 0, 0);
  // nghttp2's client ends the connection after an answer to SETTINGS that the
  // client has not sent, so these must come at once.
  const std::vector<std::pair<std::string, int>> cases = {
      {ping, 1}, {ping, 100}, {ping, 2000}, {settings, 2000}};
  for (const auto& [frame, at_once] : cases) {
    SCOPED_TRACE(absl::StrCat(frame.size(), " ", at_once));
    Connection connection(Echo);
    for (int sent = 0; sent < 2000; sent += at_once) {
      connection.client().SendRaw(Repeat(frame, at_once));
      connection.Pump();
    }
    EXPECT_TRUE(connection.client().has_ended());
    connection.client().EndWriting();
    EXPECT_THAT(connection.Status(),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(Http2, ManyFramesOverTimeAreNoFlood) {
  Connection connection(Echo);
  const std::string pings = Repeat(Frame(6, 0, 0, "12345678"), 400);
  for (int i = 0; i < 30; ++i) {
    connection.client().SendRaw(pings);
    connection.Pass(absl::Seconds(9));
    EXPECT_EQ(connection.Get("/").status, 200);
  }
}

TEST(Http2, RapidResetsEndTheConnection) {
  int alive = 0;
  int started = 0;
  const auto handler = [&alive, &started](Request) -> Answer {
    ++started;
    const Counted counted(alive);
    co_await Sleep(absl::InfiniteDuration());
    co_return Response();
  };
  std::string frames;
  for (uint32_t i = 0; i < 2000; ++i) {
    absl::StrAppend(&frames, Frame(1, 5, 2 * i + 1, HeaderBlock()),
                    Frame(3, 0, 2 * i + 1, std::string("\0\0\0\x8", 4)));
  }
  Connection connection(handler);
  connection.client().SendRaw(frames);
  connection.Pump();
  EXPECT_TRUE(connection.client().has_ended());
  EXPECT_EQ(alive, 0);
  EXPECT_LE(started, 1000);
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Http2, RequestsThatCauseResetsEndTheConnection) {
  // The server resets each stream itself (CVE-2025-8671): WINDOW_UPDATE of 0.
  std::string frames;
  for (uint32_t i = 0; i < 2000; ++i) {
    absl::StrAppend(&frames, Frame(1, 5, 2 * i + 1, HeaderBlock()),
                    Frame(8, 0, 2 * i + 1, std::string(4, '\0')));
  }
  int alive = 0;
  Connection connection(Never(alive));
  connection.client().SendRaw(frames);
  connection.Pump();
  EXPECT_TRUE(connection.client().has_ended());
  EXPECT_EQ(alive, 0);
}

TEST(Http2, AFloodOfContinuationsEndsTheConnection) {
  std::string frames = Frame(1, 1, 1, HeaderBlock());
  for (int i = 0; i < 10'000; ++i) {
    absl::StrAppend(&frames, Frame(9, 0, 1, std::string("\0\1a\1b", 5)));
  }
  Connection connection(Echo);
  connection.client().SendRaw(frames);
  connection.Pump();
  EXPECT_TRUE(connection.client().has_ended());
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Http2, AClientThatDoesNotReceiveFillsNoMemory) {
  // Requests that are refused, whose answers the client does not take.
  Options limits;
  limits.max_concurrent_streams = 1;
  ServerOptions options = WithHttp2(limits);
  int alive = 0;
  Connection connection(Never(alive), options, TestClient::Options(),
                        /*capacity=*/1000);
  connection.client().SetReading(false);
  std::string frames;
  for (uint32_t i = 0; i < 100'000; ++i) {
    absl::StrAppend(&frames, Frame(1, 5, 2 * i + 1, HeaderBlock()));
  }
  connection.client().SendRaw(frames);
  connection.Pump();
  // The server has stopped reading, or has ended the connection.
  connection.Pass(options.progress_timeout);
  EXPECT_TRUE(connection.HasEnded());
  EXPECT_EQ(alive, 0);
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
