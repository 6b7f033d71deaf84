// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read_to_end.h
// -----------------------------------------------------------------------------
//
// Reads all bytes until the end of a stream:
//
//   std::string body;
//   co_await rouse::OrReturn(rouse::ReadToEnd(reader, body, 1 << 20));

#ifndef ROUSE_IO_READ_TO_END_H_
#define ROUSE_IO_READ_TO_END_H_

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// A string to whose end bytes are read. While the `GrowingString` exists, the
// string is longer than the bytes read.
//
// A string writes zeros over its new bytes when it grows. The string therefore
// grows by as much as has been read so far, even if its capacity is larger:
// writing the zeros then costs less than reading the bytes.
class GrowingString {
 public:
  explicit GrowingString(std::string& text)
      : text_(&text), begin_(text.size()), end_(text.size()) {}
  GrowingString(GrowingString&& other) noexcept
      : text_(std::exchange(other.text_, nullptr)),
        begin_(other.begin_),
        end_(other.end_) {}
  GrowingString& operator=(GrowingString&&) = delete;
  ~GrowingString() { Finish(); }

  // Sizes in bytes. Writing `kCheapRoom` zeros costs less than a system call.
  static constexpr size_t kMinRoom = 512;
  static constexpr size_t kCheapRoom = size_t{16} << 10;
  static constexpr size_t kMaxRoom = size_t{1} << 20;

  // Returns the number of bytes added.
  size_t added() const { return end_ - begin_; }

  // Returns the string, including the bytes that it had before.
  // REQUIRES: `Finish()` has not been called.
  std::string_view text() const {
    return std::string_view(*text_).substr(0, end_);
  }

  // Returns room for at least one byte and at most `limit` bytes.
  absl::Span<char> Room(size_t limit) {
    if (text_->size() == end_) {
      // Existing capacity is used at once up to a cheap size.
      const size_t spare = std::min(text_->capacity() - end_, kCheapRoom);
      const size_t more = std::clamp(added(), kMinRoom, kMaxRoom);
      text_->resize(end_ + std::min(std::max(spare, more), limit));
    }
    const size_t room = std::min(text_->size() - end_, limit);
    return absl::MakeSpan(text_->data() + end_, room);
  }

  void Add(size_t size) { end_ += size; }

  // Cuts off the unfilled bytes.
  void Finish() {
    if (text_ != nullptr) std::exchange(text_, nullptr)->resize(end_);
  }

 private:
  std::string* text_;  // null when finished
  size_t begin_;
  size_t end_;
};

}  // namespace internal

// ReadToEndFuture
//
// Returned by `ReadToEnd()`.
template <class R>
class [[nodiscard(
    "nothing is read until the future is awaited")]] ReadToEndFuture {
 public:
  ReadToEndFuture(R& reader, std::string& out, size_t limit)
      : reader_(&reader), out_(out), limit_(limit) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    using Result = absl::StatusOr<size_t>;
    if (reader_ == nullptr) internal::PanicFinished("ReadToEnd");
    for (;;) {
      // Reading a single byte beyond the limit shows whether the stream has
      // more bytes.
      const size_t left = limit_ - out_.added();
      auto size =
          PollRead(*reader_, cx, out_.Room(std::max(left, left + 1)), &waiter_);
      if (size.IsPending()) return kPending;
      if (!size->ok()) return Finish(*std::move(size));
      if (**size == 0) return Finish(out_.added());
      out_.Add(**size);
      if (out_.added() > limit_) {
        return Finish(Result(absl::ResourceExhaustedError(absl::StrCat(
            "ReadToEnd: the stream exceeds the limit of ", limit_, " bytes"))));
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
  internal::GrowingString out_;
  size_t limit_;
  [[no_unique_address]] IoWaiter<R> waiter_;
};

// ReadToEnd()
//
// Appends all bytes to `out` until the stream ends. Returns a future of
// `absl::StatusOr<size_t>`, the number of bytes added: ResourceExhausted as
// soon as there are more than `limit` bytes, or the error of the stream. Bytes
// read before an error are in `out`, which may hold `limit` bytes and a single
// byte more.
//
// Only the future may use `out` while the future exists.
//
// Cancellation: destroying the future before it is ready leaves the bytes read
// in `out`, so nothing is lost.
template <AsyncRead R>
ReadToEndFuture<R> ReadToEnd(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
    std::string& out ABSL_ATTRIBUTE_LIFETIME_BOUND,
    size_t limit = std::numeric_limits<size_t>::max()) {
  return ReadToEndFuture<R>(reader, out, limit);
}

}  // namespace rouse

#endif  // ROUSE_IO_READ_TO_END_H_
