// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: records.h
// -----------------------------------------------------------------------------
//
// The lines, or other records, of a buffered reader as a stream of strings:
//
//   rouse::BufReader reader(std::move(stream));
//   auto lines = rouse::Lines(reader, 8192);
//   while (auto line = co_await rouse::Next(lines)) {
//     co_await rouse::OrReturn(line->status());
//     Handle(**line);
//   }
//
// Unlike a `Framed`, the stream has no buffer of its own: bytes behind a line
// stay in the reader, which can be read in another way afterwards.

#ifndef ROUSE_IO_ADAPT_RECORDS_H_
#define ROUSE_IO_ADAPT_RECORDS_H_

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/io/async_read.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// RecordStream
//
// A `Stream` of `absl::StatusOr<std::string>`: see `SplitOn()` and `Lines()`.
// Owns the `R` or, if `R` is a reference, refers to the reader. Movable, except
// while a future waits for the next item. Not thread-safe.
template <class R>
class RecordStream {
  static_assert(AsyncBufRead<R>);

 public:
  using Waiter = IoWaiter<R>;

  RecordStream(R&& reader, char delimiter, bool is_line, size_t limit)
      : reader_(std::forward<R>(reader)),
        limit_(limit),
        delimiter_(delimiter),
        is_line_(is_line) {}

  PollResult<std::optional<absl::StatusOr<std::string>>> PollNext(
      Context& cx, Waiter* waiter = nullptr) {
    using Item = std::optional<absl::StatusOr<std::string>>;
    for (;;) {
      if (has_ended_) return Item(std::nullopt);
      auto bytes = PollFillBuf(reader_, cx, waiter);
      if (bytes.IsPending()) return kPending;
      if (!bytes->ok()) {
        has_ended_ = true;
        return Item((*std::move(bytes)).status());
      }
      const std::string_view all = **bytes;
      if (all.empty()) {
        has_ended_ = true;
        if (is_skipping_ || partial_.empty()) return Item(std::nullopt);
        return Item(std::exchange(partial_, std::string()));
      }
      const size_t found = all.find(delimiter_);
      const bool is_whole = found != std::string_view::npos;
      const std::string_view part = all.substr(0, found);
      const size_t taken = part.size() + (is_whole ? 1 : 0);
      if (is_skipping_) {
        is_skipping_ = !is_whole;
        reader_.Consume(taken);
        continue;
      }
      if (part.size() > limit_ - partial_.size()) {
        // The error is made first, so that nothing is lost if memory runs out.
        absl::Status too_long = absl::ResourceExhaustedError(absl::StrCat(
            is_line_ ? "Lines: a line exceeds" : "SplitOn: a record exceeds",
            " the limit of ", limit_, " bytes"));
        partial_.clear();
        is_skipping_ = !is_whole;
        reader_.Consume(taken);
        return Item(std::move(too_long));
      }
      partial_.append(part);
      reader_.Consume(taken);
      if (!is_whole) continue;
      if (is_line_ && !partial_.empty() && partial_.back() == '\r') {
        partial_.pop_back();
      }
      return Item(std::exchange(partial_, std::string()));
    }
  }

 private:
  R reader_;
  size_t limit_;
  // The beginning of the next record, which has been taken from the reader.
  std::string partial_;
  char delimiter_;
  bool is_line_;
  // Set within a record that was too long, which has been reported.
  bool is_skipping_ = false;
  bool has_ended_ = false;
};

// SplitOn()
//
// Returns a stream of the records of `reader`, an `AsyncBufRead`, without the
// `delimiter` that ends each of them. The last record may end with the stream
// instead, unless the record is empty. An lvalue must outlive the stream; an
// rvalue is moved in.
//
// A record with more than `limit` bytes is a ResourceExhausted item. The record
// is skipped as it arrives, without being kept, and the next item is the record
// behind it. An error of the reader is the last item.
//
// Cancellation: nothing is lost when a future of `Next()` is destroyed. When
// the stream of records is destroyed, the part that it has of an incomplete
// record is lost, and later bytes are in the reader.
template <class R>
RecordStream<R> SplitOn(R&& reader, char delimiter,
                        size_t limit = std::numeric_limits<size_t>::max()) {
  return RecordStream<R>(std::forward<R>(reader), delimiter, /*is_line=*/false,
                         limit);
}

// Lines()
//
// Returns a stream of the lines of `reader`, like `SplitOn(reader, '\n')`, but
// without a "\r" at the end of a line that ends with "\r\n". The limit counts
// the "\r". The bytes need not be text.
template <class R>
RecordStream<R> Lines(R&& reader,
                      size_t limit = std::numeric_limits<size_t>::max()) {
  return RecordStream<R>(std::forward<R>(reader), '\n', /*is_line=*/true,
                         limit);
}

}  // namespace rouse

#endif  // ROUSE_IO_ADAPT_RECORDS_H_
