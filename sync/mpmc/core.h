// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// The parts of a channel that do not depend on messages: the counts of senders
// and receivers, the remaining room, and whether the channel is closed.
// Internal to `sync/`.

#ifndef ROUSE_SYNC_MPMC_CORE_H_
#define ROUSE_SYNC_MPMC_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/exceptions.h"
#include "rouse/sync/internal/closed_event.h"
#include "rouse/sync/internal/sender_counts.h"
#include "rouse/sync/semaphore/core.h"

namespace rouse::mpmc::internal {

// Returns the error of a call on a closed channel.
absl::Status ClosedError(const char* call);

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

// Unbounded
//
// A channel with unlimited room.
class Unbounded : public ChannelCore {
 public:
  static constexpr bool kIsBounded = false;

  void Received(size_t) {}
  void CloseCapacity() {}
};

// Bounded
//
// A channel with a limited number of places. A message has a place from before
// it is in the queue until it was received.
class Bounded : public ChannelCore {
 public:
  static constexpr bool kIsBounded = true;

  // Panics unless 0 < capacity <= SemaphoreCore::kMaxPermits.
  explicit Bounded(size_t capacity);

  // Takes a place. Fails if the channel is full or closed.
  absl::Status TryTakePlace(const char* call) {
    if (ABSL_PREDICT_TRUE(places_.TryAcquire(1))) return absl::OkStatus();
    return WhyNot(call);
  }

  // Gives back the places of `n` messages, which were received or refused. An
  // exception from a waker is dropped, after all wakers have been called,
  // because messages would be lost by the exception.
  void Received(size_t n) {
    ROUSE_TRY { places_.Release(n); }
    ROUSE_CATCH_ALL {}
  }

  void CloseCapacity() { places_.Close(); }

  size_t available() const { return places_.available(); }
  size_t capacity() const { return capacity_; }
  rouse::internal::SemaphoreCore& places() { return places_; }

 private:
  absl::Status WhyNot(const char* call) const;

  rouse::internal::SemaphoreCore places_;
  const size_t capacity_;
};

}  // namespace rouse::mpmc::internal

#endif  // ROUSE_SYNC_MPMC_CORE_H_
