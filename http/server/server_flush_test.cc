// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what the server sends before a response is complete: "100 Continue",
// and bytes that a stream keeps until it is flushed.

#include <cstddef>
#include <string>
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
#include "rouse/future/select.h"
#include "rouse/http/body.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/flushed_stream.h"
#include "rouse/http/server/server.h"
#include "rouse/http/server/server_fixture.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
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
    JoinHandle<absl::Status> serving = Spawn(
        ServeConnection(FlushedStream(std::move(ends.second), 1), handler));
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
    JoinHandle<absl::Status> serving = Spawn(
        ServeConnection(FlushedStream(std::move(ends.second), -1), handler));
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
    JoinHandle<absl::Status> serving = Spawn(
        ServeConnection(FlushedStream(std::move(ends.second), -1), handler));
    EXPECT_THAT(co_await WriteAll(ends.first, kGet), IsOk());
    co_await ExpectTimeIsUp(serving);
  };
  runtime.BlockOn(run);
}

}  // namespace
}  // namespace rouse::http
