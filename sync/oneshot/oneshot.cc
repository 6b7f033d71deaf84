// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/oneshot/oneshot.h"

#include "absl/status/status.h"
#include "rouse/base/panic.h"

namespace rouse::oneshot::internal {

absl::Status SenderDestroyedError() {
  return absl::CancelledError(
      "oneshot::Receiver: the sender was destroyed before it has sent "
      "anything");
}

absl::Status ClosedError() {
  return absl::CancelledError(
      "oneshot::Receiver: closed before anything was sent");
}

absl::Status NothingYetError() {
  return absl::UnavailableError(
      "oneshot::Receiver::TryReceive: nothing has been sent yet; await the "
      "receiver, or try again");
}

absl::Status TakenError() {
  return absl::FailedPreconditionError(
      "oneshot::Receiver::TryReceive: the result was given already; keep it");
}

void PanicPolledAfterEnd() {
  Panic(
      "oneshot: polled after it was ready or was moved from; keep the result "
      "of the first time");
}

void PanicSentBefore() {
  Panic(
      "oneshot::Sender: used after it has sent or was moved from; make a "
      "channel for each value");
}

}  // namespace rouse::oneshot::internal
