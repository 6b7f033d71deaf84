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

}  // namespace internal

// ReadFuture
//
// Returned by `Read()`.
template <class R>
using ReadFuture = internal::IoFuture<R, internal::ReadOp>;

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

}  // namespace rouse

#endif  // ROUSE_IO_READ_H_
