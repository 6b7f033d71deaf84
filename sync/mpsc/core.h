// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// The parts of a channel that do not depend on messages: the counts of senders,
// the receiver's waker, the remaining room, and whether the channel is closed.
// Internal to `sync/`.

#ifndef ROUSE_SYNC_MPSC_CORE_H_
#define ROUSE_SYNC_MPSC_CORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/closed_event.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/sender_counts.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc::internal {

// Returns the error of a call on a closed channel.
absl::Status ClosedError(const char* call);

// ReceiverWaker
//
// The waker of the receiver. A thread that finds the waker in use waits for a
// moment. (An `AtomicWaker` would instead wake the caller.)
class ReceiverWaker {
 public:
  ReceiverWaker() = default;
  ReceiverWaker(const ReceiverWaker&) = delete;
  ReceiverWaker& operator=(const ReceiverWaker&) = delete;

  // Called by the receiver: makes the next `Wake()` call `waker`. Everything
  // that happened before a `Wake()` that came too early to call `waker` is
  // visible after `Register()`, so the receiver must check again then. `is_new`
  // should say whether `waker` is likely to differ from the registered waker.
  void Register(const Waker& waker, bool is_new);

  // Called by the receiver: drops the waker.
  void Forget();

  // Calls and drops the waker. Thread-safe. Does not access the `ReceiverWaker`
  // after the call of the waker has begun.
  void Wake();

 private:
  Waker waker_ ABSL_GUARDED_BY(mu_);
  BriefLock mu_;
};

// ChannelCore
//
// The part that is common to all channels. The numbers are in the padding of
// the member before.
class ChannelCore : public rouse::internal::SenderCounts {
 public:
  [[no_unique_address]] ReceiverWaker receiver_waker;
  // Used by the receiver: the number of waiting futures.
  uint32_t waiting = 0;
  // Set when the receiver closes or is destroyed.
  [[no_unique_address]] rouse::internal::ClosedEvent closed;
  // Wakes that the draining thread has not answered yet: see shared.h.
  Atomic<uint32_t> drain_wakes{0};
};

// Unbounded
//
// A channel with unlimited room. Only the queue knows when the channel is
// drained.
class Unbounded : public ChannelCore {
 public:
  static constexpr bool kIsBounded = false;

  void Received(size_t) {}
  void CloseCapacity() {}
  bool IsDrained() const { return false; }
};

// Bounded
//
// A channel with a limited number of places. Each message has a permit, from
// the send or from the reservation of a place until the message is received.
// After a close, a permit in use can still become a message. The receiver waits
// until no permit is in use.
class Bounded : public ChannelCore {
 public:
  static constexpr bool kIsBounded = true;

  // Panics unless 0 < capacity <= SemaphoreCore::kMaxPermits.
  explicit Bounded(size_t capacity);

  // Takes `n` places. Fails if the channel is full or closed.
  absl::Status TryAcquire(size_t n, const char* call) {
    if (ABSL_PREDICT_TRUE(permits_.TryAcquire(n))) return absl::OkStatus();
    return WhyNot(call);
  }

  // Returns an error if the channel can never have `n` places.
  absl::Status CheckCount(size_t n, const char* call) const;

  // Gives back `n` places without messages. If the receiver has closed the
  // channel and waits for the last of those places, no other call would wake
  // it.
  void GiveBack(size_t n) {
    permits_.Release(n);
    WakeIfDrained();
  }
  void WakeIfDrained() {
    if (ABSL_PREDICT_FALSE(IsDrained())) receiver_waker.Wake();
  }

  // Called by the receiver: gives back the places of `n` messages. An exception
  // from a waker is dropped, after all wakers have been called, because
  // messages would be lost by the exception.
  void Received(size_t n) {
    ROUSE_TRY { permits_.Release(n); }
    ROUSE_CATCH_ALL {}
  }

  // Returns whether the channel is closed and no place is taken. This state is
  // permanent. The answer takes into account all events known to the caller.
  bool IsDrained() const { return permits_.IsClosedWith(capacity_); }

  void CloseCapacity() { permits_.Close(); }

  size_t available() const { return permits_.available(); }
  size_t capacity() const { return capacity_; }
  rouse::internal::SemaphoreCore& permits() { return permits_; }

 private:
  absl::Status WhyNot(const char* call) const;

  rouse::internal::SemaphoreCore permits_;
  const size_t capacity_;
};

// PlaceRequest
//
// The part of a future that requests `n` places. The rules of `PendingAcquire`
// for moving and destroying a request apply.
class PlaceRequest {
 public:
  PlaceRequest(Bounded& channel ABSL_ATTRIBUTE_LIFETIME_BOUND, size_t n)
      : channel_(&channel), acquire_(std::in_place, channel.permits(), n) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  PlaceRequest(PlaceRequest&& other)
      : channel_(other.channel_), acquire_(std::move(other.acquire_)) {
    // The object that was moved from may outlive the channel.
    was_pending_ = std::exchange(other.was_pending_, false);
  }
  PlaceRequest& operator=(PlaceRequest&&) = delete;
  ~PlaceRequest() {
    if (ABSL_PREDICT_FALSE(was_pending_)) Cancel();
  }

  // Is ready with true when the places are the caller's, and with false when
  // the channel is closed.
  PollResult<bool> Poll(Context& cx, const char* call) {
    if (ABSL_PREDICT_TRUE(PollNow(cx))) return true;
    return PollSlowly(cx, call);
  }

  // Does the part of a first poll that needs no lock. If the result is true,
  // the poll is over and the places are the caller's. Otherwise nothing has
  // happened, and the caller must call `PollSlowly()`.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool PollNow(Context& cx) {
    // The channel of a request that is over may no longer exist.
    if (ABSL_PREDICT_FALSE(!acquire_.has_value() || !acquire_->IsNew())) {
      return false;
    }
    size_t free = channel_->available();
    if (ABSL_PREDICT_FALSE(!acquire_->PollNow(cx, free))) return false;
    // An earlier poll may have had no budget.
    was_pending_ = false;
    return true;
  }

  // Does the rest of a poll.
  PollResult<bool> PollSlowly(Context& cx, const char* call);

  // Gives back the places that the request was given. The request must not be
  // polled again.
  void Cancel();

 private:
  Bounded* channel_;
  bool was_pending_ = false;
  std::optional<rouse::internal::PendingAcquire> acquire_;
};

}  // namespace rouse::mpsc::internal

#endif  // ROUSE_SYNC_MPSC_CORE_H_
