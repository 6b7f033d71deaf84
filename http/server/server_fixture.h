// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers for tests of the server: requests as text, and the answers as text.

#ifndef ROUSE_HTTP_SERVER_SERVER_FIXTURE_H_
#define ROUSE_HTTP_SERVER_SERVER_FIXTURE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/future/yield.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"

namespace rouse::http {

// Requests, of which the second is the last, and the field of its answer.
inline constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
inline constexpr std::string_view kLast =
    "GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
inline constexpr std::string_view kClose = "Connection: close\r\n";

// Returns the text of an answer with the type text/plain.
inline std::string Answer(std::string_view status, std::string_view body,
                          std::string_view connection = "") {
  return absl::StrCat("HTTP/1.1 ", status,
                      "\r\nContent-Type: text/plain; charset=utf-8\r\n"
                      "Content-Length: ",
                      body.size(), "\r\n", connection, "\r\n", body);
}

// Answers with the method, the target and the body.
inline Co<absl::StatusOr<Response>> Echo(Request request) {
  std::string body = co_await OrReturn(request.body.ReadAll(1 << 20));
  co_return Response::Text(
      absl::StrCat(request.method, " ", request.target, " ", body));
}

// Returns `text` without the field `Date`, whose value no test knows.
inline std::string WithoutDate(std::string_view text) {
  std::string result(text);
  for (size_t begin; (begin = result.find("Date: ")) != std::string::npos;) {
    result.erase(begin, result.find('\n', begin) + 1 - begin);
  }
  return result;
}

// Writes `input` in parts of `step` bytes, and lets others run after each.
inline Co<> SendInSteps(const DuplexStream& stream, std::string_view input,
                        size_t step) {
  while (!input.empty()) {
    const std::string_view part = input.substr(0, step);
    input.remove_prefix(part.size());
    const absl::Status sent = co_await WriteAll(stream, part);
    if (!sent.ok()) co_return;  // the server has closed the connection
    co_await Yield();
  }
  stream.ShutdownWrite().IgnoreError();
}

// What a client has seen.
struct Answered {
  Answered(std::string text, absl::Status status)
      : text(std::move(text)), status(std::move(status)) {}

  std::string text;     // without dates
  absl::Status status;  // of `ServeConnection()`
};

// Sends `input` in parts of `step` bytes through a connection that holds
// `capacity` bytes, and returns everything that the server answers before it
// closes the connection. The client ends its side after `input`.
template <class H>
Answered Answers(const H& handler, std::string_view input,
                 ServerOptions options = ServerOptions(),
                 size_t step = std::string::npos, size_t capacity = 4096) {
  options.allow_half_close = true;
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  std::string text;
  absl::Status status;
  const auto run = [&]() -> Co<> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(capacity);
    const auto serve = [&]() -> Co<> {
      // The connection is closed when `ServeConnection()` has returned.
      status = co_await ServeConnection(std::move(ends.second), handler,
                                        std::move(options), "the test");
    };
    const auto receive = [&]() -> Co<> {
      const absl::StatusOr<size_t> all = co_await ReadToEnd(ends.first, text);
      EXPECT_TRUE(all.ok()) << all.status();
    };
    co_await Join(SendInSteps(ends.first, input, step), receive(), serve());
  };
  runtime->BlockOn(run);
  return Answered(WithoutDate(text), std::move(status));
}

// Expects that the connection ends when `progress_timeout` is over.
inline Co<> ExpectTimeIsUp(JoinHandle<absl::Status>& serving) {
  co_await Advance(absl::Seconds(29));
  EXPECT_FALSE(serving.IsFinished());
  co_await Advance(absl::Seconds(2));
  EXPECT_TRUE(serving.IsFinished());
  EXPECT_THAT(co_await serving,
              absl_testing::StatusIs(absl::StatusCode::kDeadlineExceeded));
}

}  // namespace rouse::http

#endif  // ROUSE_HTTP_SERVER_SERVER_FIXTURE_H_
