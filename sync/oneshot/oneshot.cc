// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/oneshot/oneshot.h"

#include "absl/status/status.h"
#include "rouse/base/panic.h"

namespace rouse::oneshot::internal {

absl::Status SenderDestroyedError() {
  return absl::CancelledError(
      "oneshot::Receiver: the sender was destroyed before it sent a value");
}

absl::Status ClosedError() {
  return absl::CancelledError(
      "oneshot::Receiver: the receiver was closed before a value was sent");
}

absl::Status NothingYetError() {
  return absl::UnavailableError(
      "oneshot::Receiver::TryReceive: no value has been sent yet; await the "
      "receiver, or try again");
}

absl::Status TakenError() {
  return absl::FailedPreconditionError(
      "oneshot::Receiver::TryReceive: the result was already returned; keep "
      "the result");
}

void PanicPolledAfterEnd() {
  Panic(
      "oneshot::Receiver or Closed was polled after it completed or was moved "
      "from; keep the result");
}

void PanicSentBefore() {
  Panic(
      "oneshot::Sender was used after it sent a value or was moved from; "
      "create a channel for each value");
}

}  // namespace rouse::oneshot::internal
