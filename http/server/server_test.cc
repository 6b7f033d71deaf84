// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the server over a `Duplex`. smuggling_test.cc has malformed requests.

#include "rouse/http/server/server.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/server_fixture.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ServeConnection, KeepsTheConnectionUntilTheClientEndsIt) {
  const Answered answered = Answers(Echo, absl::StrCat(kGet, kGet));
  EXPECT_EQ(answered.text, absl::StrCat(Answer("200 OK", "GET /a "),
                                        Answer("200 OK", "GET /a ")));
  EXPECT_THAT(answered.status, IsOk());
}

TEST(ServeConnection, ClosesWhenTheClientAsks) {
  const Answered answered = Answers(Echo, absl::StrCat(kLast, kGet));
  EXPECT_EQ(answered.text, Answer("200 OK", "GET /b ", kClose));
  EXPECT_THAT(answered.status, IsOk());
}

TEST(ServeConnection, AnswersThePiecesOfEachSplit) {
  const std::string input = absl::StrCat(
      kGet, "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
      "PUT /q HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nChecksum: 1\r\n\r\n",
      "HEAD /h HTTP/1.1\r\nHost: x\r\n\r\n", kLast);
  const std::string expected = absl::StrCat(
      Answer("200 OK", "GET /a "), Answer("200 OK", "POST /p hello"),
      Answer("200 OK", "PUT /q abc0123456789"),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Content-Length: 8\r\n\r\n",
      Answer("200 OK", "GET /b ", kClose));
  for (size_t step = 1; step < 40; ++step) {
    for (const size_t capacity : {size_t{1}, size_t{13}, size_t{4096}}) {
      const Answered answered =
          Answers(Echo, input, ServerOptions(), step, capacity);
      EXPECT_EQ(answered.text, expected) << step << " " << capacity;
      EXPECT_THAT(answered.status, IsOk());
    }
  }
}

TEST(ServeConnection, TakesEachKindOfHandler) {
  const auto plain = [](const Request& request) {
    return Response::Text(request.target);
  };
  const auto status = [](Request request) -> absl::StatusOr<Response> {
    return Response::Text(request.target);
  };
  const auto coroutine = [](Request request) -> Co<Response> {
    co_return Response::Text(request.target);
  };
  EXPECT_EQ(Answers(plain, kGet).text, Answer("200 OK", "/a"));
  EXPECT_EQ(Answers(status, kGet).text, Answer("200 OK", "/a"));
  EXPECT_EQ(Answers(coroutine, kGet).text, Answer("200 OK", "/a"));
}

TEST(ServeConnection, AnswersHttp10) {
  EXPECT_EQ(Answers(Echo, absl::StrCat("GET / HTTP/1.0\r\n\r\n", kGet)).text,
            Answer("200 OK", "GET / ", kClose));
  EXPECT_EQ(
      Answers(Echo, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").text,
      Answer("200 OK", "GET / ", "Connection: keep-alive\r\n"));
}

TEST(ServeConnection, SendsADate) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  std::string text;
  const auto run = [&]() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(4096);
    Spawn(ServeConnection(std::move(ends.second), &Echo)).Detach();
    EXPECT_THAT(co_await WriteAll(ends.first, kLast), IsOk());
    (void)co_await ReadToEnd(ends.first, text);
  };
  runtime->BlockOn(run);
  const size_t begin = text.find("Date: ");
  ASSERT_NE(begin, std::string::npos);
  absl::Time time;
  EXPECT_TRUE(absl::ParseTime("Date: %a, %d %b %E4Y %H:%M:%S GMT",
                              text.substr(begin, 35), &time, nullptr))
      << text;
  EXPECT_LT(absl::AbsDuration(absl::Now() - time), absl::Hours(1));
}

TEST(ServeConnection, MakesA500OfAnError) {
  const auto handler = [](const Request& request) -> absl::StatusOr<Response> {
    if (request.path() == "/a") return absl::NotFoundError("secret detail");
    return Response::Text("fine");
  };
  EXPECT_EQ(Answers(handler, absl::StrCat(kGet, kLast)).text,
            absl::StrCat(
                Answer("500 Internal Server Error", "the server has failed\n"),
                Answer("200 OK", "fine", kClose)));
}

TEST(ServeConnection, RefusesAResponseThatIsNotValid) {
  const auto handler = [](const Request& request) {
    Response response(request.path() == "/a" ? 700 : 200);
    if (request.path() == "/b") {
      response.status = 101;
      response.upgrade = [](ByteStream) -> Co<> { co_return; };
    }
    return response;
  };
  const std::string answer =
      Answer("500 Internal Server Error", "the server has failed\n");
  EXPECT_EQ(Answers(handler, kGet).text, answer);
  EXPECT_THAT(Answers(handler, kLast).text, StartsWith("HTTP/1.1 500 "));
}

TEST(ServeConnection, SendsOnlyFieldsThatTheHandlerMaySet) {
  const auto handler = [](const Request&) {
    Response response = Response::Text("x");
    response.headers = {{"Content-Length", "5"},
                        {"Transfer-Encoding", "chunked"},
                        {"Keep-Alive", "timeout=5"},
                        {"Date", "today"},
                        {"X", "y"}};
    return response;
  };
  const Answered answered = Answers(handler, kGet);
  EXPECT_EQ(answered.text,
            "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 1\r\n\r\nx");
  const auto length = [](const Request& request) {
    Response response(request.method == "HEAD" ? 200 : 304);
    response.headers = {{"Content-Length", "5"}};
    return response;
  };
  EXPECT_EQ(Answers(length, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").text,
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(Answers(length, kGet).text,
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n");
}

TEST(ServeConnection, CancelsTheHandlerIfTheClientCloses) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::optional<std::pair<DuplexStream, DuplexStream>> ends(Duplex(1000));
    const auto alive = std::make_shared<int>();
    const auto handler = [alive](Request) -> Co<Response> {
      // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): is held.
      const std::shared_ptr<int> held = alive;
      co_await Sleep(absl::Hours(1));
      co_return Response::Text("late");
    };
    JoinHandle<absl::Status> serving = Spawn(
        ServeConnection(std::move(ends->second), handler, ServerOptions()));
    EXPECT_THAT(co_await WriteAll(ends->first, kGet), IsOk());
    co_await Advance(absl::ZeroDuration());
    const auto holders = alive.use_count();
    ends.reset();
    co_await Advance(absl::ZeroDuration());
    EXPECT_LT(alive.use_count(), holders);
    EXPECT_TRUE(serving.IsFinished());
    EXPECT_THAT(co_await serving, StatusIs(absl::StatusCode::kDataLoss));
  };
  runtime.BlockOn(run);
}

// Destroys the connection at each point of an exchange.
TEST(ServeConnection, CanBeDestroyedAtAnyPoint) {
  const std::string input = absl::StrCat(
      "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\n\r\n",
      kGet);
  for (size_t sent = 0; sent <= input.size(); ++sent) {
    Runtime runtime = PausedRuntime();
    const auto run = [&]() -> Co<> {
      std::pair<DuplexStream, DuplexStream> ends = Duplex(20);
      JoinHandle<absl::Status> serving =
          Spawn(ServeConnection(std::move(ends.second), &Echo));
      JoinHandle<void> sending = Spawn(
          SendInSteps(ends.first, std::string_view(input).substr(0, sent), 5));
      co_await Advance(absl::ZeroDuration());
      serving.Abort();
      (void)co_await serving;
      std::string text;
      EXPECT_THAT(co_await ReadToEnd(ends.first, text), IsOk());
      sending.Abort();
      (void)co_await sending;
    };
    runtime.BlockOn(run);
  }
}

TEST(ServeConnection, ClosesAnIdleConnectionAtAStop) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> fresh = Duplex(1000);
    std::pair<DuplexStream, DuplexStream> used = Duplex(1000);
    ServerOptions options;
    auto first =
        Spawn(ServeConnection(std::move(fresh.second), &Echo, options));
    auto second =
        Spawn(ServeConnection(std::move(used.second), &Echo, options));
    EXPECT_THAT(co_await WriteAll(used.first, kGet), IsOk());
    co_await Advance(absl::ZeroDuration());
    EXPECT_FALSE(first.IsFinished());
    EXPECT_FALSE(second.IsFinished());
    options.stop.Cancel();
    co_await Advance(absl::ZeroDuration());
    EXPECT_TRUE(first.IsFinished());
    EXPECT_TRUE(second.IsFinished());
    EXPECT_THAT(co_await first, IsOk());
    EXPECT_THAT(co_await second, IsOk());
  };
  runtime.BlockOn(run);
}

TEST(ServeConnection, FinishesARequestAfterAStop) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    ServerOptions options;
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(std::move(ends.second), &Echo, options));
    // Half a request.
    EXPECT_THAT(
        co_await WriteAll(ends.first, "POST /p HTTP/1.1\r\nHost: x\r\n"),
        IsOk());
    co_await Advance(absl::ZeroDuration());
    options.stop.Cancel();
    co_await Advance(absl::ZeroDuration());
    EXPECT_FALSE(serving.IsFinished());
    // The rest of it, and another request, which is not answered.
    EXPECT_THAT(
        co_await WriteAll(ends.first,
                          absl::StrCat("Content-Length: 2\r\n\r\nhi", kGet)),
        IsOk());
    std::string text;
    EXPECT_THAT(co_await ReadToEnd(ends.first, text), IsOk());
    EXPECT_EQ(WithoutDate(text), Answer("200 OK", "POST /p hi", kClose));
  };
  runtime.BlockOn(run);
}

// Requests that have arrived together do not keep other tasks from running.
TEST(ServeConnection, LetsOthersRunBetweenPipelinedRequests) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  const auto run = []() -> Co<> {
    constexpr int kRequests = 2000;
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1 << 20);
    std::string input;
    for (int i = 0; i < kRequests; ++i) absl::StrAppend(&input, kGet);
    EXPECT_THAT(co_await WriteAll(ends.first, input), IsOk());
    int handled = 0;
    const auto handler = [&handled](const Request&) {
      ++handled;
      return Response::Text("x");
    };
    ServerOptions options;
    options.max_header_bytes = 1 << 20;
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(std::move(ends.second), handler, options));
    int longest = 0;
    while (handled < kRequests) {
      const int before = handled;
      co_await Yield();
      longest = std::max(longest, handled - before);
    }
    EXPECT_LE(longest, 500);
    serving.Abort();
    (void)co_await serving;
  };
  runtime->BlockOn(run);
}

TEST(ServeConnection, KeepsAnErrorOfTheHandlerToItself) {
  const auto handler = [](Request request) -> Co<absl::StatusOr<Response>> {
    if ((co_await request.body.ReadAll(100)).ok()) co_return Response();
    co_return absl::InternalError("secret detail");
  };
  const std::string text =
      Answers(handler,
              "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
              "\r\n\r\nxyz\r\n")
          .text;
  EXPECT_THAT(text, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(text, HasSubstr("the size of a chunk is not a number"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace rouse::http
