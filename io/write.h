// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: write.h
// -----------------------------------------------------------------------------
//
// One write to anything that is `AsyncWrite`:
//
//   size_t size = co_await rouse::OrReturn(rouse::Write(writer, data));
//   data.remove_prefix(size);
//
// Most want `WriteAll()`.

#ifndef ROUSE_IO_WRITE_H_
#define ROUSE_IO_WRITE_H_

#include <cstddef>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/io/async_write.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// WriteFuture
//
// See `Write()`.
template <class W>
class [[nodiscard]] WriteFuture {
 public:
  WriteFuture(W& writer, std::string_view data)
      : writer_(&writer), data_(data) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    if (writer_ == nullptr) {
      Panic("Write: polled after it has finished; make a new one");
    }
    auto size = PollWrite(*writer_, cx, data_, &waiter_);
    if (size.IsReady()) writer_ = nullptr;
    return size;
  }

 private:
  W* writer_;  // null when finished
  std::string_view data_;
  [[no_unique_address]] IoWaiter<W> waiter_;
};

// WriteVectoredFuture
//
// See `WriteVectored()`.
template <class W>
class [[nodiscard]] WriteVectoredFuture {
 public:
  WriteVectoredFuture(W& writer, absl::Span<const std::string_view> parts)
      : writer_(&writer), parts_(parts) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    if (writer_ == nullptr) {
      Panic("WriteVectored: polled after it has finished; make a new one");
    }
    auto size = PollWriteVectored(*writer_, cx, parts_, &waiter_);
    if (size.IsReady()) writer_ = nullptr;
    return size;
  }

 private:
  W* writer_;  // null when finished
  absl::Span<const std::string_view> parts_;
  [[no_unique_address]] IoWaiter<W> waiter_;
};

// Write()
//
// Writes at least one byte of `data`, as many as can be written now. Gives
// `absl::StatusOr<size_t>`: 0 only if `data` is empty.
//
// Destroying it before it is ready means that nothing was written.
template <AsyncWrite W>
WriteFuture<W> Write(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                     std::string_view data) {
  return WriteFuture<W>(writer, data);
}

// WriteVectored()
//
// The same of several parts, in one go where the writer can: a header and a
// body need no copy.
template <AsyncWrite W>
WriteVectoredFuture<W> WriteVectored(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                     absl::Span<const std::string_view> parts) {
  return WriteVectoredFuture<W>(writer, parts);
}

}  // namespace rouse

#endif  // ROUSE_IO_WRITE_H_
