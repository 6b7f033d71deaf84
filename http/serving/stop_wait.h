// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stop_wait.h
// -----------------------------------------------------------------------------
//
// `StopWait` makes the task of a connection wait for `ServerOptions::stop`.

#ifndef ROUSE_HTTP_SERVING_STOP_WAIT_H_
#define ROUSE_HTTP_SERVING_STOP_WAIT_H_

#include <optional>

#include "rouse/sync/cancellation_token.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {

// StopWait
//
// Not thread-safe.
class StopWait {
 public:
  // Returns whether `stop`, which is the same token in every call, is
  // cancelled. If not, the task is woken when `stop` is cancelled.
  bool IsStopped(Context& cx, const CancellationToken& stop) {
    // Without budget the token would not take the waker.
    if (!cx.HasBudget()) {
      (void)YieldForBudget(cx);
      return false;
    }
    // The task usually waits already.
    if (!stopped_.has_value()) {
      stopped_.emplace(stop.Cancelled());
    } else if (waker_.WillWake(cx.waker())) {
      return stop.IsCancelled();
    }
    waker_ = cx.waker().Clone();
    return stopped_->Poll(cx).IsReady();
  }

 private:
  // The waker with which the task waits.
  Waker waker_;
  std::optional<CancellationToken::CancelledFuture> stopped_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_SERVING_STOP_WAIT_H_
