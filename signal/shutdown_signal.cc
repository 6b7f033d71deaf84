// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/signal/shutdown_signal.h"

#include <signal.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/handle.h"
#include "rouse/signal/signal.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

ShutdownSignalFuture ShutdownSignal(const reactor::Handle& handle) {
  return ShutdownSignalFuture(Signal::Create(SIGINT, handle),
                              Signal::Create(SIGTERM, handle));
}

PollResult<absl::Status> ShutdownSignalFuture::Awaited::Poll(Context& cx) {
  if (!signal.ok()) return signal.status();
  return signal->PollRecv(cx, &waiter);
}

PollResult<absl::Status> ShutdownSignalFuture::Poll(Context& cx) {
  if (finished_) {
    Panic(
        "ShutdownSignal() was polled after it completed; call "
        "ShutdownSignal() again");
  }
  PollResult<absl::Status> result = interrupt_.Poll(cx);
  if (result.IsPending()) result = terminate_.Poll(cx);
  finished_ = result.IsReady();
  return result;
}

}  // namespace rouse
