// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: readiness_word.h
// -----------------------------------------------------------------------------
//
// All that is known of the readiness of one source, in one atomic word, which
// is at the same time the lock on those who wait for it.
//
//    bits   what
//    0-5    `Ready`, as last reported. Closed and error states stay.
//    6, 7   the edge of reading, of writing: an attempt is worth making.
//    8      shutdown: the reactor has gone.
//    9      lock.
//    10, 11 somebody may be waiting to read, to write.
//    12-37  the tick of reading: how many events have concerned it.
//    38-63  the tick of writing.
//
// # Edges and ticks
//
// An event raises the edge of each direction that it concerns, and advances its
// tick. Who finds the edge raised makes an attempt. When the attempt shows that
// there is no more to get, the edge is lowered, but only if the tick is still
// the one seen before the attempt: an event that came meanwhile may be news
// that the attempt had not seen. There is a tick for each direction, so that a
// reader and a writer never stop each other's edge from being lowered (tokio
// #8054).
//
// A tick wraps after 2^26 events. A stale attempt would have to be delayed for
// an exact multiple of that, at 5 us an event for minutes, to be believed.
//
// # The lock
//
// Invariant: while the lock bit is set only its holder changes the word. So it
// unlocks by a plain store. It holds the lock for a few dozen instructions and
// runs no one else's code meanwhile; others spin.
//
// Who wants to wait takes the lock and waits only if the edge is low. An event
// that finds somebody waiting takes the lock in the same step in which it
// raises the edge. So an event comes either before the look or after the wait
// has begun, and no wake is lost.

#ifndef ROUSE_REACTOR_SLOT_READINESS_WORD_H_
#define ROUSE_REACTOR_SLOT_READINESS_WORD_H_

#include <atomic>
#include <cstdint>
#include <initializer_list>

#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/reactor/ready.h"

namespace rouse::reactor::internal {

// ReadinessWord
//
// The invariants are above. Thread-safe.
class ABSL_LOCKABLE ReadinessWord {
 public:
  static constexpr uint64_t kShutdown = uint64_t{1} << 8;

  static constexpr Ready ReadyOf(uint64_t word) {
    return Ready::FromBits(word & kReadyMask);
  }
  static constexpr uint64_t EdgeOf(Direction direction) {
    return direction == Direction::kRead ? uint64_t{1} << 6 : uint64_t{1} << 7;
  }
  static constexpr uint64_t WaitersOf(Direction direction) {
    return direction == Direction::kRead ? uint64_t{1} << 10
                                         : uint64_t{1} << 11;
  }

  // Of those whom `ready` concerns.
  static constexpr uint64_t WaitersOf(Ready ready) {
    uint64_t waiters = 0;
    for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
      if (!Concerning(direction, ready).IsEmpty()) {
        waiters |= WaitersOf(direction);
      }
    }
    return waiters;
  }

  // Acquire pairs with the releases of `Post()` and `Unlock()`.
  uint64_t Load() const { return word_.load(std::memory_order_acquire); }

  // Lowers the edge of `direction`, unless an event has concerned it since
  // `seen` was loaded, or one of `keep` has been reported.
  void Lower(Direction direction, uint64_t seen, Ready keep);

  // Reports `ready`, if `is_current()` says that the source is still the one
  // the report is about. Returns whether somebody waits for it; the caller then
  // holds the lock.
  //
  // `is_current()` reads what changes under the lock alone, and not without a
  // tick changing too. So if the word did not change between being loaded and
  // being exchanged, the answer held at the exchange.
  template <class IsCurrent>
  bool Post(Ready ready, IsCurrent is_current)
      ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true);

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();

  // The word, for the holder of the lock, who alone changes it.
  uint64_t Held() const ABSL_SHARED_LOCKS_REQUIRED(this) {
    return word_.load(std::memory_order_relaxed);
  }

  // Unlocks and makes the word `next`.
  void Unlock(uint64_t next) ABSL_UNLOCK_FUNCTION() {
    // Release pairs with the acquire of `Lock()`, `Post()` and `Load()`.
    word_.store(next & ~kLock, std::memory_order_release);
  }

  // `word` with the tick of each direction advanced and all else forgotten: the
  // word of a source that is not there any more.
  static constexpr uint64_t Forgotten(uint64_t word) {
    return Advance(word, 1, 1) & (~uint64_t{0} << kReadTickShift);
  }

 private:
  static constexpr uint64_t kReadyMask = 0x3f;
  static constexpr uint64_t kLock = uint64_t{1} << 9;
  static constexpr int kTickBits = 26;
  static constexpr uint64_t kTickMask = (uint64_t{1} << kTickBits) - 1;
  static constexpr int kReadTickShift = 12;
  static constexpr int kWriteTickShift = kReadTickShift + kTickBits;
  static_assert(kWriteTickShift + kTickBits == 64);

  static constexpr int TickShift(Direction direction) {
    return direction == Direction::kRead ? kReadTickShift : kWriteTickShift;
  }
  static constexpr uint64_t TickOf(uint64_t word, Direction direction) {
    return (word >> TickShift(direction)) & kTickMask;
  }
  // `word` with each tick advanced by that many. Without a branch, since every
  // event passes here.
  static constexpr uint64_t Advance(uint64_t word, uint64_t read,
                                    uint64_t write) {
    constexpr uint64_t kReadTick = kTickMask << kReadTickShift;
    const uint64_t next_read =
        ((word & kReadTick) + (read << kReadTickShift)) & kReadTick;
    // The tick of writing wraps by itself, at the end of the word.
    return ((word & ~kReadTick) | next_read) + (write << kWriteTickShift);
  }

  // Returns when the word has been seen without the lock bit, as it was then.
  uint64_t AwaitUnlocked() const;

  Atomic<uint64_t> word_{0};
};

template <class IsCurrent>
bool ReadinessWord::Post(Ready ready,
                         IsCurrent is_current) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const uint64_t read = Concerning(Direction::kRead, ready).IsEmpty() ? 0 : 1;
  const uint64_t write = Concerning(Direction::kWrite, ready).IsEmpty() ? 0 : 1;
  const uint64_t raised = ready.bits() | read * EdgeOf(Direction::kRead) |
                          write * EdgeOf(Direction::kWrite);
  const uint64_t waiters = WaitersOf(ready);
  // Acquire pairs with the release of Unlock: what `is_current()` reads is not
  // older than the word.
  uint64_t word = Load();
  for (;;) {
    if ((word & kLock) != 0) word = AwaitUnlocked();
    if (!is_current()) return false;
    uint64_t next = Advance(word, read, write) | raised;
    const bool wanted = (word & waiters) != 0;
    if (wanted) next |= kLock;
    // Release pairs with the acquire of Load: who finds the edge finds what led
    // to it. Acquire pairs with the release of Unlock, which wrote who waits.
    if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      return wanted;
    }
  }
}

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_SLOT_READINESS_WORD_H_
