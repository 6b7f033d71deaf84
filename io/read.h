// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read.h
// -----------------------------------------------------------------------------
//
// One read of anything that is `AsyncRead`:
//
//   char buffer[1024];
//   size_t size = co_await rouse::OrReturn(
//       rouse::Read(reader, absl::MakeSpan(buffer)));

#ifndef ROUSE_IO_READ_H_
#define ROUSE_IO_READ_H_

#include <cstddef>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/io/async_read.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReadFuture
//
// See `Read()`.
template <class R>
class [[nodiscard]] ReadFuture {
 public:
  ReadFuture(R& reader, absl::Span<char> buffer)
      : reader_(&reader), buffer_(buffer) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    if (reader_ == nullptr) {
      Panic("Read: polled after it has finished; make a new one");
    }
    auto size = PollRead(*reader_, cx, buffer_, &waiter_);
    if (size.IsReady()) reader_ = nullptr;
    return size;
  }

 private:
  R* reader_;  // null when finished
  absl::Span<char> buffer_;
  [[no_unique_address]] IoWaiter<R> waiter_;
};

// Read()
//
// Reads what there is, up to the size of `buffer`, as soon as there is
// anything. Gives `absl::StatusOr<size_t>`: 0 when the stream has ended, or
// `buffer` is empty.
//
// Destroying it before it is ready means that nothing was read.
template <AsyncRead R>
ReadFuture<R> Read(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                   absl::Span<char> buffer) {
  return ReadFuture<R>(reader, buffer);
}

}  // namespace rouse

#endif  // ROUSE_IO_READ_H_
