// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: write.h
// -----------------------------------------------------------------------------
//
// A single write to any `AsyncWrite`:
//
//   size_t size = co_await rouse::OrReturn(rouse::Write(writer, data));
//   data.remove_prefix(size);
//
// Most programs want `WriteAll()`.

#ifndef ROUSE_IO_WRITE_H_
#define ROUSE_IO_WRITE_H_

#include <cstddef>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

struct WriteOp {
  static constexpr std::string_view kName = "Write";

  explicit WriteOp(std::string_view data) : data(data) {}

  template <class W>
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<absl::StatusOr<size_t>> operator()(
      W& writer, Context& cx, IoWaiter<W>* waiter) const {
    return PollWrite(writer, cx, data, waiter);
  }

  std::string_view data;
};

struct WriteVectoredOp {
  static constexpr std::string_view kName = "WriteVectored";

  explicit WriteVectoredOp(absl::Span<const std::string_view> parts)
      : parts(parts) {}

  template <class W>
  PollResult<absl::StatusOr<size_t>> operator()(W& writer, Context& cx,
                                                IoWaiter<W>* waiter) const {
    return PollWriteVectored(writer, cx, parts, waiter);
  }

  absl::Span<const std::string_view> parts;
};

}  // namespace internal

// WriteFuture
//
// Returned by `Write()`.
template <class W>
using WriteFuture = internal::IoFuture<W, internal::WriteOp>;

// WriteVectoredFuture
//
// Returned by `WriteVectored()`.
template <class W>
using WriteVectoredFuture = internal::IoFuture<W, internal::WriteVectoredOp>;

// Write()
//
// Writes at least one byte of `data`, and as many bytes as can be written now.
// Returns a future of `absl::StatusOr<size_t>`, the number of bytes: 0 only if
// `data` is empty.
//
// Cancellation: destroying the future before it is ready means that nothing was
// written.
template <AsyncWrite W>
WriteFuture<W> Write(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                     std::string_view data) {
  return WriteFuture<W>(writer, data);
}

// WriteVectored()
//
// Writes several parts like `Write()`, in a single operation if the writer
// supports such writes: a header and a body need no copy.
template <AsyncWrite W>
WriteVectoredFuture<W> WriteVectored(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                     absl::Span<const std::string_view> parts) {
  return WriteVectoredFuture<W>(writer, parts);
}

}  // namespace rouse

#endif  // ROUSE_IO_WRITE_H_
