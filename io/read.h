// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read.h
// -----------------------------------------------------------------------------
//
// A single read from any `AsyncRead`:
//
//   char buffer[1024];
//   size_t size = co_await rouse::OrReturn(
//       rouse::Read(reader, absl::MakeSpan(buffer)));
//
// A read into several buffers, such as a head of a known size and a body:
//
//   absl::Span<char> buffers[] = {absl::MakeSpan(head), absl::MakeSpan(body)};
//   size_t size =
//       co_await rouse::OrReturn(rouse::ReadVectored(reader, buffers));

#ifndef ROUSE_IO_READ_H_
#define ROUSE_IO_READ_H_

#include <cstddef>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

struct ReadOp {
  static constexpr std::string_view kName = "Read";

  explicit ReadOp(absl::Span<char> buffer) : buffer(buffer) {}

  template <class R>
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<absl::StatusOr<size_t>> operator()(
      R& reader, Context& cx, IoWaiter<R>* waiter) const {
    return PollRead(reader, cx, buffer, waiter);
  }

  absl::Span<char> buffer;
};

struct ReadVectoredOp {
  static constexpr std::string_view kName = "ReadVectored";

  explicit ReadVectoredOp(absl::Span<const absl::Span<char>> buffers)
      : buffers(buffers) {}

  template <class R>
  PollResult<absl::StatusOr<size_t>> operator()(R& reader, Context& cx,
                                                IoWaiter<R>* waiter) const {
    return PollReadVectored(reader, cx, buffers, waiter);
  }

  absl::Span<const absl::Span<char>> buffers;
};

}  // namespace internal

// ReadFuture
//
// Returned by `Read()`.
template <class R>
using ReadFuture = internal::IoFuture<R, internal::ReadOp>;

// ReadVectoredFuture
//
// Returned by `ReadVectored()`.
template <class R>
using ReadVectoredFuture = internal::IoFuture<R, internal::ReadVectoredOp>;

// Read()
//
// Reads available bytes, up to the size of `buffer`, as soon as there are any.
// Returns a future of `absl::StatusOr<size_t>`, the number of bytes: 0 if the
// stream has ended, or if `buffer` is empty.
//
// Cancellation: destroying the future before it is ready means that nothing was
// read.
template <AsyncRead R>
ReadFuture<R> Read(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                   absl::Span<char> buffer) {
  return ReadFuture<R>(reader, buffer);
}
template <AsyncRead R>
void Read(R& reader, internal::NeedsAbslMakeSpan auto&& buffer) = delete;

// ReadVectored()
//
// Reads like `Read()`, into several buffers, each of which is filled before the
// next: in a single operation if the reader supports such reads or has a buffer
// of its own, and otherwise into the first buffer that is not empty. Returns 0
// if the stream has ended, or if all buffers are empty. `buffers` must outlive
// the future.
template <AsyncRead R>
ReadVectoredFuture<R> ReadVectored(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                   absl::Span<const absl::Span<char>> buffers) {
  return ReadVectoredFuture<R>(reader, buffers);
}

}  // namespace rouse

#endif  // ROUSE_IO_READ_H_
