// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read_line.h
// -----------------------------------------------------------------------------
//
// Reads lines:
//
//   rouse::BufReader reader(stream);
//   std::string line;
//   while (co_await rouse::OrReturn(rouse::ReadLine(reader, line, 4096))) {
//     Handle(line);
//     line.clear();
//   }
//
// If the lines should be a `Stream`, or if the other end needs answers, use
// `Framed` with a `LineCodec`.

#ifndef ROUSE_IO_READ_LINE_H_
#define ROUSE_IO_READ_LINE_H_

#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "rouse/io/async_read.h"
#include "rouse/io/read_until.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReadLineFuture
//
// Returned by `ReadLine()`.
template <class R>
class [[nodiscard(
    "nothing is read until the future is awaited")]] ReadLineFuture {
 public:
  ReadLineFuture(R& reader, std::string& line, size_t limit)
      : line_(&line), until_(reader, '\n', line, limit) {}

  PollResult<absl::StatusOr<bool>> Poll(Context& cx) {
    auto size = until_.Poll(cx);
    if (size.IsPending()) return kPending;
    if (!size->ok()) {
      return absl::StatusOr<bool>((*std::move(size)).status());
    }
    if (**size == 0) return absl::StatusOr<bool>(false);
    if (line_->back() == '\n') {
      line_->pop_back();
      if (!line_->empty() && line_->back() == '\r') line_->pop_back();
    }
    return absl::StatusOr<bool>(true);
  }

 private:
  std::string* line_;
  ReadUntilFuture<R> until_;
};

// ReadLine()
//
// Reads a line and appends it to `line`, without its "\n" or "\r\n". The last
// line of a stream may end without either. The bytes need not be text.
//
// Returns a future of `absl::StatusOr<bool>`: true if a line was read, and
// false if the stream has ended and nothing was appended. A loop therefore ends
// with the stream whether it clears `line` or collects all lines in `line`.
//
// Cancellation: destroying the future before it is ready loses nothing. The
// bytes read stay in `line`, and another `ReadLine()` with the same `line`
// continues. If the second call returns false, the stream has ended in the
// middle of the line, and `line` holds the beginning of the line.
//
// Errors: ResourceExhausted if the line has more than `limit` bytes, including
// its end; the first `limit` bytes were then appended. Otherwise the error of
// the stream. Each `ReadLine()` counts only the bytes appended by itself.
template <AsyncBufRead R>
ReadLineFuture<R> ReadLine(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                           std::string& line ABSL_ATTRIBUTE_LIFETIME_BOUND,
                           size_t limit = std::numeric_limits<size_t>::max()) {
  return ReadLineFuture<R>(reader, line, limit);
}

}  // namespace rouse

#endif  // ROUSE_IO_READ_LINE_H_
