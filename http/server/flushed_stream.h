// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: flushed_stream.h
// -----------------------------------------------------------------------------
//
// `FlushedStream` is a stream that must be flushed, for tests of servers.

#ifndef ROUSE_HTTP_SERVER_FLUSHED_STREAM_H_
#define ROUSE_HTTP_SERVER_FLUSHED_STREAM_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/duplex.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http {

// FlushedStream
//
// Takes any number of bytes, and sends them when it is flushed, as TLS does
// with some bytes. The flush is pending as often as `pending` says, and wakes
// the task each time except for the last. If `pending` is negative, the flush
// is always pending.
class FlushedStream {
 public:
  using Waiter = DuplexStream::Waiter;

  explicit FlushedStream(DuplexStream stream, int pending = 0)
      : stream_(std::move(stream)), pending_(pending) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    return stream_.PollRead(cx, buffer, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context&, std::string_view data,
                                               Waiter* = nullptr) {
    kept_ += data;
    return absl::StatusOr<size_t>(data.size());
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) {
    return PollWrite(cx, parts[0], waiter);
  }
  PollResult<absl::Status> PollFlush(Context& cx) {
    if (pending_ < 0) return kPending;
    if (pending_ > 0) {
      if (--pending_ > 0) cx.waker().WakeByRef();
      return kPending;
    }
    while (!kept_.empty()) {
      auto size = stream_.PollWrite(cx, kept_);
      if (size.IsPending()) return kPending;
      if (!size->ok()) return size->status();
      kept_.erase(0, **size);
    }
    return absl::OkStatus();
  }
  PollResult<absl::Status> PollShutdown(Context& cx) {
    return stream_.PollShutdown(cx);
  }

 private:
  DuplexStream stream_;
  std::string kept_;
  int pending_;
};

}  // namespace rouse::http

#endif  // ROUSE_HTTP_SERVER_FLUSHED_STREAM_H_
