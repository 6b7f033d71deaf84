// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: copy.h
// -----------------------------------------------------------------------------
//
// Copies all of a stream to another stream:
//
//   uint64_t size = co_await rouse::OrReturn(rouse::Copy(file, connection));

#ifndef ROUSE_IO_COPY_H_
#define ROUSE_IO_COPY_H_

#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/copy_loop.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// CopyFuture
//
// Returned by `Copy()`.
template <class R, class W>
class [[nodiscard(
    "nothing is copied until the future is awaited")]] CopyFuture {
 public:
  CopyFuture(R& reader, W& writer) : reader_(&reader), writer_(&writer) {}

  PollResult<absl::StatusOr<uint64_t>> Poll(Context& cx) {
    if (reader_ == nullptr) internal::PanicFinished("Copy");
    PollResult<absl::Status> status = loop_.Poll(cx, *reader_, *writer_);
    if (status.IsPending()) return kPending;
    reader_ = nullptr;
    if (!status->ok()) return absl::StatusOr<uint64_t>(*std::move(status));
    return absl::StatusOr<uint64_t>(loop_.copied());
  }

  // Returns how many bytes have been written. Can be called at any time.
  uint64_t copied() const { return loop_.copied(); }

 private:
  R* reader_;  // null when finished
  W* writer_;
  internal::CopyLoop<R, W> loop_;
};

// Copy()
//
// Writes to `writer` everything that `reader` returns, until `reader` ends, and
// flushes `writer` at the end. Also flushes `writer` whenever there is nothing
// to read for now. Does not shut `writer` down.
//
// Returns a future of `absl::StatusOr<uint64_t>`: the number of bytes, or the
// first error of `reader` or `writer`.
//
// Cancellation: destroying the future before it is ready loses the bytes that
// were read and not yet written. If `reader` is a `BufReader` or another
// `AsyncBufRead`, nothing is lost, because the copy writes from the reader's
// own buffer.
//
// Cost: unless `reader` is an `AsyncBufRead`, the first poll allocates 16 KiB.
template <AsyncRead R, AsyncWrite W>
CopyFuture<R, W> Copy(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                      W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return CopyFuture<R, W>(reader, writer);
}

}  // namespace rouse

#endif  // ROUSE_IO_COPY_H_
