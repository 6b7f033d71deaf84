// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/oneshot/core.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "rouse/base/first_exception.h"
#include "rouse/base/mutable_step.h"
#include "rouse/waker/waker.h"

namespace rouse::oneshot::internal {

bool Core::SlowConclude(uint64_t set, uint64_t unless, uint64_t mine) {
  // Acquire, even when the exchange fails, pairs with the release of Wait, for
  // the words, and with the release of Conclude, as described there.
  uint64_t word = word_.load(std::memory_order_acquire);
  RawWaker sender{};
  RawWaker receiver{};
  do {
    if (MutableCondition((word & unless) != 0)) return false;
    if ((word & kSenderWaits) != 0) sender = sender_waker_.Read();
    if ((word & kReceiverWaits) != 0) receiver = receiver_waker_.Read();
    // Release as in Conclude. The reads of the words must come before the
    // exchange.
  } while (!word_.compare_exchange_weak(word, (word | set) & ~kWaits,
                                        std::memory_order_release,
                                        std::memory_order_acquire));
  // The block may already be freed. Both wakers are dropped after the wakers
  // that must be called were called.
  Waker of_sender;
  Waker of_receiver;
  if ((word & kSenderWaits) != 0) of_sender = Waker(sender);
  if ((word & kReceiverWaits) != 0) of_receiver = Waker(receiver);
  FirstException first;
  if (mine != kSenderWaits) {
    first.Catch([&of_sender] { std::move(of_sender).Wake(); });
  }
  if (mine != kReceiverWaits) {
    first.Catch([&of_receiver] { std::move(of_receiver).Wake(); });
  }
  first.Rethrow();
  return true;
}

bool Core::Wait(uint64_t bit, uint64_t unless, WakerWords& words,
                const Waker& waker) {
  // Acquire, even when the exchange fails, pairs with the release of Conclude:
  // everything that the other end did before is visible.
  uint64_t word = word_.load(std::memory_order_acquire);
  if ((word & unless) != 0) return false;
  const bool is_set = (word & bit) != 0;
  const RawWaker before = words.Read();
  if (is_set && before.data == waker.raw().data &&
      before.vtable == waker.raw().vtable) {
    return true;
  }
  // The clone may throw: nothing has been changed yet.
  const RawWaker clone = waker.raw().vtable->clone(waker.raw().data);
  // Holds the replaced waker, if any. It is destroyed last.
  Waker unused;
  bool waits = !is_set || TakeBack(bit, word);
  if (waits) {
    if (is_set) unused = Waker(before);
    words.Write(clone);
    do {
      if ((word & unless) != 0) {
        waits = false;
        break;
      }
      // Release: a thread that sees the bit sees the words.
    } while (!word_.compare_exchange_weak(word, (word | bit) + kTurn,
                                          std::memory_order_release,
                                          std::memory_order_acquire));
  }
  if (!waits) {
    const Waker too_late(clone);
  }
  unused.Reset();
  return waits;
}

bool Core::TakeBack(uint64_t bit, uint64_t& word) {
  // Acquire pairs with the release of Conclude, if Conclude has taken the
  // waker. Otherwise acquire pairs with the release of an earlier SlowConclude,
  // which has read the words in vain: the words may be written again.
  word = word_.fetch_and(~bit, std::memory_order_acquire);
  if (MutableCondition((word & bit) == 0)) return false;
  word &= ~bit;
  return true;
}

void Core::ForgetClose() {
  const RawWaker waker = sender_waker_.Read();
  uint64_t word;
  if (TakeBack(kSenderWaits, word)) Waker(waker).Reset();
}

}  // namespace rouse::oneshot::internal
