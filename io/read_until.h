// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read_until.h
// -----------------------------------------------------------------------------
//
// Reads up to a delimiter byte:
//
//   rouse::BufReader reader(stream);
//   std::string record;
//   while (co_await rouse::OrReturn(
//              rouse::ReadUntil(reader, '\0', record)) > 0) {
//     Handle(record);
//     record.clear();
//   }

#ifndef ROUSE_IO_READ_UNTIL_H_
#define ROUSE_IO_READ_UNTIL_H_

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/io/async_read.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReadUntilFuture
//
// Returned by `ReadUntil()`.
template <class R>
class [[nodiscard(
    "nothing is read until the future is awaited")]] ReadUntilFuture {
 public:
  ReadUntilFuture(R& reader, char delimiter, std::string& out, size_t limit)
      : reader_(&reader), out_(&out), limit_(limit), delimiter_(delimiter) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    using Result = absl::StatusOr<size_t>;
    if (reader_ == nullptr) internal::PanicFinished("ReadUntil");
    for (;;) {
      auto bytes = PollFillBuf(*reader_, cx, &waiter_);
      if (bytes.IsPending()) return kPending;
      if (!bytes->ok()) return Finish(Result((*std::move(bytes)).status()));
      std::string_view taken = **bytes;
      if (taken.empty()) return Finish(added_);
      const size_t delimiter = taken.find(delimiter_);
      const bool found = delimiter != std::string_view::npos;
      if (found) taken = taken.substr(0, delimiter + 1);
      const bool too_many = taken.size() > limit_ - added_;
      if (too_many) taken = taken.substr(0, limit_ - added_);
      out_->append(taken);
      added_ += taken.size();
      reader_->Consume(taken.size());
      if (too_many) {
        return Finish(Result(absl::ResourceExhaustedError(absl::StrCat(
            "ReadUntil: the record exceeds the limit of ", limit_, " bytes"))));
      }
      if (found) return Finish(added_);
    }
  }

 private:
  absl::StatusOr<size_t> Finish(absl::StatusOr<size_t> result) {
    reader_ = nullptr;
    return result;
  }

  R* reader_;  // null when finished
  std::string* out_;
  size_t added_ = 0;
  size_t limit_;
  char delimiter_;
  [[no_unique_address]] IoWaiter<R> waiter_;
};

// ReadUntil()
//
// Appends bytes to `out` up to and including the next `delimiter`, or up to the
// end of the stream. Returns a future of `absl::StatusOr<size_t>`, the number
// of bytes added: 0 if the stream has ended.
//
// Cancellation: destroying the future before it is ready loses nothing. The
// bytes read are in `out`, and another `ReadUntil()` with the same `out`
// continues.
//
// Errors: ResourceExhausted if more than `limit` bytes would be added; the
// first `limit` bytes were then added. Otherwise the error of the stream.
//
// Each `ReadUntil()` counts only the bytes added by itself: after a cancelled
// call, both the result and the limit begin anew. Compare `out.size()` if the
// record as a whole has a limit.
template <AsyncBufRead R>
ReadUntilFuture<R> ReadUntil(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND, char delimiter,
    std::string& out ABSL_ATTRIBUTE_LIFETIME_BOUND,
    size_t limit = std::numeric_limits<size_t>::max()) {
  return ReadUntilFuture<R>(reader, delimiter, out, limit);
}

}  // namespace rouse

#endif  // ROUSE_IO_READ_UNTIL_H_
