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
    if (line_->empty()) return absl::StatusOr<bool>(false);
    if (**size > 0 && line_->back() == '\n') {
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
// Adds to `line`, which should be empty, what comes up to the next "\n" or
// "\r\n", which is taken but not added, or to the end of the stream. Gives
// `absl::StatusOr<bool>`: whether there was a line; false, with an empty
// `line`, when the stream has ended. ResourceExhausted if the line, with its
// end, has more than `limit` bytes, of which `limit` have been added; or the
// error of the stream. That it is text is not checked.
//
// Destroying it before it is ready loses nothing: what was read is in `line`,
// and another `ReadLine()` with the same `line` goes on from there. Its limit
// begins anew: it is for what it adds itself.
template <AsyncBufRead R>
ReadLineFuture<R> ReadLine(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                           std::string& line ABSL_ATTRIBUTE_LIFETIME_BOUND,
                           size_t limit = std::numeric_limits<size_t>::max()) {
  return ReadLineFuture<R>(reader, line, limit);
}

}  // namespace rouse

#endif  // ROUSE_IO_READ_LINE_H_
