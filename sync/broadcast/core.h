// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// The state that the ends of a broadcast channel share: the ring, the numbers
// of senders and receivers, and the waiters. Internal to `sync/`.
// broadcast/slot.h describes how a value gets from a sender to the receivers.

#ifndef ROUSE_SYNC_BROADCAST_CORE_H_
#define ROUSE_SYNC_BROADCAST_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/broadcast/slot.h"
#include "rouse/sync/internal/handle_ptr.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/waker.h"

namespace rouse::broadcast::internal {

using rouse::internal::WaitNode;

inline constexpr size_t kMaxCapacity = size_t{1} << 32;
inline constexpr size_t kMaxReceivers = Claims::kMaxShares;

// The part of a channel that does not depend on the values: the counts of
// senders and receivers, and the waiters.
class CoreBase {
 public:
  // The state that a receiver finds at its position.
  enum class Look { kValue, kLagged, kEmpty, kClosed };

  // Starts with a sender, the sender's reference, and no receiver. Panics if
  // the capacity is out of range.
  explicit CoreBase(size_t capacity);
  CoreBase(const CoreBase&) = delete;
  CoreBase& operator=(const CoreBase&) = delete;

  size_t capacity() const { return mask_ + 1; }

  // Adds a reference. Each sender, weak sender and receiver has one.
  void Ref() {
    // Relaxed: the caller has a reference.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  // Removes a reference. Returns whether it was the last.
  bool Unref() {
    // Acquire and release: all uses come before the deletion by the last
    // holder.
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  void AddSender() ABSL_LOCKS_EXCLUDED(mu_);
  // Adds a sender and returns true, or returns false if no sender is left.
  bool AddSenderUnlessClosed() ABSL_LOCKS_EXCLUDED(mu_);
  void RemoveSender() ABSL_LOCKS_EXCLUDED(mu_);
  size_t senders() const ABSL_LOCKS_EXCLUDED(mu_);

  // Adds a receiver. Returns the position of the first value that the new
  // receiver gets.
  uint64_t AddReceiver() ABSL_LOCKS_EXCLUDED(mu_);
  // Removes a receiver. Returns the position of the first value without a share
  // of the removed receiver.
  uint64_t RemoveReceiver() ABSL_LOCKS_EXCLUDED(mu_);
  size_t receivers() const {
    // Acquire pairs with the release of RemoveReceiver: if the number is 0,
    // everything that receivers did before their destruction is visible.
    return receivers_.load(std::memory_order_acquire);
  }

  // Returns the number of values that have been sent since `position`.
  uint64_t SentSince(uint64_t position) const ABSL_LOCKS_EXCLUDED(mu_);

  // Returns false if there is no receiver. Otherwise `waker` is woken when the
  // last receiver is destroyed.
  bool WaitForNoReceiver(WaitNode& node, const Waker& waker)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the wait of a receiver, or for the destruction of all receivers.
  void StopWaiting(WaitNode& node) ABSL_LOCKS_EXCLUDED(mu_) {
    node.LeaveWith(mu_);
  }

 protected:
  ~CoreBase() = default;

  size_t IndexOf(uint64_t position) const {
    return static_cast<size_t>(position) & mask_;
  }
  uint64_t LapOf(uint64_t position) const { return position >> lap_shift_; }

  // Returns the state that a receiver finds at `position`. If the value there
  // was overwritten, moves `position` to the oldest kept value, and sets
  // `missed` to the number of skipped values.
  Look LookAt(uint64_t& position, uint64_t& missed) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const uint64_t unread = tail_ - position;
    if (unread > capacity()) {
      missed = unread - capacity();
      position += missed;
      return Look::kLagged;
    }
    if (unread != 0) return Look::kValue;
    return senders_ == 0 ? Look::kClosed : Look::kEmpty;
  }

  const size_t mask_;
  const int lap_shift_;
  // The members from here to the end are written often, and are kept apart from
  // the members above, which receivers only read.
  alignas(ABSL_CACHELINE_SIZE) mutable BriefLock mu_;
  // The position of the next value. This number never wraps.
  uint64_t tail_ ABSL_GUARDED_BY(mu_) = 0;
  size_t senders_ ABSL_GUARDED_BY(mu_) = 1;
  // Written with the lock.
  Atomic<size_t> receivers_{0};
  IntrusiveList<WaitNode> receiving_ ABSL_GUARDED_BY(mu_);
  IntrusiveList<WaitNode> closing_ ABSL_GUARDED_BY(mu_);

 private:
  Atomic<size_t> references_{1};
};

absl::Status NoReceiversError();

// A channel. The constructor allocates the ring.
template <class T>
class Core : public CoreBase {
 public:
  using Taken = decltype(std::declval<Slot<T>&>().Take(0));
  using Message = typename Slot<T>::Message;

  static_assert(std::is_same_v<T, std::remove_cvref_t<T>>,
                "a broadcast channel carries values: T must not be a "
                "reference, const or volatile");
  static_assert(std::is_copy_constructible_v<T>,
                "every receiver gets its own copy: send a std::shared_ptr to a "
                "value that cannot be copied");
  static_assert(std::is_nothrow_destructible_v<T>,
                "the destructor of a value must not throw: no code may be able "
                "to catch the exception");

  explicit Core(size_t capacity)
      : CoreBase(capacity), slots_(new Slot<T>[this->capacity()]) {}

  // Claims the next value of the receiver at `position`, if the value was sent
  // and was not overwritten. Can be called with or without the lock.
  Taken Take(uint64_t position) {
    return slots_[IndexOf(position)].Take(LapOf(position));
  }

  // Sends `message`. Returns the number of receivers. If that number is 0,
  // `message` is unchanged.
  size_t Send(Message& message) ABSL_LOCKS_EXCLUDED(mu_) {
    typename Slot<T>::Replaced replaced;  // destroyed without the lock
    mu_.Lock();
    // Relaxed: written with the lock.
    const size_t receivers = receivers_.load(std::memory_order_relaxed);
    if (receivers == 0) {
      mu_.Unlock();
      return 0;
    }
    replaced =
        slots_[IndexOf(tail_)].Put(LapOf(tail_), receivers, std::move(message));
    ++tail_;
    if (receiving_.IsEmpty()) {
      mu_.Unlock();
    } else {
      rouse::internal::WakeAll(mu_, receiving_, [](WaitNode*) {});
    }
    return receivers;
  }

  // Returns the state that a receiver finds at `position` if it waits, or is
  // about to wait. If there is a value, claims it into `taken` and advances
  // `position`. If there is none yet, `node`, unless null, waits for the next.
  Look TakeOrWait(uint64_t& position, uint64_t& missed, Taken& taken,
                  WaitNode* node, const Waker* waker) ABSL_LOCKS_EXCLUDED(mu_) {
    // The wakers are destroyed without the lock.
    Waker clone = node != nullptr ? node->CloneIfNew(*waker) : Waker();
    Waker left;
    const BriefLockHolder lock(mu_);
    const Look look = LookAt(position, missed);
    if (look == Look::kValue) {
      Taken found = Take(position);
      ABSL_ASSERT(found.has_value());
      // Constructed in place, because not every type can be assigned.
      taken.emplace(*std::move(found));
      ++position;
    }
    if (node == nullptr) return look;
    if (look == Look::kEmpty) {
      if (!node->IsLinked()) receiving_.PushBack(node);
      node->Register(clone);
    } else {
      node->Leave(left);
    }
    return look;
  }

  // Returns the number of values that some receiver has not received yet. Takes
  // O(log capacity) time.
  size_t Unread() const ABSL_LOCKS_EXCLUDED(mu_) {
    const BriefLockHolder lock(mu_);
    // Receivers take values in order, so the values that all receivers have
    // taken come first.
    uint64_t begin = tail_ > capacity() ? tail_ - capacity() : 0;
    uint64_t end = tail_;
    while (begin < end) {
      const uint64_t middle = begin + (end - begin) / 2;
      if (slots_[IndexOf(middle)].HasUnclaimed()) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    return static_cast<size_t>(tail_ - begin);
  }

  // Removes a receiver at `position`, and gives up its shares.
  void RemoveReceiver(uint64_t position) {
    const uint64_t end = CoreBase::RemoveReceiver();
    // The values that were overwritten no longer have shares.
    if (end - position > capacity()) position = end - capacity();
    for (; position != end; ++position) static_cast<void>(Take(position));
  }

 private:
  std::unique_ptr<Slot<T>[]> slots_;
};

// A reference to a channel. A reference that was moved from is null.
template <class T>
class CoreRef {
 public:
  // Takes over a reference.
  explicit CoreRef(Core<T>* core) : core_(core) {}
  CoreRef(const CoreRef& other) : core_(other.core_) {
    if (core_ != nullptr) core_->Ref();
  }
  CoreRef(CoreRef&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)) {}
  CoreRef& operator=(CoreRef other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~CoreRef() {
    if (core_ != nullptr && core_->Unref()) delete core_;
  }

  Core<T>* get() const { return core_; }
  // Returns the channel. Panics for a sender or receiver that was moved from.
  Core<T>* operator->() const {
    if (ABSL_PREDICT_FALSE(core_ == nullptr)) {
      rouse::internal::PanicMovedFrom("broadcast::Sender or Receiver");
    }
    return core_;
  }
  explicit operator bool() const { return core_ != nullptr; }

 private:
  Core<T>* core_;
};

}  // namespace rouse::broadcast::internal

#endif  // ROUSE_SYNC_BROADCAST_CORE_H_
