// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: copy.h
// -----------------------------------------------------------------------------
//
// Copies all of one stream to another one:
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
// See `Copy()`.
template <class R, class W>
class [[nodiscard]] CopyFuture {
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

  // How many bytes have been written, at any time.
  uint64_t copied() const { return loop_.copied(); }

 private:
  R* reader_;  // null when finished
  W* writer_;
  internal::CopyLoop<R, W> loop_;
};

// Copy()
//
// Writes to `writer` what comes from `reader` until that ends, and flushes
// `writer`, also whenever there is nothing to read for now. Does not shut it
// down. Gives `absl::StatusOr<uint64_t>`, the number of bytes, or the first
// error of either.
//
// Destroying it before it is ready loses what was read and not yet written, but
// nothing if `reader` is a `BufReader`, or another one that is `AsyncBufRead`:
// its buffer is the one that is written from. Otherwise there is an allocation
// of 16 KiB when it is polled first.
template <AsyncRead R, AsyncWrite W>
CopyFuture<R, W> Copy(R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND,
                      W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return CopyFuture<R, W>(reader, writer);
}

}  // namespace rouse

#endif  // ROUSE_IO_COPY_H_
