// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: idle.h
// -----------------------------------------------------------------------------
//
// Records which workers of a scheduler sleep, and how many search for work.
// Internal to the scheduler.
//
// # The invariant
//
// While a queue holds a task, some awake worker has not checked that queue
// since the task arrived, and will do so before going to sleep.
//
//   thread that pushes      pushes the task, then calls Wake()
//   worker without a task   calls Sleep(), then, unless others search, checks
//                           all queues, and parks only if they are empty
//   searching worker,       calls EndSearching(); if it was the last one to
//   after finding a task    search, checks all queues, and calls Wake() if they
//                           are not empty
//
// Pushing, checking a queue, and the functions in this table are sequentially
// consistent. Therefore a push comes either before or after a Sleep(): either
// the worker finds the task, or the pusher finds the worker asleep, and wakes
// it. (If the push were weaker, a load after the push would not suffice: tokio
// #1768.)
//
// No worker is woken while another is searching, because the searching worker
// may find the task. The searching worker may also have passed the queue
// already. But the EndSearching() or Sleep() of the last searching worker comes
// after the pusher's check for workers, and so does that worker's check of the
// queues. For the same reason, a worker need not check the queues when going to
// sleep while another searches. Otherwise, it might check the same queue again
// and again while the searching worker, with the tasks from there, is off its
// processor.
//
// A wake affects one worker. This worker wakes the next if there is more to do
// than it takes. Therefore many tasks wake many workers, and one task wakes
// one.
//
// # How many workers search
//
// A worker begins a search of its own only if fewer than `kMaxSearching`
// workers, and fewer than half of all workers, search at the time. (The check
// and the start are not one atomic step.) More searching workers would contend
// for the queues, and each of them keeps others from being woken. Two cases
// have no limit: a worker that is woken, which is nearly always for a task, and
// a worker whose last check before parking finds a task
// (BeginSearchingForTask()). In the second case, the limit could keep the
// worker from both parking and taking the task. The limit counts the searching
// workers of all groups, but only those of the worker's own group spare the
// worker the check.
//
// A worker that is woken in the driver may dispatch events for long. It calls
// EndSearching() before it queues a task there. If no event wakes a task of the
// scheduler, the worker searches until the dispatch ends; if tasks wait for
// long, the watchdog then wakes another worker by WakeAny() (watchdog.h).
//
// # Which queues are checked
//
// A search and a check of the queues pass over the workers that sleep
// (AnyAwake()), which have no tasks:
//
//   a worker          goes to sleep only if its own queues are empty, and puts
//                     a task into them only after Awake()
//   another thread    never puts a task into them
//
// A thread that has seen a worker asleep has checked that worker's queue before
// any task arrives there. As above, the Wake() after the push then comes after
// the thread's check, and finds the thread searching, or another worker asleep.

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
// Thread-safe; lock-free. Workers are identified by their indices. Functions
// with the parameter `worker`, except for `IsAsleep()`, must be called only by
// the worker with this index. All functions take O(1) for up to `kGroup`
// workers, and O(workers / kGroup) for more.
class Idle {
 public:
  // Number of workers in a group. The workers of a group share a word.
#ifdef ROUSE_MODEL
  static constexpr size_t kGroup = 2;
#else
  static constexpr size_t kGroup = 48;
#endif

  // Number of workers that begin a search of their own at most, if all check
  // one after another.
  static constexpr size_t kMaxSearching = 2;

  // Initially all workers are awake, and no worker searches.
  explicit Idle(size_t workers)
      : workers_(workers),
        groups_(std::make_unique<Group[]>((workers + kGroup - 1) / kGroup)) {}

  // ---- For any thread.

  // Takes a sleeping worker, for a task in a queue, and returns the worker's
  // index. The worker then searches; the caller must unpark it. Returns nothing
  // if a worker already searches, or if no worker sleeps.
  std::optional<size_t> Wake() {
    for (size_t g = 0; g < groups(); ++g) {
      if (Searching(Load(g)) > 0) return std::nullopt;
    }
    return TakeSleeper(/*although_one_searches=*/false);
  }

  // Like `Wake()`, but takes a worker even if another searches: for causes
  // other than a task.
  std::optional<size_t> WakeAny() {
    return TakeSleeper(/*although_one_searches=*/true);
  }

  bool IsAsleep(size_t worker) const {
    return (Load(worker / kGroup) & Bit(worker)) != 0;
  }

  // Returns whether a worker other than `worker` has nothing to do. `searching`
  // says whether `worker` itself searches. The result is only a hint: workers
  // check the queues themselves before sleeping.
  bool HasOthersIdle(size_t worker, bool searching) const {
    const size_t own = worker / kGroup;
    for (size_t g = 0; g < groups(); ++g) {
      const uint64_t self = g == own && searching ? kOneSearching : 0;
      if (groups_[g].word.load(std::memory_order_relaxed) != self) return true;
    }
    return false;
  }

  // Like `HasOthersIdle()`, for a worker that does not search. Relaxed: a hint.
  bool HasIdle() const {
    if (groups_[0].word.load(std::memory_order_relaxed) != 0) return true;
    return workers_ > kGroup && HasOthersIdle(0, /*searching=*/false);
  }

  // Calls `visit(worker)` for the workers that do not sleep, in the order of
  // their indices, from `first` on and around, until `visit` returns true.
  // Returns whether `visit` has returned true. Takes O(awake workers) in
  // addition.
  template <class F>
  bool AnyAwake(size_t first, F visit) const {
    const size_t group = first / kGroup;
    const uint64_t before = Bit(first) - 1;
    if (AnyAwakeIn(group, ~before, visit)) return true;
    for (size_t g = group + 1; g < groups(); ++g) {
      if (AnyAwakeIn(g, kAsleep, visit)) return true;
    }
    for (size_t g = 0; g < group; ++g) {
      if (AnyAwakeIn(g, kAsleep, visit)) return true;
    }
    return before != 0 && AnyAwakeIn(group, before, visit);
  }

  // Returns the number of sleeping workers.
  size_t asleep() const {
    size_t count = 0;
    for (size_t g = 0; g < groups(); ++g) {
      count += static_cast<size_t>(std::popcount(Load(g) & kAsleep));
    }
    return count;
  }

  // ---- For the worker.

  // Lets the worker search and returns true, or returns false if
  // `kMaxSearching` workers, or half of the workers, search already.
  bool BeginSearching(size_t worker) {
    size_t searching = 0;
    for (size_t g = 0; g < groups(); ++g) searching += Searching(Load(g));
    if (searching >= kMaxSearching || 2 * searching >= workers_) return false;
    BeginSearchingForTask(worker);
    return true;
  }

  // Lets the worker search, however many others do, because the worker has seen
  // a task in its check after `Sleep()`.
  void BeginSearchingForTask(size_t worker) {
    // Relaxed: the count only keeps other threads from waking a worker. If this
    // worker does not see a task, EndSearching or Sleep does.
    word(worker).fetch_add(kOneSearching, std::memory_order_relaxed);
  }

  // Ends the worker's search, because the worker has found a task or gives up.
  // Returns true if no worker in the same group searches now: the caller must
  // then check whether more tasks are queued.
  bool EndSearching(size_t worker) {
    const uint64_t before =
        word(worker).fetch_sub(kOneSearching, std::memory_order_seq_cst);
    ABSL_ASSERT(Searching(before) > 0);
    return MutableCondition(Searching(before) == 1);
  }

  // Marks the worker as asleep, and ends its search if it was searching.
  // Returns true if no worker in the same group searches now: the caller must
  // then check for work before parking.
  bool Sleep(size_t worker, bool was_searching) {
    ABSL_ASSERT(!IsAsleep(worker));
    const uint64_t searching = was_searching ? kOneSearching : 0;
    const uint64_t before = word(worker).fetch_add(Bit(worker) - searching,
                                                   std::memory_order_seq_cst);
    return MutableCondition(Searching(before - searching) == 0);
  }

  // Marks the worker as awake. Returns whether another thread has woken the
  // worker; in this case the worker is searching.
  bool Awake(size_t worker) {
    // No other thread sets the bit. Acquire pairs with the compare-exchange of
    // TakeSleeper. Both this load and the step below are sequentially
    // consistent with the loads of AnyAwake(), for the tasks that the worker
    // queues next, and of asleep(), for the watchdog: a thread that finds the
    // worker asleep does so before this call.
    if ((word(worker).load(std::memory_order_seq_cst) & Bit(worker)) == 0) {
      return true;
    }
    return (word(worker).fetch_and(~Bit(worker), std::memory_order_seq_cst) &
            Bit(worker)) == 0;
  }

 private:
  // A bit for each worker, set while the worker is asleep, and above the bits
  // the number of searching workers.
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

  // `AnyAwake()` for the workers of a group whose bits are in `part`.
  template <class F>
  bool AnyAwakeIn(size_t group, uint64_t part, F& visit) const {
    const size_t first = group * kGroup;
    uint64_t awake = ~Load(group) & part & kAsleep;
    for (; awake != 0; awake &= awake - 1) {
      const size_t worker =
          first + static_cast<size_t>(std::countr_zero(awake));
      if (worker >= workers_) break;
      if (visit(worker)) return true;
    }
    return false;
  }

  std::optional<size_t> TakeSleeper(bool although_one_searches) {
    for (size_t g = 0; g < groups(); ++g) {
      uint64_t word = Load(g);
      while ((word & kAsleep) != 0) {
        if (!although_one_searches && MutableCondition(Searching(word) > 0)) {
          return std::nullopt;
        }
        // Wakes the first workers first, so that the others sleep long and
        // deep.
        const int bit = std::countr_zero(word);
        const uint64_t woken = (word & ~(uint64_t{1} << bit)) + kOneSearching;
        // Relaxed on failure: the load above is the one after the push.
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
