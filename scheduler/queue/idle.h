// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: idle.h
// -----------------------------------------------------------------------------
//
// Who sleeps and who looks for work, of the workers of one scheduler. Internal
// to the scheduler.
//
// # The invariant
//
// While there is a task in a queue, some worker is awake that has not looked at
// that queue since the task came, and will before it sleeps.
//
//   who pushes a task       pushes it, then calls Wake()
//   a worker without a task calls Sleep(), then, unless others search, looks at
//                           all queues, and parks only if they are empty
//   a worker that searches  and finds a task calls EndSearching(), and if it
//                           was the last one looks at all queues, and calls
//                           Wake() if they are not empty
//
// Pushing, all functions of this class, and looking at a queue are sequentially
// consistent. So of a push and a Sleep() one comes first: either the worker
// finds the task, or the pusher finds the worker asleep, and wakes it. (A load
// would not do for the push's part of it if the push itself were weaker: tokio
// #1768.)
//
// Nobody is woken while a worker is searching: it may find the task. It may
// also have passed the queue already. But the EndSearching(), or Sleep(), of
// the last one that searches comes after the pusher's look, and so does its
// look at the queues. For the same reason whoever goes to sleep beside one that
// searches need not look; if it did, it might look at the same queue again and
// again while that one is off its processor with what was in there.
//
// A wake calls one worker, which calls the next if there is more to do than it
// takes; and no more than half of the workers search at one time. So many tasks
// wake many workers, and one task wakes one.

#ifndef ROUSE_SCHEDULER_QUEUE_IDLE_H_
#define ROUSE_SCHEDULER_QUEUE_IDLE_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/mutable_step.h"

namespace rouse::scheduler {

// Idle
//
// Thread-safe; lock-free. A worker is known by its number. What takes a
// `worker` is called by that worker alone. All is O(1) up to `kGroup` workers,
// and O(workers / kGroup) beyond.
class Idle {
 public:
  // So many workers share a word.
#ifdef ROUSE_MODEL
  static constexpr size_t kGroup = 2;
#else
  static constexpr size_t kGroup = 48;
#endif

  // All are awake, and none searches.
  explicit Idle(size_t workers)
      : workers_(workers),
        groups_(std::make_unique<Group[]>((workers + kGroup - 1) / kGroup)) {}

  // ---- For any thread.

  // There is a task in a queue: takes a worker that sleeps, which then
  // searches. The caller unparks it. None if a worker searches already, or none
  // sleeps.
  std::optional<size_t> Wake() {
    for (size_t g = 0; g < groups(); ++g) {
      if (Searching(Load(g)) > 0) return std::nullopt;
    }
    return TakeSleeper(/*although_one_searches=*/false);
  }

  // The same although one searches: for another cause than a task.
  std::optional<size_t> WakeAny() {
    return TakeSleeper(/*although_one_searches=*/true);
  }

  bool IsAsleep(size_t worker) const {
    return (Load(worker / kGroup) & Bit(worker)) != 0;
  }

  // Whether another worker than `worker`, which is searching or not, has
  // nothing to do. Only a hint: one that goes to sleep looks at the queues
  // itself.
  bool HasOthersIdle(size_t worker, bool searching) const {
    const size_t own = worker / kGroup;
    for (size_t g = 0; g < groups(); ++g) {
      const uint64_t self = g == own && searching ? kOneSearching : 0;
      if (groups_[g].word.load(std::memory_order_relaxed) != self) return true;
    }
    return false;
  }

  // How many are asleep.
  size_t asleep() const {
    size_t count = 0;
    for (size_t g = 0; g < groups(); ++g) {
      count += static_cast<size_t>(std::popcount(Load(g) & kAsleep));
    }
    return count;
  }

  // ---- For the worker.

  // Whether the worker may search; it does then.
  bool BeginSearching(size_t worker) {
    size_t searching = 0;
    for (size_t g = 0; g < groups(); ++g) searching += Searching(Load(g));
    if (2 * searching >= workers_) return false;
    // Nothing to order: it only keeps others from waking a worker, and what it
    // then does not see, EndSearching or Sleep does.
    word(worker).fetch_add(kOneSearching, std::memory_order_relaxed);
    return true;
  }

  // The worker has found a task, or gives up. Whether nobody searches now; it
  // must then look whether there is more.
  bool EndSearching(size_t worker) {
    const uint64_t before =
        word(worker).fetch_sub(kOneSearching, std::memory_order_seq_cst);
    ABSL_ASSERT(Searching(before) > 0);
    return MutableCondition(Searching(before) == 1);
  }

  // The worker is asleep, and not searching any more if it was. Whether nobody
  // searches now: it must then look for work before it parks.
  bool Sleep(size_t worker, bool was_searching) {
    ABSL_ASSERT(!IsAsleep(worker));
    const uint64_t searching = was_searching ? kOneSearching : 0;
    const uint64_t before = word(worker).fetch_add(Bit(worker) - searching,
                                                   std::memory_order_seq_cst);
    return MutableCondition(Searching(before - searching) == 0);
  }

  // The worker is awake again. Whether another thread has woken it: it is
  // searching then.
  bool Awake(size_t worker) {
    // Nobody else sets the bit. Acquire pairs with the exchange that has taken
    // it: what follows, comes after that for the watchdog, too.
    if ((word(worker).load(std::memory_order_acquire) & Bit(worker)) == 0) {
      return true;
    }
    // Sequentially consistent with asleep(), for the watchdog.
    return (word(worker).fetch_and(~Bit(worker), std::memory_order_seq_cst) &
            Bit(worker)) == 0;
  }

 private:
  // The workers that are asleep, a bit each, and how many are searching.
  struct alignas(ABSL_CACHELINE_SIZE) Group {
    Atomic<uint64_t> word{0};
  };
  static constexpr uint64_t kOneSearching = uint64_t{1} << kGroup;
  static constexpr uint64_t kAsleep = kOneSearching - 1;

  static size_t Searching(uint64_t word) {
    return static_cast<size_t>(word >> kGroup);
  }
  static uint64_t Bit(size_t worker) { return uint64_t{1} << worker % kGroup; }

  size_t groups() const { return (workers_ + kGroup - 1) / kGroup; }
  Atomic<uint64_t>& word(size_t worker) {
    return groups_[worker / kGroup].word;
  }
  uint64_t Load(size_t group) const {
    return groups_[group].word.load(std::memory_order_seq_cst);
  }

  std::optional<size_t> TakeSleeper(bool although_one_searches) {
    for (size_t g = 0; g < groups(); ++g) {
      uint64_t word = Load(g);
      while ((word & kAsleep) != 0) {
        if (!although_one_searches && MutableCondition(Searching(word) > 0)) {
          return std::nullopt;
        }
        // The first ones, so that the others sleep long and deep.
        const int bit = std::countr_zero(word);
        const uint64_t woken = (word & ~(uint64_t{1} << bit)) + kOneSearching;
        // Relaxed if it fails: it is the load above that comes after the push.
        if (groups_[g].word.compare_exchange_weak(word, woken,
                                                  std::memory_order_seq_cst,
                                                  std::memory_order_relaxed)) {
          return g * kGroup + static_cast<size_t>(bit);
        }
      }
    }
    return std::nullopt;
  }

  const size_t workers_;
  const std::unique_ptr<Group[]> groups_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_IDLE_H_
