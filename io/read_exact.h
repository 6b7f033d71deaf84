// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read_exact.h
// -----------------------------------------------------------------------------
//
// Reads as many bytes as a buffer holds:
//
//   char header[8];
//   co_await rouse::OrReturn(
//       rouse::ReadExact(reader, absl::MakeSpan(header)));

#ifndef ROUSE_IO_READ_EXACT_H_
#define ROUSE_IO_READ_EXACT_H_

#include <cstddef>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReadExactFuture
//
// Returned by `ReadExact()`.
template <class R>
class [[nodiscard(
    "nothing is read until the future is awaited")]] ReadExactFuture {
 public:
  ReadExactFuture(R& reader, absl::Span<char> buffer)
      : reader_(&reader), buffer_(buffer) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (reader_ == nullptr) internal::PanicFinished("ReadExact");
    while (filled_ < buffer_.size()) {
      auto size = PollRead(*reader_, cx, buffer_.subspan(filled_), &waiter_);
      if (size.IsPending()) return kPending;
      if (!size->ok()) {
        reader_ = nullptr;
        return (*std::move(size)).status();
      }
      if (**size == 0) {
        reader_ = nullptr;
        return absl::OutOfRangeError(
            absl::StrCat("ReadExact: the stream ended after ", filled_, " of ",
                         buffer_.size(), " bytes"));
      }
      filled_ += **size;
    }
    reader_ = nullptr;
    return absl::OkStatus();
  }

  // Returns how many bytes of the buffer have been read. Can be called at any
  // time.
  size_t filled() const { return filled_; }

 private:
  R* reader_;  // null when finished
  absl::Span<char> buffer_;
  size_t filled_ = 0;
  [[no_unique_address]] IoWaiter<R> waiter_;
};

// ReadExact()
//
// Fills `buffer`. Returns a future of `absl::Status`: OutOfRange if the stream
// ends before `buffer` is full, or the error of the stream.
//
// Cancellation: destroying the future before it is ready loses nothing as long
// as `buffer` is kept: its first `filled()` bytes have been read. To wait for
// another future at the same time, keep the future and poll it by reference.
template <AsyncRead R>
ReadExactFuture<R> ReadExact(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                             absl::Span<char> buffer) {
  return ReadExactFuture<R>(reader, buffer);
}
template <AsyncRead R>
void ReadExact(R& reader, internal::NeedsAbslMakeSpan auto&& buffer) = delete;

}  // namespace rouse

#endif  // ROUSE_IO_READ_EXACT_H_
