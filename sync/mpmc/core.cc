// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/mpmc/core.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/sync/mpmc/positions.h"

namespace rouse::mpmc::internal {

absl::Status ClosedError(const char* call) {
  return absl::CancelledError(
      absl::StrCat(call,
                   ": the channel is closed; all senders or all receivers were "
                   "destroyed, or a receiver has closed the channel"));
}

absl::Status FullError(const char* call) {
  return absl::ResourceExhaustedError(absl::StrCat(
      call, ": the channel is full; receive messages, or wait for room"));
}

void ChannelCore::AddReceiver() {
  constexpr uint64_t kMaxReceivers = uint64_t{1} << 30;
  // Relaxed: the caller has a receiver.
  if (receivers_.fetch_add(1, std::memory_order_relaxed) < kMaxReceivers) {
    return;
  }
  // Relaxed: the caller has a receiver, so the count does not reach its end.
  receivers_.fetch_sub(1, std::memory_order_relaxed);
  Panic(
      "mpmc::Receiver: a channel has at most 2^30 receivers; destroy unused "
      "ones");
}

size_t Bounded::CheckedCapacity(size_t capacity) {
  if (capacity == 0) {
    Panic("mpmc::Channel: the capacity is 0; choose at least 1");
  }
  if (capacity > Positions::kMaxCapacity) {
    Panic(
        "mpmc::Channel: the capacity exceeds Semaphore::kMaxPermits; choose "
        "less, or use UnboundedChannel()");
  }
  return capacity;
}

}  // namespace rouse::mpmc::internal
