// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stealable_queue.h
// -----------------------------------------------------------------------------
//
// The run queue of one worker, from which the others steal. Internal to the
// scheduler.
//
// # Layout
//
//             steal        real              tail
//               │            │                 │
//   ... gone ───┼─ copied ───┼──── waiting ────┼─── free ...
//
// A ring of `kCapacity` places, and three positions in it that only grow (they
// wrap at 2^32; a position's place is its remainder). What waits is between
// `real` and `tail`. A thief claims the first half of it by moving `real`,
// copies what it has claimed, and then lets `steal` catch up: until then the
// places in between are not free. Without a thief `steal` is `real`.
//
//   who     does            from                to
//   owner   Push            tail                tail + 1
//           Pop             real                real + 1; steal too if equal
//           overflow        steal = real        steal = real = tail, and tail
//                                               half a ring further
//   thief   claims          steal = real        real + n
//           releases        steal               real
//
// # Invariants
//
//  1. steal <= real <= tail <= steal + kCapacity.
//  2. Only the owner moves `tail`, and it alone writes to a place, only between
//     `tail` and `steal + kCapacity`.
//  3. While steal < real there is one thief, and nobody but it moves `steal`.
//     So what it has claimed stays where it is until it has been copied.
//
// `steal` and `real` are one word, so each of these is one exchange. The
// positions are wider than the ring is long: an exchange that was delayed could
// only succeed wrongly after exactly 2^32 steps (tokio #5041).
//
// # Overflow
//
// When the ring is full and no thief is at it, the owner claims all of it,
// gives the second half away, and brings back the first, which is already where
// it then belongs: half a ring further is the same places. The first half has
// waited longer and runs next, here; the rest goes to the end of the shared
// queue, behind nobody that came later (tokio #8029).

#ifndef ROUSE_SCHEDULER_QUEUE_STEALABLE_QUEUE_H_
#define ROUSE_SCHEDULER_QUEUE_STEALABLE_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/mutable_step.h"

namespace rouse::scheduler {

// StealableQueue
//
// First in, first out; up to `kCapacity`, a power of two. Owns nothing. One
// thread at a time is its owner; any thread that owns another queue may steal.
// Everything is lock-free and takes O(1), but an overflow and a theft, which
// take O(kCapacity).
template <class T, uint32_t kCapacity = 256>
class StealableQueue {
  static_assert(kCapacity >= 2 && (kCapacity & (kCapacity - 1)) == 0);

 public:
  // Positions count from `first` on, so that a test can see them wrap.
  explicit StealableQueue(uint32_t first = 0)
      : head_(Pack(first, first)), tail_(first) {}
  StealableQueue(const StealableQueue&) = delete;
  StealableQueue& operator=(const StealableQueue&) = delete;

  // ---- For the owner.

  // Puts `element` last. If there is no room, calls `overflow(T*)` for each of
  // those that have to go elsewhere, in their order, `element` the last of
  // them.
  //
  // Sequentially consistent: of one who pushes and then looks whether somebody
  // sleeps, and one who goes to sleep and then looks at `IsEmpty()`, at least
  // one sees the other.
  template <class Overflow>
  void Push(T* element, Overflow&& overflow);

  // Puts `count` elements last at one time, for which there must be `Room()`:
  // what `next()` returns, time after time. Sequentially consistent, as Push.
  template <class Next>
  void PushBatch(uint32_t count, Next&& next);

  // The one that has waited longest, or null.
  T* Pop();

  // How many can be pushed for sure.
  uint32_t Room() const {
    // Nothing to order: Push looks again.
    return kCapacity -
           (tail() - StealOf(head_.load(std::memory_order_relaxed)));
  }

  // Takes half of what waits in `victim`, rounded up. Returns the first of
  // them, and puts the rest last here, in the order that Push promises: who
  // steals looks for sleepers afterwards, too. Adds to `stolen` how many they
  // are. Null if there is nothing, another thief is at it, or more than half of
  // this queue is in use.
  T* StealFrom(StealableQueue& victim, uint32_t& stolen);
  T* StealFrom(StealableQueue& victim) {
    uint32_t stolen = 0;
    return StealFrom(victim, stolen);
  }

  // ---- For any thread.

  // How many wait. Out of date by the time it returns.
  uint32_t Size() const {
    // Nothing to order: it is out of date in any case.
    const uint32_t real = RealOf(head_.load(std::memory_order_relaxed));
    return Between(real, tail_.load(std::memory_order_relaxed));
  }
  bool IsEmpty() const {
    // A `real` that is out of date is not beyond that of now, so it is `tail`
    // only if the queue was empty. See Push for the order of `tail`.
    return RealOf(head_.load(std::memory_order_relaxed)) ==
           tail_.load(std::memory_order_seq_cst);
  }

 private:
  static constexpr uint32_t kHalf = kCapacity / 2;

  static constexpr uint64_t Pack(uint32_t steal, uint32_t real) {
    return uint64_t{steal} << 32 | real;
  }
  static constexpr uint32_t StealOf(uint64_t head) {
    return static_cast<uint32_t>(head >> 32);
  }
  static constexpr uint32_t RealOf(uint64_t head) {
    return static_cast<uint32_t>(head);
  }

  // How many wait from `real` to `tail`, which another thread has read one
  // after the other: either may be out of date, and then the difference is any.
  static constexpr uint32_t Between(uint32_t real, uint32_t tail) {
    return tail - real <= kCapacity ? tail - real : 0;
  }

  Cell<T*>& Place(uint32_t position) { return ring_[position % kCapacity]; }

  // For the owner, who alone changes it.
  uint32_t tail() const { return tail_.load(std::memory_order_relaxed); }

  // Whether all that waits, from `head` on, is now the owner's to move.
  bool ClaimAll(uint64_t head);

  // Claims half of what waits, from `first` on. How many, 0 if none.
  uint32_t Claim(uint32_t& first);
  // Frees the places of what the thief has claimed.
  void Release();

  // By itself, since every worker that searches reads it.
  alignas(ABSL_CACHELINE_SIZE) Atomic<uint64_t> head_;
  Atomic<uint32_t> tail_;
  Cell<T*> ring_[kCapacity];
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class T, uint32_t kCapacity>
template <class Overflow>
void StealableQueue<T, kCapacity>::Push(T* element, Overflow&& overflow) {
  for (;;) {
    // Acquire pairs with the release of Release: the places before `steal` have
    // been read.
    const uint64_t head = head_.load(std::memory_order_acquire);
    const uint32_t tail = this->tail();
    if (ABSL_PREDICT_TRUE(tail - StealOf(head) < kCapacity)) {
      Place(tail).Write() = element;
      // Release pairs with the acquire of Claim: the place has been written. An
      // exchange, for the order that is promised: a plain store could be
      // overtaken by the look that follows it (tokio #1768).
      tail_.exchange(tail + 1, std::memory_order_seq_cst);
      return;
    }
    if (StealOf(head) != RealOf(head)) {
      // There will be room in a moment, but the thief may be off its processor.
      overflow(element);
      return;
    }
    if (!ClaimAll(head)) continue;  // a thief has been faster: there is room
    for (uint32_t i = kHalf; i < kCapacity; ++i) {
      overflow(std::as_const(Place(tail + i)).Read());
    }
    // As above: for a moment there was nothing to be seen here.
    tail_.exchange(tail + kHalf, std::memory_order_seq_cst);
    overflow(element);
    return;
  }
}

template <class T, uint32_t kCapacity>
template <class Next>
void StealableQueue<T, kCapacity>::PushBatch(uint32_t count, Next&& next) {
  const uint32_t tail = this->tail();
  // Acquire as in Push: there are free places behind `tail`, and remain.
  const uint32_t steal = StealOf(head_.load(std::memory_order_acquire));
  ABSL_ASSERT(tail - steal + count <= kCapacity);
  static_cast<void>(steal);
  for (uint32_t i = 0; i < count; ++i) Place(tail + i).Write() = next();
  // As in Push; and what was stolen was in neither queue for a moment.
  tail_.exchange(tail + count, std::memory_order_seq_cst);
}

template <class T, uint32_t kCapacity>
bool StealableQueue<T, kCapacity>::ClaimAll(uint64_t head) {
  ABSL_ASSERT(StealOf(head) == RealOf(head));
  const uint32_t tail = this->tail();
  // Nothing to order, as in Pop.
  return head_.compare_exchange_strong(head, Pack(tail, tail),
                                       std::memory_order_relaxed,
                                       std::memory_order_relaxed);
}

template <class T, uint32_t kCapacity>
T* StealableQueue<T, kCapacity>::Pop() {
  // Nothing to order here and below: the owner itself has written what it
  // reads, and the exchange continues the release sequence of the latest
  // Release.
  uint64_t head = head_.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t real = RealOf(head);
    if (real == tail()) return nullptr;
    const uint32_t steal =
        MutableCondition(StealOf(head) == real) ? real + 1 : StealOf(head);
    if (head_.compare_exchange_weak(head, Pack(steal, real + 1),
                                    std::memory_order_relaxed,
                                    std::memory_order_relaxed)) {
      return std::as_const(Place(real)).Read();
    }
  }
}

template <class T, uint32_t kCapacity>
uint32_t StealableQueue<T, kCapacity>::Claim(uint32_t& first) {
  // Nothing to order in the head: what was pushed before `tail` is what counts.
  uint64_t head = head_.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t real = RealOf(head);
    if (MutableCondition(StealOf(head) != real)) return 0;
    // Acquire pairs with the release of Push: the places have been written.
    const uint32_t waiting =
        Between(real, tail_.load(std::memory_order_acquire));
    const uint32_t count = waiting - waiting / 2;
    if (count == 0) return 0;
    if (head_.compare_exchange_weak(head, Pack(real, real + count),
                                    std::memory_order_relaxed,
                                    std::memory_order_relaxed)) {
      first = real;
      return count;
    }
  }
}

template <class T, uint32_t kCapacity>
void StealableQueue<T, kCapacity>::Release() {
  uint64_t head = head_.load(std::memory_order_relaxed);
  // Release pairs with the acquire of Push: the places have been read.
  while (!head_.compare_exchange_weak(head, Pack(RealOf(head), RealOf(head)),
                                      std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
}

template <class T, uint32_t kCapacity>
T* StealableQueue<T, kCapacity>::StealFrom(StealableQueue& victim,
                                           uint32_t& stolen) {
  if (MutableCondition(Room() < kHalf)) return nullptr;
  uint32_t from;
  const uint32_t count = victim.Claim(from);
  if (count == 0) return nullptr;
  T* const first = std::as_const(victim.Place(from)).Read();
  if (count > 1) {
    PushBatch(count - 1, [&victim, &from] {
      return std::as_const(victim.Place(++from)).Read();
    });
  }
  victim.Release();
  stolen += count;
  return first;
}

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_STEALABLE_QUEUE_H_
