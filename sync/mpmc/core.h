// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// The parts of a channel that depend neither on messages nor on their order:
// the counts of senders and receivers, and whether the channel is closed.
// Internal to `sync/`.

#ifndef ROUSE_SYNC_MPMC_CORE_H_
#define ROUSE_SYNC_MPMC_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/sync/internal/closed_event.h"
#include "rouse/sync/internal/sender_counts.h"
#include "rouse/sync/mpmc/positions.h"

namespace rouse::mpmc::internal {

// Returns the error of a call on a closed channel.
absl::Status ClosedError(const char* call);
// Returns the error of a call on a full channel.
absl::Status FullError(const char* call);

// ChannelCore
//
// The part that is common to all channels. Thread-safe.
class ChannelCore : public rouse::internal::SenderCounts {
 public:
  // Adds a receiver. The caller must have a receiver. Panics if there are too
  // many receivers.
  void AddReceiver();
  // Removes a receiver. Returns whether no receiver is left. If so, the caller
  // must close the channel and destroy the messages, and after that call
  // `Leave(kReceivers)`.
  [[nodiscard]] bool RemoveReceiver() {
    // Release pairs with the acquire in the call of the last receiver: all uses
    // of the channel by the other receivers come before.
    return receivers_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  size_t receivers() const {
    // Relaxed: the number may change at once.
    return receivers_.load(std::memory_order_relaxed);
  }

  // Set when a receiver closes the channel, or the last receiver is destroyed.
  rouse::internal::ClosedEvent closed;

 private:
  Atomic<uint64_t> receivers_{1};
};

// Unbounded, Bounded
//
// The kinds of channels: with unlimited room, and with a limited number of
// places. A message has a place from its claim of a position to the claim of
// the receive.
struct Unbounded {
  static constexpr bool kIsBounded = false;

  static size_t CheckedCapacity() { return Positions::kUnlimited; }
};
struct Bounded {
  static constexpr bool kIsBounded = true;

  // Returns `capacity`. Panics unless 0 < capacity <= kMaxCapacity.
  static size_t CheckedCapacity(size_t capacity);
};

}  // namespace rouse::mpmc::internal

#endif  // ROUSE_SYNC_MPMC_CORE_H_
