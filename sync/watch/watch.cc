// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/watch/watch.h"

#include "absl/status/status.h"

namespace rouse::watch::internal {

absl::Status ClosedError() {
  return absl::CancelledError(
      "watch::Receiver: all senders were destroyed; no other value will be "
      "sent");
}

}  // namespace rouse::watch::internal
