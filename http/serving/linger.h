// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: linger.h
// -----------------------------------------------------------------------------
//
// `Linger` ends a connection without destroying what is on its way.

#ifndef ROUSE_HTTP_SERVING_LINGER_H_
#define ROUSE_HTTP_SERVING_LINGER_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/http/byte_stream.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// Linger
//
// Ends the server's side of a connection, and discards what the client sends
// until the client ends its side: if bytes were unread when the connection is
// closed, the system would reset the connection, and the client could lose the
// last response. The caller limits the time. Not thread-safe.
class Linger {
 public:
  // Is ready when both sides have ended, or the connection has failed.
  PollResult<void> Poll(Context& cx, Io& io) {
    if (!has_shut_down_) {
      PollResult<absl::Status> done = io.PollShutdown(cx);
      if (done.IsPending()) return kPending;
      has_shut_down_ = true;
      if (!done->ok()) return {};
    }
    char bytes[4096];
    for (;;) {
      PollResult<absl::StatusOr<size_t>> size =
          io.PollRead(cx, absl::MakeSpan(bytes));
      if (size.IsPending()) return kPending;
      if (!size->ok() || **size == 0) return {};
    }
  }

 private:
  bool has_shut_down_ = false;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_SERVING_LINGER_H_
