// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the limits of size and time of the server.

#include <cstddef>
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
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/server.h"
#include "rouse/http/server/server_fixture.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

}  // namespace
}  // namespace rouse::http
