// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: readiness_word.h
// -----------------------------------------------------------------------------
//
// Keeps everything known about the readiness of one source in one atomic word,
// which is also the lock on the list of waiters.
//
//    bits   meaning
//    0-5    `Ready`, as last reported. Closed and error states stay.
//    6, 7   the edge of reading, of writing: an attempt is worthwhile.
//    8      shutdown: the reactor is shut down.
//    9      lock.
//    10, 11 a waiter to read, to write, may exist.
//    12-37  the tick of reading: the number of events for reading.
//    38-63  the tick of writing.
//
// # Edges and ticks
//
// An event raises the edge of each direction that it concerns, and advances the
// tick of that direction. A caller that finds the edge raised makes an attempt.
// If the attempt shows that nothing more is available, the caller lowers the
// edge, but only if the tick has not changed since before the attempt: an event
// that came meanwhile may report something that the attempt did not see. Each
// direction has its own tick, so a reader and a writer never prevent each other
// from lowering an edge (tokio #8054).
//
// A tick wraps after 2^26 events. A stale attempt would be accepted only after
// a delay of an exact multiple of 2^26 events, which takes minutes at 5 us an
// event. When the tick of reading wraps, its carry also advances the tick of
// writing. An advanced tick only refuses a `Lower()`, whose caller then makes
// one attempt more.
//
// # The lock
//
// Invariant: while the lock bit is set, only the holder changes the word. The
// holder can therefore unlock with a plain store. It holds the lock for a few
// dozen instructions and calls no foreign code meanwhile; other threads spin.
//
// A waiter takes the lock, and waits only if the edge is low. An event that
// finds a waiter takes the lock in the same step in which it raises the edge.
// An event therefore comes either before the waiter checks the edge or after
// the wait has begun, and no wake is lost.

#ifndef ROUSE_REACTOR_SLOT_READINESS_WORD_H_
#define ROUSE_REACTOR_SLOT_READINESS_WORD_H_

#include <atomic>
#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/optimization.h"
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

  // Returns the waiter bits of the directions that `ready` concerns.
  static constexpr uint64_t WaitersOf(Ready ready) {
    return WaitersOf(ReportOf(ready));
  }

  // Returns the waiter bits of the directions whose edges are raised in `word`.
  static constexpr uint64_t WaitersOf(uint64_t word) {
    constexpr uint64_t kRead = WaitersOf(Direction::kRead);
    static_assert(kRead == EdgeOf(Direction::kRead) << 4);
    constexpr uint64_t kEdges =
        EdgeOf(Direction::kRead) | EdgeOf(Direction::kWrite);
    return (word & kEdges) << 4;
  }

  // Acquire pairs with the releases of `Post()` and `Unlock()`.
  uint64_t Load() const { return word_.load(std::memory_order_acquire); }

  // Lowers the edge of `direction`, unless an event has concerned `direction`
  // since `seen` was loaded, or a state of `keep` has been reported.
  void Lower(Direction direction, uint64_t seen, Ready keep);

  // Reports `ready`, if `is_current()` says that the slot still belongs to the
  // source of the report. If a waiter may exist, takes the lock and returns the
  // word; otherwise returns 0.
  //
  // `is_current()` must only read data that changes only under the lock, and
  // only together with a tick. If the word did not change between the load and
  // the exchange, the answer was therefore still true at the exchange.
  template <class IsCurrent>
  uint64_t Post(Ready ready, IsCurrent is_current)
      ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true);

  // Returns the word, which only the caller changes from now on.
  uint64_t Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();

  // Returns the word. Must be called only by the holder of the lock, who alone
  // changes the word.
  uint64_t Held() const ABSL_SHARED_LOCKS_REQUIRED(this) {
    return word_.load(std::memory_order_relaxed);
  }

  // Unlocks and sets the word to `next`.
  void Unlock(uint64_t next) ABSL_UNLOCK_FUNCTION() {
    // Release pairs with the acquire of `Lock()`, `Post()` and `Load()`.
    word_.store(next & ~kLock, std::memory_order_release);
  }

  // Returns `word` with the tick of each direction advanced and everything else
  // cleared: the word of a source that was deregistered.
  static constexpr uint64_t Forgotten(uint64_t word) {
    return (word + kReadTick + kWriteTick) & kTicks;
  }

 private:
  static constexpr uint64_t kReadyMask = 0x3f;
  static constexpr uint64_t kLock = uint64_t{1} << 9;
  static constexpr int kTickBits = 26;
  static constexpr int kReadTickShift = 12;
  static constexpr int kWriteTickShift = kReadTickShift + kTickBits;
  static_assert(kWriteTickShift + kTickBits == 64);
  // One event more.
  static constexpr uint64_t kReadTick = uint64_t{1} << kReadTickShift;
  static constexpr uint64_t kWriteTick = uint64_t{1} << kWriteTickShift;
  // The bits of both ticks.
  static constexpr uint64_t kTicks = ~uint64_t{0} << kReadTickShift;

  // Returns the bits of the tick of `direction`.
  static constexpr uint64_t TickOf(Direction direction) {
    constexpr uint64_t kTick = (uint64_t{1} << kTickBits) - 1;
    return direction == Direction::kRead ? kTick << kReadTickShift
                                         : kTick << kWriteTickShift;
  }
  // Returns what an event of `ready` does to a word: the bits to set, and the
  // ticks to add.
  static constexpr uint64_t ReportOf(Ready ready) {
    uint64_t report = ready.bits();
    if (!Concerning(Direction::kRead, ready).IsEmpty()) {
      report |= EdgeOf(Direction::kRead) | kReadTick;
    }
    if (!Concerning(Direction::kWrite, ready).IsEmpty()) {
      report |= EdgeOf(Direction::kWrite) | kWriteTick;
    }
    return report;
  }
  // `ReportOf()` of every `Ready`, because every event asks.
  struct Reports {
    constexpr Reports() {
      for (unsigned i = 0; i <= kReadyMask; ++i) {
        of[i] = ReportOf(Ready::FromBits(static_cast<uint8_t>(i)));
      }
    }
    uint64_t of[kReadyMask + 1] = {};
  };
  static const Reports kReports;

  // Returns the bits that an attempt in `direction` uses up.
  static constexpr uint64_t UsedBy(Direction direction) {
    return EdgeOf(direction) |
           (direction == Direction::kRead
                ? (Ready::kReadable | Ready::kPriority).bits()
                : Ready::kWritable.bits());
  }

  // Does what `Lower()` does, for a word that may have changed since `seen`.
  ABSL_ATTRIBUTE_NOINLINE void LowerChanged(Direction direction, uint64_t seen,
                                            Ready keep);

  // Waits until the lock bit is clear, and returns the word seen then.
  ABSL_ATTRIBUTE_NOINLINE ABSL_ATTRIBUTE_COLD uint64_t AwaitUnlocked() const;

  Atomic<uint64_t> word_{0};
};

inline constexpr ReadinessWord::Reports ReadinessWord::kReports{};

template <class IsCurrent>
uint64_t ReadinessWord::Post(Ready ready, IsCurrent is_current)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  ABSL_ASSERT(ready.bits() <= kReadyMask);
  const uint64_t report = kReports.of[ready.bits()];
  const uint64_t waiters = WaitersOf(report);
  // Acquire pairs with the release of `Unlock()`: the data that `is_current()`
  // reads is not older than the word.
  uint64_t word = Load();
  for (;;) {
    if (ABSL_PREDICT_FALSE((word & kLock) != 0)) word = AwaitUnlocked();
    if (!is_current()) return 0;
    uint64_t next = (word + (report & kTicks)) | (report & ~kTicks);
    if ((word & waiters) != 0) next |= kLock;
    // Release pairs with the acquire of `Load()`: a thread that finds the edge
    // also finds the cause of the edge. Acquire pairs with the release of
    // `Unlock()`, which wrote the waiter bits.
    if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      return (next & kLock) != 0 ? next : 0;
    }
  }
}

inline uint64_t ReadinessWord::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  // Relaxed: nothing to order before the exchange below has succeeded.
  uint64_t word = word_.load(std::memory_order_relaxed);
  do {
    if (ABSL_PREDICT_FALSE((word & kLock) != 0)) word = AwaitUnlocked();
    // Acquire pairs with the release of `Unlock()`.
  } while (!word_.compare_exchange_weak(word, word | kLock,
                                        std::memory_order_acquire,
                                        std::memory_order_relaxed));
  return word;
}

inline void ReadinessWord::Lower(Direction direction, uint64_t seen,
                                 Ready keep) {
  // The usual case: nothing has changed since `seen`.
  uint64_t word = seen;
  if (ABSL_PREDICT_TRUE((seen & (kLock | keep.bits())) == 0) &&
      // Relaxed: the attempt passed no memory on, and the exchange continues
      // the release sequence of the thread that raised the edge.
      ABSL_PREDICT_TRUE(word_.compare_exchange_strong(
          word, seen & ~UsedBy(direction), std::memory_order_relaxed,
          std::memory_order_relaxed))) {
    return;
  }
  LowerChanged(direction, seen, keep);
}

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_SLOT_READINESS_WORD_H_
