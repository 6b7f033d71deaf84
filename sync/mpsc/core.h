// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// What is not about messages in a channel: who is there, whom to wake, how much
// room there is, and that it has been closed. Internal to `sync/`.

#ifndef ROUSE_SYNC_MPSC_CORE_H_
#define ROUSE_SYNC_MPSC_CORE_H_

#include <atomic>
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
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc::internal {

// What calls on a channel that is closed are told.
absl::Status ClosedError(const char* call);

[[noreturn]] void PanicPolledAgain(const char* call);

// ClosedEvent
//
// Happens once. Thread-safe.
class ClosedEvent {
 public:
  // Whoever sees it sees what came before `Set()`.
  bool IsSet() const {
    // Acquire pairs with the release of Set.
    return is_set_.load(std::memory_order_acquire);
  }

  // Tells all who wait. The event outlives the call.
  void Set();

 private:
  friend class ClosedWait;

  Atomic<bool> is_set_{false};
  BriefLock mu_;
  IntrusiveList<rouse::internal::WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

// ClosedWait
//
// One that waits for it. Moved only before it is polled.
class ClosedWait {
 public:
  explicit ClosedWait(ClosedEvent& event) : event_(&event) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  ClosedWait(ClosedWait&& other);
  ClosedWait& operator=(ClosedWait&&) = delete;
  ~ClosedWait();

  PollResult<void> Poll(Context& cx);

 private:
  ClosedEvent* event_;  // null: finished
  bool waits_ = false;  // whether it may be in the list
  rouse::internal::WaitNode node_;
};

// ReceiverWaker
//
// The waker of the receiver. Who finds it in use waits for it: a moment, to
// which an `AtomicWaker` would answer with a wake of the caller.
class ReceiverWaker {
 public:
  ReceiverWaker() = default;
  ReceiverWaker(const ReceiverWaker&) = delete;
  ReceiverWaker& operator=(const ReceiverWaker&) = delete;

  // For the receiver: has the next `Wake()` call `waker`. What came before one
  // that was too early for this is visible after it: look then. `is_new`
  // should say whether it is likely that `waker` is not the one that is here.
  void Register(const Waker& waker, bool is_new);

  // For the receiver: drops the waker.
  void Forget();

  // Thread-safe. Does not touch this once it has begun to wake.
  void Wake();

 private:
  BriefLock mu_;
  Waker waker_ ABSL_GUARDED_BY(mu_);
};

// ChannelCore
//
// Lives until the receiver, all senders and all weak senders have gone.
class ChannelCore {
 public:
  // With one sender and a receiver.
  ChannelCore() = default;
  ChannelCore(const ChannelCore&) = delete;
  ChannelCore& operator=(const ChannelCore&) = delete;

  // ---- Counting. Thread-safe.

  // For who has a sender. Panics if there are too many.
  void AddSender() {
    // Relaxed: the caller has one.
    const uint64_t counts =
        counts_.fetch_add(kSender, std::memory_order_relaxed);
    if (ABSL_PREDICT_FALSE(HasTooManySenders(counts))) TakeBack(kSender);
  }
  // Without a sender there will be none again. For who has a weak sender.
  bool TryAddSender();
  // Whether it was the last: then the channel is to be told, and after that
  // `Leave(kSenders)` called.
  [[nodiscard]] bool RemoveSender() {
    // Release pairs with the acquires of the last one, who tells of the end of
    // all that was sent, and of HasSenders.
    return counts_.fetch_sub(kSender, std::memory_order_acq_rel) / kSender == 1;
  }

  // For who has a sender or a weak sender. Panics if there are too many.
  void AddWeakSender();

  // Those who keep the channel: the receiver, all senders together, each weak
  // sender.
  static constexpr uint64_t kReceiver = 1;
  static constexpr uint64_t kSenders = 2;
  static constexpr uint64_t kWeakSender = 4;

  // Gives up what the caller has. Whether it was the last: then it deletes it.
  [[nodiscard]] bool Leave(uint64_t who) {
    // Release pairs with the acquire of the last one: use comes before delete.
    return counts_.fetch_sub(who, std::memory_order_acq_rel) == who;
  }

  size_t senders() const {
    // Relaxed: it may be another number at once.
    return counts_.load(std::memory_order_relaxed) / kSender;
  }
  // Who finds none sees all that they have sent.
  bool HasSenders() const {
    // Acquire pairs with the release of RemoveSender.
    return counts_.load(std::memory_order_acquire) / kSender != 0;
  }
  size_t weak_senders() const {
    // Relaxed: as above.
    return counts_.load(std::memory_order_relaxed) % kSender / kWeakSender;
  }

  // ---- What all channels have.

  ReceiverWaker receiver_waker;
  ClosedEvent closed;  // by the receiver, or because it has gone

 private:
  // Above 31 bits of weak senders.
  static constexpr uint64_t kSender = uint64_t{1} << 33;
  static constexpr uint64_t kMaxCount = uint64_t{1} << 30;

  static bool HasTooManySenders(uint64_t counts) {
    return counts / kSender >= kMaxCount;
  }
  // Panics without what the caller has added.
  [[noreturn]] void TakeBack(uint64_t added);
  [[noreturn]] static void PanicTooMany();

  Atomic<uint64_t> counts_{kReceiver + kSenders + kSender};
};

// Unbounded
//
// A channel that always has room. Its queue alone knows when it is drained.
class Unbounded : public ChannelCore {
 public:
  static constexpr bool kIsBounded = false;

  void Received(size_t) {}
  void CloseCapacity() {}
  bool IsDrained() const { return false; }
};

// Bounded
//
// Each message has a permit from when it is sent, or its place reserved, until
// it is received. After a close a permit that is out may still become a
// message; the receiver waits until none is.
class Bounded : public ChannelCore {
 public:
  static constexpr bool kIsBounded = true;

  // Panics unless 0 < capacity <= SemaphoreCore::kMaxPermits.
  explicit Bounded(size_t capacity);

  // Takes places. Fails if it is full or closed.
  absl::Status TryAcquire(size_t n, const char* call) {
    if (ABSL_PREDICT_TRUE(permits_.TryAcquire(n))) return absl::OkStatus();
    return WhyNot(call);
  }

  // Whether there will ever be `n` places.
  absl::Status CheckCount(size_t n, const char* call) const;

  // Gives places back without messages. Of a receiver that has closed, and
  // waits for the last of them, nobody else would wake it.
  void GiveBack(size_t n) {
    permits_.Release(n);
    WakeIfDrained();
  }
  void WakeIfDrained() {
    if (ABSL_PREDICT_FALSE(IsDrained())) receiver_waker.Wake();
  }

  // For the receiver: of the places of messages. What a waker throws is
  // dropped, when all have been called: messages would be lost by it.
  void Received(size_t n) {
    ROUSE_TRY { permits_.Release(n); }
    ROUSE_CATCH_ALL {}
  }

  // Whether it is closed and no place is taken: so it is for ever. As it was
  // after all that the caller knows of.
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
// What a future does that wants `n` places: see `PendingAcquire`, whose rules
// for moving and destroying these are.
class PlaceRequest {
 public:
  PlaceRequest(Bounded& channel ABSL_ATTRIBUTE_LIFETIME_BOUND, size_t n)
      : channel_(&channel), acquire_(std::in_place, channel.permits(), n) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  PlaceRequest(PlaceRequest&& other)
      : channel_(other.channel_), acquire_(std::move(other.acquire_)) {
    // What was moved from may outlive the channel.
    was_pending_ = std::exchange(other.was_pending_, false);
  }
  PlaceRequest& operator=(PlaceRequest&&) = delete;
  ~PlaceRequest() {
    if (ABSL_PREDICT_FALSE(was_pending_)) Cancel();
  }

  // True: the places are the caller's. False: it is closed.
  PollResult<bool> Poll(Context& cx, const char* call) {
    if (ABSL_PREDICT_FALSE(!acquire_.has_value())) PanicPolledAgain(call);
    size_t free = channel_->available();
    // Before the poll, which may be given places and then throw.
    was_pending_ = true;
    PollResult<bool> result = acquire_->Poll(cx, call, free);
    was_pending_ = result.IsPending();
    return result;
  }

  // Gives back what it had been given. It is not polled again.
  void Cancel();

 private:
  Bounded* channel_;
  bool was_pending_ = false;
  std::optional<rouse::internal::PendingAcquire> acquire_;
};

}  // namespace rouse::mpsc::internal

#endif  // ROUSE_SYNC_MPSC_CORE_H_
