// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the bodies of requests and responses of the server.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/server.h"
#include "rouse/http/server/server_fixture.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

// The client cannot send more than the buffers hold while the handler does not
// read the body.
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

}  // namespace
}  // namespace rouse::http
