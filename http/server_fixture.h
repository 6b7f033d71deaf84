// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers for tests of the server: requests as text, and the answers as text.

#ifndef ROUSE_HTTP_SERVER_FIXTURE_H_
#define ROUSE_HTTP_SERVER_FIXTURE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/yield.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"

namespace rouse::http {

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

}  // namespace rouse::http

#endif  // ROUSE_HTTP_SERVER_FIXTURE_H_
