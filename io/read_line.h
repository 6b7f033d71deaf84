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
// Where lines are to be a `Stream`, or the other end has to be answered, there
// is `Framed` with a `LineCodec`.

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
// See `ReadLine()`.
template <class R>
class [[nodiscard]] ReadLineFuture {
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
// Reads one line and appends it to `line`, without the "\n" or "\r\n" that
// ends it. The last line of a stream may end without either. The bytes are not
// checked for being text.
//
// Returns a future of `absl::StatusOr<bool>`: true if a line was read, and
// false if the stream has ended and nothing was appended. So a loop ends with
// the stream whether it clears `line` or collects all lines in it.
//
// Cancellation: destroying the future before it is ready loses nothing. What
// was read stays in `line`, and another `ReadLine()` with that `line` continues
// it. If that one returns false, the stream has ended in the middle of the
// line, and `line` holds its beginning.
//
// Errors: ResourceExhausted if the line has more than `limit` bytes, its end
// included, of which the first `limit` bytes were appended; or the error of the
// stream. Each `ReadLine()` counts only what it appends itself.
template <AsyncBufRead R>
ReadLineFuture<R> ReadLine(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                           std::string& line ABSL_ATTRIBUTE_LIFETIME_BOUND,
                           size_t limit = std::numeric_limits<size_t>::max()) {
  return ReadLineFuture<R>(reader, line, limit);
}

}  // namespace rouse

#endif  // ROUSE_IO_READ_LINE_H_
