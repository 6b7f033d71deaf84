// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: seek.h
// -----------------------------------------------------------------------------
//
// Moves the position of any `AsyncSeek`:
//
//   uint64_t size = co_await rouse::OrReturn(
//       rouse::Seek(file, 0, rouse::SeekFrom::kEnd));
//   co_await rouse::OrReturn(rouse::Rewind(file));

#ifndef ROUSE_IO_SEEK_SEEK_H_
#define ROUSE_IO_SEEK_SEEK_H_

#include <cstdint>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

struct SeekOp {
  static constexpr std::string_view kName = "Seek";

  SeekOp(int64_t offset, SeekFrom from) : offset(offset), from(from) {}

  template <class S>
  PollResult<absl::StatusOr<uint64_t>> operator()(S& stream, Context& cx,
                                                  IoWaiter<S>* waiter) const {
    return PollSeek(stream, cx, offset, from, waiter);
  }

  int64_t offset;
  SeekFrom from;
};

}  // namespace internal

// SeekFuture
//
// Returned by `Seek()`, `Rewind()` and `Position()`.
template <class S>
using SeekFuture = internal::IoFuture<S, internal::SeekOp>;

// Seek()
//
// Moves the position of `stream` to `offset` bytes behind the place that `from`
// names. Returns a future of `absl::StatusOr<uint64_t>`, the new position,
// counted from the beginning: InvalidArgument if that would be in front of the
// beginning, or the error of the stream.
//
// Cancellation: destroying a pending future leaves the position unknown. Seek
// from the beginning or the end next.
template <AsyncSeek S>
SeekFuture<S> Seek(S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND, int64_t offset,
                   SeekFrom from = SeekFrom::kBegin) {
  return SeekFuture<S>(stream, offset, from);
}

// Rewind()
//
// Moves the position of `stream` to the beginning. Otherwise like `Seek()`.
template <AsyncSeek S>
SeekFuture<S> Rewind(S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return SeekFuture<S>(stream, int64_t{0}, SeekFrom::kBegin);
}

// Position()
//
// Returns a future of `absl::StatusOr<uint64_t>`, the present position of
// `stream`. It is a seek by 0 bytes: a buffer in front of the stream is emptied
// as for any seek.
template <AsyncSeek S>
SeekFuture<S> Position(S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return SeekFuture<S>(stream, int64_t{0}, SeekFrom::kCurrent);
}

}  // namespace rouse

#endif  // ROUSE_IO_SEEK_SEEK_H_
