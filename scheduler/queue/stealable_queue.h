// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stealable_queue.h
// -----------------------------------------------------------------------------
//
// The run queue of one worker from which other workers steal. Internal to the
// scheduler.
//
// # Layout
//
//             steal        real              tail
//               │            │                 │
//   ... past ───┼─ copied ───┼──── waiting ────┼─── free ...
//
// The queue is a ring of `kCapacity` places with three positions, which only
// grow. (Positions wrap at 2^32; a position's place is its remainder.) The
// elements between `real` and `tail` are waiting. A thief claims the first half
// of the waiting elements by moving `real`, copies the claimed elements, and
// then moves `steal` up to `real`. Until then the places in between are not
// free. Without a thief, `steal` equals `real`.
//
//   thread  action          from                to
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
//  2. Only the owner moves `tail`. Only the owner writes to a place, and only
//     between `tail` and `steal + kCapacity`.
//  3. While steal < real, there is exactly one thief, and no other thread moves
//     `steal`. Therefore claimed elements stay in place until the thief has
//     copied them.
//
// `steal` and `real` are one word, so each action is one exchange. The
// positions are wider than the ring is long: a delayed exchange could only
// succeed wrongly after exactly 2^32 steps (tokio #5041).
//
// # Overflow
//
// When the ring is full and no thief is active, the owner claims the whole
// ring, gives the second half away, and puts the first half back. The first
// half is already in the right places, because half a ring further is the same
// places. This half has waited longer and runs next, on the owner's worker. The
// rest goes to the end of the global queue, behind no task that came later
// (tokio #8029).

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
// A first-in, first-out queue of at most `kCapacity` elements, a power of two.
// Owns no elements. One thread at a time is the owner; any thread that owns
// another queue may steal. All operations are lock-free and take O(1), except
// for a batch, which takes O(count), and an overflow and a theft, which take
// O(kCapacity).
template <class T, uint32_t kCapacity = 256>
class StealableQueue {
  static_assert(kCapacity >= 2 && (kCapacity & (kCapacity - 1)) == 0);

 public:
  // Starts with all positions at `first`, so that a test can see them wrap.
  explicit StealableQueue(uint32_t first = 0)
      : head_(Pack(first, first)), tail_(first) {}
  StealableQueue(const StealableQueue&) = delete;
  StealableQueue& operator=(const StealableQueue&) = delete;

  // ---- For the owner.

  // Puts `element` last. If there is no room, calls `overflow(T*)` for each
  // element that must go elsewhere, in their order, with `element` as the last
  // of them.
  //
  // Sequentially consistent: if one thread pushes and then checks for sleeping
  // workers, and another goes to sleep and then checks `IsEmpty()`, at least
  // one of them sees the other.
  template <class Overflow>
  void Push(T* element, Overflow&& overflow);

  // Puts `count` elements last, all at once: the results of `count` calls of
  // `next()`. Sequentially consistent, like Push.
  //
  // REQUIRES: `Room()` is at least `count`.
  template <class Next>
  void PushBatch(uint32_t count, Next&& next);

  // Removes and returns the element that has waited longest, or null.
  T* Pop();

  // Returns how many elements can certainly be pushed.
  uint32_t Room() const {
    // Relaxed: Push checks again.
    return kCapacity -
           (tail() - StealOf(head_.load(std::memory_order_relaxed)));
  }

  // Takes half of the elements waiting in `victim`, rounded up. Returns the
  // first of them, and puts the rest last here, with the order promised by
  // Push: a thief checks for sleeping workers afterwards, too. Adds the number
  // of elements taken to `stolen`. Returns null if `victim` is empty, if
  // another thief is active there, or if more than half of this queue is in
  // use.
  T* StealFrom(StealableQueue& victim, uint32_t& stolen);
  T* StealFrom(StealableQueue& victim) {
    uint32_t stolen = 0;
    return StealFrom(victim, stolen);
  }

  // ---- For any thread.

  // Returns how many elements wait. The result may be out of date when the call
  // returns.
  uint32_t Size() const {
    // Relaxed: the result is out of date in any case.
    const uint32_t real = RealOf(head_.load(std::memory_order_relaxed));
    return Between(real, tail_.load(std::memory_order_relaxed));
  }
  bool IsEmpty() const {
    // An outdated `real` is never beyond the current one, so it equals `tail`
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

  // Returns how many elements wait from `real` to `tail`. A thread other than
  // the owner has read the two positions one after the other: either may be out
  // of date, so the difference can have any value.
  static constexpr uint32_t Between(uint32_t real, uint32_t tail) {
    return tail - real <= kCapacity ? tail - real : 0;
  }

  Cell<T*>& Place(uint32_t position) { return ring_[position % kCapacity]; }

  // Returns the tail. Only for the owner, which alone changes it.
  uint32_t tail() const { return tail_.load(std::memory_order_relaxed); }

  // Returns whether the owner has claimed all waiting elements, from `head` on.
  bool ClaimAll(uint64_t head);

  // Claims half of the waiting elements, from `first` on. Returns their number,
  // or 0 if no element can be claimed.
  uint32_t Claim(uint32_t& first);
  // Frees the places of the elements claimed by the thief.
  void Release();

  // On a cache line of its own, since every searching worker reads it.
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
      // Release pairs with the acquire of Claim: the place has been written.
      // The exchange gives the promised order: the check for sleeping workers
      // could overtake a plain store (tokio #1768).
      tail_.exchange(tail + 1, std::memory_order_seq_cst);
      return;
    }
    if (StealOf(head) != RealOf(head)) {
      // There will be room soon, but the thief may be off its processor.
      overflow(element);
      return;
    }
    if (!ClaimAll(head)) continue;  // a thief was faster: there is room
    for (uint32_t i = kHalf; i < kCapacity; ++i) {
      overflow(std::as_const(Place(tail + i)).Read());
    }
    // An exchange as above: for a moment this queue seemed empty.
    tail_.exchange(tail + kHalf, std::memory_order_seq_cst);
    overflow(element);
    return;
  }
}

template <class T, uint32_t kCapacity>
template <class Next>
void StealableQueue<T, kCapacity>::PushBatch(uint32_t count, Next&& next) {
  const uint32_t tail = this->tail();
  // Acquire, as in Push: there are free places behind `tail`, and they stay
  // free.
  const uint32_t steal = StealOf(head_.load(std::memory_order_acquire));
  ABSL_ASSERT(tail - steal + count <= kCapacity);
  static_cast<void>(steal);
  for (uint32_t i = 0; i < count; ++i) Place(tail + i).Write() = next();
  // As in Push. Stolen elements were in neither queue for a moment.
  tail_.exchange(tail + count, std::memory_order_seq_cst);
}

template <class T, uint32_t kCapacity>
bool StealableQueue<T, kCapacity>::ClaimAll(uint64_t head) {
  ABSL_ASSERT(StealOf(head) == RealOf(head));
  const uint32_t tail = this->tail();
  // Relaxed, as in Pop.
  return head_.compare_exchange_strong(head, Pack(tail, tail),
                                       std::memory_order_relaxed,
                                       std::memory_order_relaxed);
}

template <class T, uint32_t kCapacity>
T* StealableQueue<T, kCapacity>::Pop() {
  // Relaxed here and below: the owner itself has written the places it reads,
  // and the exchange continues the release sequence of the latest Release.
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
  // Relaxed load of the head: only the pushes before `tail` matter.
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
