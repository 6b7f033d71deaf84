// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/watch/watch.h"

#include "absl/status/status.h"
#include "rouse/base/panic.h"

namespace rouse::watch::internal {

absl::Status ClosedError() {
  return absl::CancelledError(
      "watch::Receiver: all senders were destroyed; there will be no other "
      "value");
}

void PanicPolledAfterEnd() {
  Panic(
      "watch: polled after it was ready or was moved from; make another "
      "future");
}

void PanicMoved() {
  Panic("watch: a future was moved after it was polled; move it before");
}

}  // namespace rouse::watch::internal
