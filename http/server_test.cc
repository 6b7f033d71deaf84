// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the server over a `Duplex`. smuggling_test.cc has malformed requests.

#include "rouse/http/server.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/or_return.h"
#include "rouse/future/select.h"
#include "rouse/future/yield.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_fixture.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view kLast =
    "GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

// Returns the text of an answer with the type text/plain.
std::string Answer(std::string_view status, std::string_view body,
                   std::string_view connection = "") {
  return absl::StrCat("HTTP/1.1 ", status,
                      "\r\nContent-Type: text/plain; charset=utf-8\r\n"
                      "Content-Length: ",
                      body.size(), "\r\n", connection, "\r\n", body);
}
constexpr std::string_view kClose = "Connection: close\r\n";

// Answers with the method, the target and the body.
Co<absl::StatusOr<Response>> Echo(Request request) {
  std::string body = co_await OrReturn(request.body.ReadAll(1 << 20));
  co_return Response::Text(
      absl::StrCat(request.method, " ", request.target, " ", body));
}

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

// ---- Bodies.

Gen<std::string> Numbers(int count) {
  for (int i = 0; i < count; ++i) {
    co_await Yield();
    co_yield absl::StrCat(i, ";");
  }
}

TEST(ServeConnection, SendsAStreamInChunks) {
  const auto handler = [](const Request&) {
    Response response;
    response.body = Body::FromStream(Numbers(3));
    EXPECT_THAT(response.body.trailers().Set("Count", "3"), IsOk());
    return response;
  };
  const Answered answered = Answers(handler, kGet);
  EXPECT_EQ(answered.text,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "0002\r\n0;\r\n0002\r\n1;\r\n0002\r\n2;\r\n"
            "0\r\nCount: 3\r\n\r\n");
  // HTTP/1.0 has no chunks.
  EXPECT_EQ(Answers(handler, "GET / HTTP/1.0\r\n\r\n").text,
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n0;1;2;");
  EXPECT_EQ(Answers(handler, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").text,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(ServeConnection, SendsAStreamOfKnownSize) {
  const auto handler = [](const Request& request) {
    Response response;
    const uint64_t size = request.path() == "/short"  ? 7
                          : request.path() == "/long" ? 5
                                                      : 6;
    response.body = Body::FromStream(Numbers(3), size);
    return response;
  };
  EXPECT_EQ(Answers(handler, absl::StrCat(kGet, kLast)).text,
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n0;1;2;"
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n"
            "0;1;2;");
  for (const std::string_view path : {"/short", "/long"}) {
    const Answered answered = Answers(
        handler, absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_THAT(answered.status, StatusIs(absl::StatusCode::kInternal,
                                          HasSubstr("correct the size")));
  }
}

TEST(ServeConnection, SendsALargeTextThroughASmallConnection) {
  const std::string large(300'000, 'x');
  const auto handler = [&large](const Request&) {
    return Response::Text(large);
  };
  EXPECT_EQ(
      Answers(handler, absl::StrCat(kGet, kGet), ServerOptions(), 10, 100).text,
      absl::StrCat(Answer("200 OK", large), Answer("200 OK", large)));
}

// The response's body is the request's body. Nothing is collected in between.
TEST(ServeConnection, StreamsBothWaysAtOnce) {
  const auto handler = [](Request request) {
    Response response;
    response.body = std::move(request.body);
    return response;
  };
  const std::string body(200'000, 'y');
  ServerOptions options;
  options.max_body_bytes = body.size();
  const Answered answered =
      Answers(handler,
              absl::StrCat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ",
                           body.size(), "\r\n\r\n", body, kGet),
              options, 1000, 1000);
  EXPECT_EQ(answered.text,
            absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(),
                         "\r\n\r\n", body,
                         "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
}

TEST(ServeConnection, ReadsTrailersAndChunks) {
  const auto handler = [](Request request) -> Co<absl::StatusOr<Response>> {
    std::string all = co_await OrReturn(request.body.ReadAll(100));
    co_return Response::Text(absl::StrCat(
        all, " ", request.body.trailers().Get("Checksum").value_or("none")));
  };
  EXPECT_EQ(Answers(handler,
                    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n3\r\nabc\r\n0\r\nChecksum: 77\r\n\r\n",
                    ServerOptions(), 1)
                .text,
            Answer("200 OK", "abc 77"));
}

// The client cannot send more than the buffers hold while nobody reads.
TEST(ServeConnection, HoldsTheClientBack) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    auto [release, released] = oneshot::Channel<int>();
    const auto handler = [&released = released](
                             Request request) -> Co<absl::StatusOr<Response>> {
      (void)co_await released;
      co_return Response::Text(absl::StrCat(
          (co_await OrReturn(request.body.ReadAll(1 << 20))).size()));
    };
    auto serving = Spawn(ServeConnection(std::move(ends.second), handler));
    size_t sent = 0;
    const auto send = [&ends, &sent]() -> Co<> {
      EXPECT_THAT(co_await WriteAll(ends.first,
                                    "POST / HTTP/1.1\r\nHost: x\r\n"
                                    "Content-Length: 100000\r\n\r\n"),
                  IsOk());
      for (; sent < 100'000; sent += 100) {
        EXPECT_THAT(co_await WriteAll(ends.first, std::string(100, 'x')),
                    IsOk());
      }
    };
    JoinHandle<void> sending = Spawn(send);
    co_await Advance(absl::ZeroDuration());
    EXPECT_LT(sent, 5000);
    EXPECT_TRUE(release.Send(1));
    (void)co_await sending;
    char answer[64];
    const absl::StatusOr<size_t> size =
        co_await Read(ends.first, absl::MakeSpan(answer));
    EXPECT_THAT(std::string_view(answer, *size), StartsWith("HTTP/1.1 200 OK"));
    serving.Abort();
  };
  runtime.BlockOn(run);
}

TEST(ServeConnection, SendsContinueWhenTheBodyIsRead) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    auto serving = Spawn(ServeConnection(std::move(ends.second), &Echo));
    EXPECT_THAT(co_await WriteAll(ends.first,
                                  "POST / HTTP/1.1\r\nHost: x\r\nExpect: "
                                  "100-continue\r\nContent-Length: 2\r\n\r\n"),
                IsOk());
    std::string expected = "HTTP/1.1 100 Continue\r\n\r\n";
    std::string got(expected.size(), ' ');
    (void)co_await ReadExact(ends.first, absl::MakeSpan(got));
    EXPECT_EQ(got, expected);
    EXPECT_THAT(co_await WriteAll(ends.first, absl::StrCat("hi", kLast)),
                IsOk());
    std::string rest;
    (void)co_await ReadToEnd(ends.first, rest);
    EXPECT_EQ(WithoutDate(rest),
              absl::StrCat(Answer("200 OK", "POST / hi"),
                           Answer("200 OK", "GET /b ", kClose)));
  };
  runtime.BlockOn(run);
}

TEST(ServeConnection, SendsNoContinueIfTheBodyIsNotRead) {
  const auto handler = [](const Request&) { return Response::Text("no", 403); };
  EXPECT_EQ(Answers(handler,
                    "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                    "Content-Length: 2\r\n\r\n")
                .text,
            Answer("403 Forbidden", "no", kClose));
}

TEST(ServeConnection, DiscardsASmallBodyThatTheHandlerHasLeft) {
  const auto handler = [](const Request& request) {
    return Response::Text(request.target);
  };
  const std::string body(10'000, 'z');
  const std::string input = absl::StrCat(
      "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n", body,
      kGet);
  EXPECT_EQ(Answers(handler, input, ServerOptions(), 100).text,
            absl::StrCat(Answer("200 OK", "/p"), Answer("200 OK", "/a")));
  // A large body costs more than a connection.
  const std::string large = absl::StrCat(
      "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n",
      std::string(900'000, 'z'), kGet);
  EXPECT_EQ(Answers(handler, large, ServerOptions(), 5000).text,
            Answer("200 OK", "/p", kClose));
}

// A body can be read by another task, but not after the response.
TEST(ServeConnection, EndsABodyThatOutlivesTheResponse) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    std::optional<JoinHandle<absl::Status>> reading;
    auto [release, released] = oneshot::Channel<int>();
    auto [began, has_begun] = oneshot::Channel<int>();
    const auto read = [](Body body, oneshot::Sender<int> began,
                         oneshot::Receiver<int> released) -> Co<absl::Status> {
      char bytes[2];
      EXPECT_THAT((co_await ReadExact(body, absl::MakeSpan(bytes))), IsOk());
      EXPECT_TRUE(began.Send(1));
      (void)co_await std::move(released);
      co_return (co_await Read(body, absl::MakeSpan(bytes))).status();
    };
    const auto handler = [&, &released = released, &began = began,
                          &has_begun =
                              has_begun](Request request) -> Co<Response> {
      reading.emplace(Spawn(read(std::move(request.body), std::move(began),
                                 std::move(released))));
      (void)co_await std::move(has_begun);
      co_return Response::Text("early");
    };
    auto serving = Spawn(ServeConnection(std::move(ends.second), handler));
    EXPECT_THAT(
        co_await WriteAll(ends.first,
                          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: "
                          "1000000\r\n\r\nabcd"),
        IsOk());
    std::string text;
    EXPECT_THAT(co_await ReadToEnd(ends.first, text), IsOk());
    EXPECT_EQ(WithoutDate(text), Answer("200 OK", "early", kClose));
    EXPECT_TRUE(release.Send(1));
    const absl::Status status = co_await *reading;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled));
  };
  runtime.BlockOn(run);
}

// ---- Limits.

TEST(ServeConnection, LimitsTheHeader) {
  ServerOptions options;
  options.max_header_bytes = 200;
  const auto get = [](size_t size) {
    return absl::StrCat(
        "GET / HTTP/1.1\r\nHost: x\r\nA: ", std::string(size, 'a'), "\r\n\r\n");
  };
  const std::string_view rest = "GET / HTTP/1.1\r\nHost: x\r\nA: \r\n\r\n";
  EXPECT_THAT(Answers(Echo, get(200 - rest.size()), options).text,
              StartsWith("HTTP/1.1 200 "));
  for (const size_t step : {size_t{1}, size_t{10000}}) {
    EXPECT_EQ(Answers(Echo, get(201 - rest.size()), options, step).text,
              Answer("431 Request Header Fields Too Large",
                     "the header is too large\n", kClose));
    EXPECT_THAT(Answers(Echo, get(100'000), options, step * 100).text,
                StartsWith("HTTP/1.1 431 "));
  }
  // The limit belongs to each header, and not to what follows.
  EXPECT_THAT(
      Answers(Echo, absl::StrCat(get(10), get(100), get(10)), options).text,
      Not(HasSubstr("431")));
}

TEST(ServeConnection, LimitsTheBody) {
  ServerOptions options;
  options.max_body_bytes = 10;
  const auto post = [](size_t size) {
    return absl::StrCat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ", size,
                        "\r\n\r\n", std::string(size, 'x'));
  };
  EXPECT_EQ(Answers(Echo, post(10), options).text,
            Answer("200 OK", "POST / xxxxxxxxxx"));
  EXPECT_EQ(Answers(Echo, post(11), options).text,
            Answer("413 Content Too Large", "the body is too large\n", kClose));
  EXPECT_EQ(
      Answers(Echo,
              "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
              "6\r\n012345\r\n5\r\n6789X\r\n0\r\n\r\n",
              options)
          .text,
      Answer("413 Content Too Large",
             "the body exceeds the limit of 10 bytes\n", kClose));
}

// Returns what the server sends within `duration` after `input`.
std::string AnswerWithin(absl::Duration duration, std::string_view input,
                         const ServerOptions& options, absl::Status& status) {
  Runtime runtime = PausedRuntime();
  std::string text;
  const auto run = [&]() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    const auto handler = [](Request request) -> Co<absl::StatusOr<Response>> {
      if (request.path() == "/slow") co_await Sleep(absl::Hours(1));
      co_return co_await Echo(std::move(request));
    };
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(std::move(ends.second), handler, options));
    EXPECT_THAT(co_await WriteAll(ends.first, input), IsOk());
    co_await Advance(duration);
    const auto receive = [&]() -> Co<> {
      (void)co_await ReadToEnd(ends.first, text);
    };
    JoinHandle<void> receiving = Spawn(receive);
    co_await Advance(absl::ZeroDuration());
    // Otherwise the server would wait for the client.
    ends.first.ShutdownWrite().IgnoreError();
    co_await Advance(absl::ZeroDuration());
    if (serving.IsFinished()) status = co_await serving;
    serving.Abort();
    (void)co_await receiving;
  };
  runtime.BlockOn(run);
  return WithoutDate(text);
}

TEST(ServeConnection, LimitsTheTimeOfEachPart) {
  ServerOptions options;
  options.idle_timeout = absl::Seconds(50);
  options.header_timeout = absl::Seconds(5);
  options.progress_timeout = absl::Seconds(20);
  absl::Status status;
  const auto within = [&](double seconds, std::string_view input) {
    status = absl::OkStatus();
    return AnswerWithin(absl::Seconds(seconds), input, options, status);
  };
  const std::string_view half = "GET / HTTP/1.1\r\nHost";
  EXPECT_THAT(within(4.9, half), Not(HasSubstr("408")));
  EXPECT_EQ(within(5.1, half),
            Answer("408 Request Timeout", "the header did not arrive in time\n",
                   kClose));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  const std::string_view body =
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab";
  EXPECT_THAT(within(19.9, body), Not(HasSubstr("408")));
  EXPECT_THAT(within(20.1, body), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(within(49.9, kGet), Answer("200 OK", "GET /a "));
  EXPECT_EQ(within(50.1, ""), "");
  EXPECT_THAT(status, IsOk());
}

TEST(ServeConnection, LimitsTheTimeOfAWholeRequest) {
  ServerOptions options;
  options.request_timeout = absl::Seconds(8);
  absl::Status status;
  const std::string_view slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(
      AnswerWithin(absl::Seconds(8.1), slow, options, status),
      Answer("503 Service Unavailable", "the server took too long\n", kClose));
  EXPECT_EQ(AnswerWithin(absl::Seconds(8.1),
                         "POST / HTTP/1.1\r\nHost: x\r\n"
                         "Content-Length: 5\r\n\r\nab",
                         options, status),
            Answer("408 Request Timeout",
                   "the request did not arrive in time\n", kClose));
}

// Expects that the connection ends when `progress_timeout` is over.
Co<> ExpectTimeIsUp(JoinHandle<absl::Status>& serving) {
  co_await Advance(absl::Seconds(29));
  EXPECT_FALSE(serving.IsFinished());
  co_await Advance(absl::Seconds(2));
  EXPECT_TRUE(serving.IsFinished());
  EXPECT_THAT(co_await serving, StatusIs(absl::StatusCode::kDeadlineExceeded));
}

// A client that does not take the response does not hold the connection.
TEST(ServeConnection, LimitsTheTimeOfAResponse) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    const auto handler = [](const Request&) {
      return Response::Text(std::string(100'000, 'x'));
    };
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(std::move(ends.second), handler));
    EXPECT_THAT(co_await WriteAll(ends.first, kGet), IsOk());
    co_await Advance(absl::Seconds(29));
    EXPECT_FALSE(serving.IsFinished());
    // Progress gives more time.
    std::string some(500, ' ');
    (void)co_await ReadExact(ends.first, absl::MakeSpan(some));
    co_await ExpectTimeIsUp(serving);
  };
  runtime.BlockOn(run);
}

// ---- Failures.

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

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(ServeConnection, MakesA500OfAnException) {
  const auto handler = [](Request request) -> Co<Response> {
    if (request.path() == "/a") throw std::runtime_error("secret detail");
    co_return Response::Text("fine");
  };
  const auto sync = [](const Request&) -> Response {
    throw std::runtime_error("secret detail");
  };
  EXPECT_EQ(Answers(handler, absl::StrCat(kGet, kLast)).text,
            absl::StrCat(
                Answer("500 Internal Server Error", "the server has failed\n"),
                Answer("200 OK", "fine", kClose)));
  EXPECT_EQ(Answers(sync, kGet).text,
            Answer("500 Internal Server Error", "the server has failed\n"));
}

Gen<std::string> Throwing() {
  co_yield "some";
  throw std::runtime_error("the disk is broken");
}

TEST(ServeConnection, EndsTheConnectionIfABodyThrows) {
  const auto handler = [](const Request&) {
    Response response;
    response.body = Body::FromStream(Throwing());
    return response;
  };
  const Answered answered = Answers(handler, kGet);
  EXPECT_THAT(answered.text, Not(EndsWith("0\r\n\r\n")));
  EXPECT_THAT(answered.status, StatusIs(absl::StatusCode::kInternal,
                                        HasSubstr("disk is broken")));
}
#endif  // ABSL_HAVE_EXCEPTIONS

Gen<absl::StatusOr<std::string>> Failing() {
  co_yield "some";
  co_yield absl::DataLossError("the disk is broken");
}

TEST(ServeConnection, EndsTheConnectionIfABodyFails) {
  const auto handler = [](const Request&) {
    Response response;
    response.body = Body::FromStream(Failing());
    return response;
  };
  const Answered answered = Answers(handler, absl::StrCat(kGet, kGet));
  EXPECT_THAT(answered.text, Not(HasSubstr("0\r\n\r\n")));
  EXPECT_THAT(answered.status, StatusIs(absl::StatusCode::kInternal,
                                        HasSubstr("disk is broken")));
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

// ---- Drain.

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

// ---- Upgrades.

TEST(ServeConnection, GivesTheConnectionAway) {
  const auto handler = [](const Request&) {
    Response response(101);
    response.headers = {{"Connection", "Upgrade"}, {"Upgrade", "shout"}};
    response.upgrade = [](ByteStream stream) -> Co<> {
      char bytes[5];
      EXPECT_THAT((co_await ReadExact(stream, absl::MakeSpan(bytes))), IsOk());
      EXPECT_THAT(co_await WriteAll(
                      stream, absl::StrCat(std::string_view(bytes, 5), "!")),
                  IsOk());
    };
    return response;
  };
  for (const size_t step : {size_t{1}, size_t{1000}}) {
    const Answered answered =
        Answers(handler,
                "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n"
                "Upgrade: shout\r\n\r\nhello",
                ServerOptions(), step);
    EXPECT_EQ(answered.text,
              "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
              "Upgrade: shout\r\n\r\nhello!");
    EXPECT_THAT(answered.status, IsOk());
  }
}

TEST(ServeConnection, GivesTheConnectionToConnect) {
  const auto handler = [](const Request& request) {
    EXPECT_EQ(request.target, "b:1");
    Response response(200);
    response.upgrade = [](ByteStream stream) -> Co<> {
      EXPECT_THAT(co_await WriteAll(stream, "tunnel"), IsOk());
    };
    return response;
  };
  EXPECT_EQ(Answers(handler, "CONNECT b:1 HTTP/1.1\r\nHost: b:1\r\n\r\n").text,
            "HTTP/1.1 200 OK\r\n\r\ntunnel");
}

// ---- Messages whose length could be wrong.

TEST(ServeConnection, SendsTheUnreadPartOfABody) {
  const auto handler = [](Request request) -> Co<absl::StatusOr<Response>> {
    char bytes[2];
    co_await OrReturn(ReadExact(request.body, absl::MakeSpan(bytes)));
    if (request.path() == "/all") {
      co_await OrReturn(request.body.ReadAll(100));
    }
    Response response;
    response.body = std::move(request.body);
    co_return response;
  };
  const auto post = [](std::string_view path) {
    return absl::StrCat(
        "POST ", path,
        " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  };
  const std::string input =
      absl::StrCat(post("/all"), post("/part"), post("/all"));
  // The body arrives with the header, or after it.
  for (const size_t step : {size_t{1}, size_t{1000}}) {
    EXPECT_EQ(Answers(handler, input, ServerOptions(), step).text,
              "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
              "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nllo"
              "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }
}

TEST(ServeConnection, WakesAReaderOfTheBodyAfterTheResponse) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    std::optional<JoinHandle<absl::Status>> reading;
    const auto read = [](Body body) -> Co<absl::Status> {
      char bytes[2];
      co_return (co_await Read(body, absl::MakeSpan(bytes))).status();
    };
    const auto handler = [&](Request request) -> Co<Response> {
      reading.emplace(Spawn(read(std::move(request.body))));
      // The other task now waits for the body.
      co_await Sleep(absl::Seconds(1));
      co_return Response::Text("early");
    };
    ServerOptions options;
    options.progress_timeout = absl::InfiniteDuration();
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(std::move(ends.second), handler, options));
    EXPECT_THAT(co_await WriteAll(ends.first,
                                  "POST / HTTP/1.1\r\nHost: x\r\n"
                                  "Content-Length: 5\r\n\r\n"),
                IsOk());
    co_await Advance(absl::Seconds(2));
    EXPECT_TRUE(reading->IsFinished());
    EXPECT_THAT(co_await *reading, StatusIs(absl::StatusCode::kCancelled));
    // The connection goes on behind the body.
    EXPECT_THAT(co_await WriteAll(ends.first, absl::StrCat("hello", kLast)),
                IsOk());
    co_await Advance(absl::Seconds(2));
    std::string text;
    EXPECT_THAT(co_await ReadToEnd(ends.first, text), IsOk());
    EXPECT_EQ(WithoutDate(text),
              absl::StrCat(Answer("200 OK", "early"),
                           Answer("200 OK", "early", kClose)));
    ends.first.ShutdownWrite().IgnoreError();
    (void)co_await serving;
  };
  runtime.BlockOn(run);
}

TEST(ServeConnection, GivesNoConnectionAwayWithinABody) {
  const auto handler = [](Request request) {
    Response response(101);
    response.upgrade = [body = std::make_shared<Body>(std::move(request.body))](
                           ByteStream) -> Co<> { co_return; };
    return response;
  };
  for (const size_t step : {size_t{1}, size_t{1000}}) {
    EXPECT_THAT(Answers(handler,
                        "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n"
                        "Upgrade: x\r\nContent-Length: 5\r\n\r\nhello",
                        ServerOptions(), step)
                    .text,
                StartsWith("HTTP/1.1 500 "));
  }
  EXPECT_THAT(Answers(handler,
                      "GET / HTTP/1.0\r\nConnection: upgrade\r\n"
                      "Upgrade: x\r\n\r\n")
                  .text,
              StartsWith("HTTP/1.1 500 "));
}

TEST(ServeConnection, NeedsAnUpgradeForConnect) {
  const auto handler = [](const Request& request) {
    EXPECT_EQ(request.headers.Get("Host"), "b:1");
    return Response::Text("hello", request.headers.Has("No") ? 403 : 200);
  };
  EXPECT_THAT(
      Answers(handler, "CONNECT b:1 HTTP/1.1\r\nHost: a:1\r\n\r\n").text,
      StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(
      Answers(handler, "CONNECT b:1 HTTP/1.1\r\nHost: a:1\r\nNo: 1\r\n\r\n")
          .text,
      StartsWith("HTTP/1.1 403 "));
}

TEST(ServeConnection, LimitsTheTimeOfABodyThatIsDiscarded) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    const auto handler = [](const Request&) { return Response::Text("early"); };
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(std::move(ends.second), handler));
    EXPECT_THAT(co_await WriteAll(ends.first,
                                  "POST / HTTP/1.1\r\nHost: x\r\n"
                                  "Content-Length: 1000\r\n\r\n"),
                IsOk());
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(co_await WriteAll(ends.first, "x"), IsOk());
      co_await Advance(absl::Seconds(14));
    }
    EXPECT_FALSE(serving.IsFinished());
    co_await Advance(absl::Seconds(3));
    EXPECT_TRUE(serving.IsFinished());
    EXPECT_THAT(co_await serving,
                StatusIs(absl::StatusCode::kDeadlineExceeded));
  };
  runtime.BlockOn(run);
}

// A stream that must be flushed, as TLS must. The flush is pending as often as
// `pending` says, and wakes the task each time except for the last. If
// `pending` is negative, the flush is always pending.
class Flushed {
 public:
  using Waiter = DuplexStream::Waiter;

  Flushed(DuplexStream stream, int pending)
      : stream_(std::move(stream)), pending_(pending) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    return stream_.PollRead(cx, buffer, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context&, std::string_view data,
                                               Waiter* = nullptr) {
    kept_ += data;
    return absl::StatusOr<size_t>(data.size());
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) {
    return PollWrite(cx, parts[0], waiter);
  }
  PollResult<absl::Status> PollFlush(Context& cx) {
    if (pending_ < 0) return kPending;
    if (pending_ > 0) {
      if (--pending_ > 0) cx.waker().WakeByRef();
      return kPending;
    }
    while (!kept_.empty()) {
      auto size = stream_.PollWrite(cx, kept_);
      if (size.IsPending()) return kPending;
      if (!size->ok()) return size->status();
      kept_.erase(0, **size);
    }
    return absl::OkStatus();
  }
  PollResult<absl::Status> PollShutdown(Context& cx) {
    return stream_.PollShutdown(cx);
  }

 private:
  DuplexStream stream_;
  std::string kept_;
  int pending_;
};

TEST(ServeConnection, FlushesWhatIsSentBeforeABody) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    const auto handler = [](Request request) -> Co<absl::StatusOr<Response>> {
      // Polls again after the flush was pending.
      const auto first = co_await SelectBiased(request.body.ReadAll(10),
                                               Sleep(absl::Seconds(1)));
      EXPECT_EQ(first.index(), 1);
      co_return Response::Text(co_await OrReturn(request.body.ReadAll(10)));
    };
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(Flushed(std::move(ends.second), 1), handler));
    EXPECT_THAT(co_await WriteAll(ends.first,
                                  "POST / HTTP/1.1\r\nHost: x\r\nExpect: "
                                  "100-continue\r\nContent-Length: 2\r\n"
                                  "Connection: close\r\n\r\n"),
                IsOk());
    co_await Advance(absl::Seconds(2));
    std::string go_on(25, ' ');
    EXPECT_THAT((co_await ReadExact(ends.first, absl::MakeSpan(go_on))),
                IsOk());
    EXPECT_EQ(go_on, "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_THAT(co_await WriteAll(ends.first, "hi"), IsOk());
    std::string text;
    EXPECT_THAT(co_await ReadToEnd(ends.first, text), IsOk());
    EXPECT_EQ(WithoutDate(text), Answer("200 OK", "hi", kClose));
    ends.first.ShutdownWrite().IgnoreError();
    (void)co_await serving;
  };
  runtime.BlockOn(run);
}

TEST(ServeConnection, RepeatsTheErrorIfAContinueCannotBeSent) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    bool has_read = false;
    const auto handler = [&has_read](Request request) -> Co<Response> {
      char bytes[2];
      for (int i = 0; i < 2; ++i) {
        const absl::StatusOr<size_t> size =
            co_await Read(request.body, absl::MakeSpan(bytes));
        EXPECT_THAT(size, StatusIs(absl::StatusCode::kDeadlineExceeded));
        co_await Sleep(absl::Seconds(31));
      }
      has_read = true;
      co_return Response::Text("late");
    };
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(Flushed(std::move(ends.second), -1), handler));
    EXPECT_THAT(co_await WriteAll(ends.first,
                                  "POST / HTTP/1.1\r\nHost: x\r\nExpect: "
                                  "100-continue\r\nContent-Length: 2\r\n\r\n"),
                IsOk());
    for (int i = 0; i < 3; ++i) co_await Advance(absl::Seconds(31));
    EXPECT_TRUE(has_read);
    serving.Abort();
    (void)co_await serving;
  };
  runtime.BlockOn(run);
}

TEST(ServeConnection, LimitsTheTimeOfAFlush) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(1000);
    const auto one_item = []() -> Gen<std::string> {
      co_yield "x";
      co_await Sleep(absl::Hours(1));
    };
    const auto handler = [&one_item](const Request&) {
      Response response;
      response.body = Body::FromStream(one_item());
      return response;
    };
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(Flushed(std::move(ends.second), -1), handler));
    EXPECT_THAT(co_await WriteAll(ends.first, kGet), IsOk());
    co_await ExpectTimeIsUp(serving);
  };
  runtime.BlockOn(run);
}

TEST(ServeConnection, FinishesAContinueThatWasSentInPart) {
  Runtime runtime = PausedRuntime();
  const auto run = []() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(10);
    const auto handler = [](Request request) -> Co<absl::StatusOr<Response>> {
      const auto first = co_await SelectBiased(request.body.ReadAll(10),
                                               Sleep(absl::Seconds(1)));
      EXPECT_EQ(first.index(), 1);
      co_return Response::Text("no", 403);
    };
    JoinHandle<absl::Status> serving =
        Spawn(ServeConnection(std::move(ends.second), handler));
    JoinHandle<void> sending =
        Spawn(SendInSteps(ends.first,
                          "POST / HTTP/1.1\r\nHost: x\r\nExpect: "
                          "100-continue\r\nContent-Length: 2\r\n\r\n",
                          10));
    co_await Advance(absl::Seconds(2));
    std::string text;
    EXPECT_THAT(co_await ReadToEnd(ends.first, text), IsOk());
    EXPECT_EQ(WithoutDate(text),
              absl::StrCat("HTTP/1.1 100 Continue\r\n\r\n",
                           Answer("403 Forbidden", "no", kClose)));
    (void)co_await sending;
    (void)co_await serving;
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
