// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/broadcast/core.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/waker.h"

namespace rouse::broadcast::internal {
namespace {

size_t RoundUp(size_t capacity) {
  if (capacity == 0 || capacity > kMaxCapacity) {
    Panic("broadcast::Channel: the capacity must be from 1 to kMaxCapacity");
  }
  return std::bit_ceil(capacity);
}

}  // namespace

CoreBase::CoreBase(size_t capacity)
    : mask_(RoundUp(capacity) - 1), lap_shift_(std::countr_one(mask_)) {}

void CoreBase::AddSender() {
  const BriefLockHolder lock(mu_);
  ++senders_;
}

bool CoreBase::AddSenderUnlessClosed() {
  const BriefLockHolder lock(mu_);
  if (senders_ == 0) return false;
  ++senders_;
  return true;
}

void CoreBase::RemoveSender() {
  mu_.Lock();
  if (--senders_ != 0) {
    mu_.Unlock();
    return;
  }
  rouse::internal::WakeAll(mu_, receiving_, [](WaitNode*) {});
}

size_t CoreBase::senders() const {
  const BriefLockHolder lock(mu_);
  return senders_;
}

uint64_t CoreBase::AddReceiver() {
  uint64_t position;
  bool added;
  {
    const BriefLockHolder lock(mu_);
    position = tail_;
    // Relaxed: written with the lock.
    const size_t receivers = receivers_.load(std::memory_order_relaxed);
    added = receivers < kMaxReceivers;
    // Relaxed: written with the lock. A thread that reads the number without
    // the lock has no guarantee which number it gets.
    if (added) receivers_.store(receivers + 1, std::memory_order_relaxed);
  }
  if (!added) {
    Panic(
        "broadcast::Channel: a channel has at most kMaxReceivers receivers; "
        "destroy unused receivers");
  }
  return position;
}

uint64_t CoreBase::RemoveReceiver() {
  mu_.Lock();
  const uint64_t end = tail_;
  // Relaxed: written with the lock.
  const size_t left = receivers_.load(std::memory_order_relaxed) - 1;
  // Release pairs with the acquire of receivers(). The lock makes visible what
  // the receivers destroyed earlier have done.
  receivers_.store(left, std::memory_order_release);
  if (left != 0) {
    mu_.Unlock();
    return end;
  }
  rouse::internal::WakeAll(mu_, closing_, [](WaitNode*) {});
  return end;
}

uint64_t CoreBase::SentSince(uint64_t position) const {
  const BriefLockHolder lock(mu_);
  return tail_ - position;
}

bool CoreBase::WaitForNoReceiver(WaitNode& node, const Waker& waker) {
  for (;;) {
    // Both are destroyed without the lock.
    Waker clone = node.CloneIfNew(waker);
    Waker told;
    const BriefLockHolder lock(mu_);
    // Relaxed: written with the lock.
    if (MutableCondition(receivers_.load(std::memory_order_relaxed) == 0)) {
      return false;
    }
    if (!node.IsLinked()) {
      // The node may have been notified that there was no receiver, although
      // there is a receiver again. The node then has no waker.
      const bool has_lost_it = node.HasRegistered() && clone.IsNoop();
      node.Leave(told);
      if (has_lost_it) continue;
      closing_.PushBack(&node);
    }
    node.Register(clone);
    return true;
  }
}

absl::Status NoReceiversError() {
  return absl::CancelledError(
      "broadcast::Sender::Send: the channel has no receiver; call Subscribe() "
      "to create one");
}

}  // namespace rouse::broadcast::internal
