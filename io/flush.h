// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: flush.h
// -----------------------------------------------------------------------------
//
// Sees what was written on its way, and says that it was all:
//
//   co_await rouse::OrReturn(rouse::WriteAll(writer, answer));
//   co_await rouse::OrReturn(rouse::Flush(writer));
//   ...
//   co_await rouse::OrReturn(rouse::Shutdown(writer));

#ifndef ROUSE_IO_FLUSH_H_
#define ROUSE_IO_FLUSH_H_

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "rouse/base/panic.h"
#include "rouse/io/async_write.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// FlushFuture
//
// See `Flush()`.
template <class W>
class [[nodiscard]] FlushFuture {
 public:
  explicit FlushFuture(W& writer) : writer_(&writer) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (writer_ == nullptr) {
      Panic("Flush: polled after it has finished; make a new one");
    }
    auto status = PollFlush(*writer_, cx, &waiter_);
    if (status.IsReady()) writer_ = nullptr;
    return status;
  }

 private:
  W* writer_;  // null when finished
  [[no_unique_address]] IoWaiter<W> waiter_;
};

// ShutdownFuture
//
// See `Shutdown()`.
template <class W>
class [[nodiscard]] ShutdownFuture {
 public:
  explicit ShutdownFuture(W& writer) : writer_(&writer) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (writer_ == nullptr) {
      Panic("Shutdown: polled after it has finished; make a new one");
    }
    auto status = PollShutdown(*writer_, cx, &waiter_);
    if (status.IsReady()) writer_ = nullptr;
    return status;
  }

 private:
  W* writer_;  // null when finished
  [[no_unique_address]] IoWaiter<W> waiter_;
};

// Flush()
//
// Waits until what was written to `writer` has left its buffers. Gives
// `absl::Status`, the error of the writer. Destroying it before it is ready
// loses nothing: what is not flushed yet stays in the buffers.
template <AsyncWrite W>
FlushFuture<W> Flush(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return FlushFuture<W>(writer);
}

// Shutdown()
//
// Flushes `writer`, and tells the other end that there is no more. Gives
// `absl::Status`, the error of the writer. Destroying it before it is ready
// loses nothing; another one goes on from there.
template <AsyncWrite W>
ShutdownFuture<W> Shutdown(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ShutdownFuture<W>(writer);
}

}  // namespace rouse

#endif  // ROUSE_IO_FLUSH_H_
