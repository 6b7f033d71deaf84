// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: flush.h
// -----------------------------------------------------------------------------
//
// Flushes written bytes, and ends a stream:
//
//   co_await rouse::OrReturn(rouse::WriteAll(writer, answer));
//   co_await rouse::OrReturn(rouse::Flush(writer));
//   ...
//   co_await rouse::OrReturn(rouse::Shutdown(writer));

#ifndef ROUSE_IO_FLUSH_H_
#define ROUSE_IO_FLUSH_H_

#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

struct FlushOp {
  static constexpr std::string_view kName = "Flush";

  FlushOp() = default;

  template <class W>
  PollResult<absl::Status> operator()(W& writer, Context& cx,
                                      IoWaiter<W>* waiter) const {
    return PollFlush(writer, cx, waiter);
  }
};

struct ShutdownOp {
  static constexpr std::string_view kName = "Shutdown";

  ShutdownOp() = default;

  template <class W>
  PollResult<absl::Status> operator()(W& writer, Context& cx,
                                      IoWaiter<W>* waiter) const {
    return PollShutdown(writer, cx, waiter);
  }
};

}  // namespace internal

// FlushFuture
//
// Returned by `Flush()`.
template <class W>
using FlushFuture = internal::IoFuture<W, internal::FlushOp>;

// ShutdownFuture
//
// Returned by `Shutdown()`.
template <class W>
using ShutdownFuture = internal::IoFuture<W, internal::ShutdownOp>;

// Flush()
//
// Waits until all bytes written to `writer` have left its buffers. Returns a
// future of `absl::Status`, the error of the writer.
//
// Cancellation: destroying the future before it is ready loses nothing. Bytes
// not yet flushed stay in the buffers.
template <AsyncWrite W>
FlushFuture<W> Flush(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return FlushFuture<W>(writer);
}

// Shutdown()
//
// Flushes `writer`, and notifies the other end that the stream has ended.
// Returns a future of `absl::Status`, the error of the writer.
//
// Cancellation: destroying the future before it is ready loses nothing. Another
// `Shutdown()` continues from there.
template <AsyncWrite W>
ShutdownFuture<W> Shutdown(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ShutdownFuture<W>(writer);
}

}  // namespace rouse

#endif  // ROUSE_IO_FLUSH_H_
