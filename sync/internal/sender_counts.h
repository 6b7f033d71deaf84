// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sender_counts.h
// -----------------------------------------------------------------------------
//
// `SenderCounts` counts the senders and the weak senders of a channel, and the
// references to the channel. Internal to `sync/`.

#ifndef ROUSE_SYNC_INTERNAL_SENDER_COUNTS_H_
#define ROUSE_SYNC_INTERNAL_SENDER_COUNTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"

namespace rouse::internal {

// SenderCounts
//
// A base class of a channel, which lives until all receivers, senders and weak
// senders are destroyed. Starts with a sender and a receiver. Thread-safe.
class SenderCounts {
 public:
  SenderCounts() = default;
  SenderCounts(const SenderCounts&) = delete;
  SenderCounts& operator=(const SenderCounts&) = delete;

  // Adds a sender. The caller must have a sender. Panics if there are too many
  // senders.
  void AddSender() {
    // Relaxed: the caller has a sender.
    const uint64_t counts =
        counts_.fetch_add(kSender, std::memory_order_relaxed);
    if (ABSL_PREDICT_FALSE(HasTooManySenders(counts))) TakeBack(kSender);
  }
  // Adds a sender and returns true, unless no sender is left. In that case no
  // sender can ever be added again. The caller must have a weak sender.
  bool TryAddSender();
  // Removes a sender. Returns whether no sender is left. If so, the caller must
  // notify the receivers, and after that call `Leave(kSenders)`.
  [[nodiscard]] bool RemoveSender() {
    // Release pairs with the acquire in the call of the last sender, which
    // announces the end of all messages that were sent, and with the acquire of
    // HasSenders.
    return counts_.fetch_sub(kSender, std::memory_order_acq_rel) / kSender == 1;
  }

  // Adds a weak sender. The caller must have a sender or a weak sender. Panics
  // if there are too many weak senders.
  void AddWeakSender();

  // The references to the channel. All receivers together hold a reference, all
  // senders together hold a reference, and each weak sender holds a reference.
  static constexpr uint64_t kReceivers = 1;
  static constexpr uint64_t kSenders = 2;
  static constexpr uint64_t kWeakSender = 4;

  // Gives up the caller's reference. Returns whether no reference is left. If
  // so, the caller must delete the channel.
  [[nodiscard]] bool Leave(uint64_t who) {
    // Release pairs with the acquire of the last reference's holder: all uses
    // come before the deletion.
    return counts_.fetch_sub(who, std::memory_order_acq_rel) == who;
  }

  size_t senders() const {
    // Relaxed: the number may change at once.
    return counts_.load(std::memory_order_relaxed) / kSender;
  }
  // Returns whether the channel has senders. A caller that gets false sees all
  // messages of the senders.
  bool HasSenders() const {
    // Acquire pairs with the release of RemoveSender.
    return counts_.load(std::memory_order_acquire) / kSender != 0;
  }
  size_t weak_senders() const {
    // Relaxed: the number may change at once.
    return counts_.load(std::memory_order_relaxed) % kSender / kWeakSender;
  }

 private:
  // The count of senders is above 31 bits for weak senders.
  static constexpr uint64_t kSender = uint64_t{1} << 33;
  static constexpr uint64_t kMaxCount = uint64_t{1} << 30;

  static bool HasTooManySenders(uint64_t counts) {
    return counts / kSender >= kMaxCount;
  }
  // Takes back the number that the caller has added, and panics.
  [[noreturn]] void TakeBack(uint64_t added);
  [[noreturn]] static void PanicTooMany();

  Atomic<uint64_t> counts_{kReceivers + kSenders + kSender};
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_INTERNAL_SENDER_COUNTS_H_
