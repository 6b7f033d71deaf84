// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read_to_string.h
// -----------------------------------------------------------------------------
//
// Reads all of a stream as text, and checks that it is text:
//
//   std::string page;
//   co_await rouse::OrReturn(rouse::ReadToString(reader, page, 1 << 20));

#ifndef ROUSE_IO_TEXT_READ_TO_STRING_H_
#define ROUSE_IO_TEXT_READ_TO_STRING_H_

#include <algorithm>
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
#include "rouse/io/read_to_end.h"
#include "rouse/io/text/utf8.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReadToStringFuture
//
// Returned by `ReadToString()`.
template <class R>
class [[nodiscard]] ReadToStringFuture {
 public:
  ReadToStringFuture(R& reader, std::string& out, size_t limit)
      : reader_(&reader),
        checked_(out.size() - internal::IncompleteUtf8Suffix(out).size()),
        out_(out),
        limit_(limit) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    using Result = absl::StatusOr<size_t>;
    if (reader_ == nullptr) internal::PanicFinished("ReadToString");
    for (;;) {
      // Reading a single byte beyond the limit shows whether the stream has
      // more bytes.
      const size_t left = limit_ - out_.added();
      auto size =
          PollRead(*reader_, cx, out_.Room(std::max(left, left + 1)), &waiter_);
      if (size.IsPending()) return kPending;
      if (!size->ok()) return Finish(*std::move(size));
      out_.Add(**size);
      const std::string_view unchecked = out_.text().substr(checked_);
      const size_t valid = Utf8PrefixSize(unchecked);
      checked_ += valid;
      const std::string_view rest = unchecked.substr(valid);
      const bool is_whole =
          rest.empty() || (**size > 0 && internal::IsIncompleteUtf8(rest));
      if (!is_whole) {
        return Finish(Result(absl::InvalidArgumentError(absl::StrCat(
            "ReadToString: the bytes from ", checked_,
            " on are not text in UTF-8; read bytes with ReadToEnd()"))));
      }
      if (**size == 0) return Finish(out_.added());
      if (out_.added() > limit_) {
        return Finish(Result(absl::ResourceExhaustedError(
            absl::StrCat("ReadToString: the stream exceeds the limit of ",
                         limit_, " bytes"))));
      }
    }
  }

 private:
  absl::StatusOr<size_t> Finish(absl::StatusOr<size_t> result) {
    out_.Finish();
    reader_ = nullptr;
    return result;
  }

  R* reader_;  // null when finished
  // Number of bytes in the string up to which they need no further check.
  size_t checked_;
  internal::GrowingString out_;
  size_t limit_;
  [[no_unique_address]] IoWaiter<R> waiter_;
};

// ReadToString()
//
// Appends all bytes to `out` until the stream ends, like `ReadToEnd()`, and
// checks that they are text in UTF-8. Returns a future of
// `absl::StatusOr<size_t>`, the number of bytes added.
//
//   InvalidArgument     The bytes are not UTF-8, or the stream ends within a
//                       character. Found as soon as the bytes have been read:
//                       the rest of the stream is not read.
//   ResourceExhausted   The stream has more than `limit` bytes.
//
// Other errors are those of the stream. Bytes read before an error are in
// `out`, including those that are not text: `Utf8PrefixSize(out)` (utf8.h) says
// how many are. Of the bytes that `out` has before the call, only an incomplete
// character at the end is checked.
//
// Only the future may use `out` while the future exists.
//
// Cancellation: destroying the future before it is ready loses nothing. The
// bytes read are in `out`, and another `ReadToString()` with the same `out`
// continues, even if `out` ends within a character.
template <AsyncRead R>
ReadToStringFuture<R> ReadToString(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
    std::string& out ABSL_ATTRIBUTE_LIFETIME_BOUND,
    size_t limit = std::numeric_limits<size_t>::max()) {
  return ReadToStringFuture<R>(reader, out, limit);
}

}  // namespace rouse

#endif  // ROUSE_IO_TEXT_READ_TO_STRING_H_
