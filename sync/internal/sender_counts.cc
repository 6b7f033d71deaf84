// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/internal/sender_counts.h"

#include <atomic>
#include <cstdint>

#include "rouse/base/panic.h"

namespace rouse::internal {

bool SenderCounts::TryAddSender() {
  // Relaxed, in all cases: the count publishes nothing.
  uint64_t counts = counts_.load(std::memory_order_relaxed);
  do {
    if (counts / kSender == 0) return false;
    if (HasTooManySenders(counts)) PanicTooMany();
  } while (!counts_.compare_exchange_weak(counts, counts + kSender,
                                          std::memory_order_relaxed,
                                          std::memory_order_relaxed));
  return true;
}

void SenderCounts::AddWeakSender() {
  // Relaxed: the caller has a sender or a weak sender.
  const uint64_t counts =
      counts_.fetch_add(kWeakSender, std::memory_order_relaxed);
  if (counts % kSender / kWeakSender >= kMaxCount) TakeBack(kWeakSender);
}

void SenderCounts::TakeBack(uint64_t added) {
  // Relaxed: the caller has another reference, so the count does not reach its
  // end.
  counts_.fetch_sub(added, std::memory_order_relaxed);
  PanicTooMany();
}

void SenderCounts::PanicTooMany() {
  Panic(
      "Sender: a channel has at most 2^30 senders and 2^30 weak senders; "
      "destroy unused ones");
}

}  // namespace rouse::internal
