// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: run_queues.h
// -----------------------------------------------------------------------------
//
// All run queues of one scheduler: which task comes next on which worker, and
// whom to wake for it. Internal to the scheduler.
//
//   other threads ──▶ inject ──┐ a batch, every so often or when out of work
//                              ▼
//   a worker's tasks ──▶ slot, queue ◀── half of another worker's queue, when
//                              │         out of work
//                              └──▶ inject, when it is full
//
// A worker alone has nobody to share with: its queues are lists without a
// limit, and cost no read-modify-write. What was woken runs in the order of its
// waking. New tasks, of which a tree of tasks may make a great many, run when
// nothing else does, and the newest first: so few branches of the tree are
// begun at one time, and what they have in memory stays in the cache. Every so
// often the oldest comes first, so that each has its turn.
//
// That no task is left lying while a worker sleeps is the invariant of idle.h.
// What moves tasks from one queue to another calls Wake() as who pushes them:
// for a moment they were in neither. Exempt from being found are
//
//  * a task in the slot, which the worker runs next; should it get stuck in the
//    poll before, the watchdog comes (Rescue());
//  * a single task that a worker puts into its own empty queue between two
//    polls: it takes it out next.

#ifndef ROUSE_SCHEDULER_RUN_QUEUES_H_
#define ROUSE_SCHEDULER_RUN_QUEUES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/idle.h"
#include "rouse/scheduler/inject_queue.h"
#include "rouse/scheduler/lifo_slot.h"
#include "rouse/scheduler/local_queue.h"
#include "rouse/scheduler/run_queue.h"
#include "rouse/scheduler/run_stack.h"

namespace rouse::scheduler {

// RunQueues
//
// Of a number of workers, which are known by their numbers. `Host` is
//
//   // `worker` sleeps no more, and is to search: unparks it. Any thread.
//   void UnparkWorker(size_t worker);
//   // `element` came after `Close()`. Any thread.
//   void Discard(T* element);
//
// and of `T`, `next_in_queue` and `previous_in_queue` belong to the queues, and
// `IsNew()` says whether it has never been run.
//
// What takes a `worker` is called by the thread that runs this worker, unless
// it says otherwise.
template <class T, class Host, uint32_t kCapacity = 256>
class RunQueues {
 public:
  // `host` outlives the queues. Without `newest_first` a worker alone runs new
  // tasks in their order as well, in one row with the others.
  RunQueues(Host& host, size_t workers, bool newest_first = true)
      : host_(host),
        workers_(workers),
        newest_first_(newest_first),
        idle_(workers),
        locals_(std::make_unique<Local[]>(workers)) {}

  size_t workers() const { return workers_; }

  // ---- For any thread.

  // Puts `element` at the end of the shared queue.
  void Inject(T* element) {
    if (inject_.Push(element)) {
      Wake();
    } else {
      host_.Discard(element);
    }
  }

  // If a task waits in the slot of `worker`, lets others have it.
  void Rescue(size_t worker) {
    T* const element = locals_[worker].slot.Take();
    if (element != nullptr) Inject(element);
  }

  // There may be something to do: wakes a worker, unless one looks already.
  void Wake() {
    const std::optional<size_t> worker = idle_.Wake();
    if (ABSL_PREDICT_FALSE(worker.has_value())) host_.UnparkWorker(*worker);
  }

  // Wakes one that sleeps, though there be nothing to do. Whether there was.
  bool WakeAny() {
    const std::optional<size_t> worker = idle_.WakeAny();
    if (worker.has_value()) host_.UnparkWorker(*worker);
    return worker.has_value();
  }

  const Idle& idle() const { return idle_; }
  size_t inject_depth() const { return inject_.Size(); }
  // Out of date by the time it returns.
  size_t local_depth(size_t worker) const {
    const Local& local = locals_[worker];
    if (IsSolo()) return local.solo_size.load(std::memory_order_relaxed);
    return local.queue.Size() + (local.slot.IsEmpty() ? 0 : 1);
  }
  // How many tasks have not fitted into the queue of `worker`; how many it has
  // stolen, and in how many thefts.
  uint64_t overflows(size_t worker) const {
    return locals_[worker].overflows.load(std::memory_order_relaxed);
  }
  uint64_t steals(size_t worker) const {
    return locals_[worker].steals.load(std::memory_order_relaxed);
  }
  uint64_t steal_operations(size_t worker) const {
    return locals_[worker].steal_operations.load(std::memory_order_relaxed);
  }

  // The shared queue takes nothing any more, and no worker sleeps.
  void Close() {
    inject_.Close();
    // Sequentially consistent with the look in Sleep, as a push is.
    closed_.store(true, std::memory_order_seq_cst);
    while (WakeAny()) {
    }
  }
  bool IsClosed() const {
    // Acquire pairs with the store of Close.
    return closed_.load(std::memory_order_acquire);
  }

  // ---- For the worker.

  // Puts `element` behind all else that the worker has, and wakes another, if
  // one sleeps and `wake`. (It is not needed for what the worker takes out next
  // itself, nor for each of many that are pushed together.)
  void Push(size_t worker, T* element, bool wake) {
    Local& local = locals_[worker];
    if (IsSolo()) {
      if (newest_first_ && element->IsNew()) {
        local.solo_new.Push(element);
      } else {
        local.solo.Push(element);
      }
      Add<size_t>(local.solo_size, 1);
      return;
    }
    RunQueue<T> overflow;
    size_t count = 0;
    local.queue.Push(element, [&overflow, &count](T* excess) {
      overflow.Push(excess);
      ++count;
    });
    if (ABSL_PREDICT_FALSE(count > 0)) {
      Add<uint64_t>(local.overflows, count);
      if (!inject_.PushBatch(overflow, count)) DiscardAll(overflow);
      wake = true;
    }
    if (wake) Wake();
  }

  // Puts `element` before all else that the worker has.
  void PushNext(size_t worker, T* element) {
    T* const before = locals_[worker].slot.Put(element);
    if (before != nullptr) Push(worker, before, /*wake=*/true);
  }

  // The task that was last pushed to be the next, or null.
  T* PopNext(size_t worker) { return locals_[worker].slot.Take(); }

  // The first of the worker's own queue, or null.
  T* Pop(size_t worker) {
    Local& local = locals_[worker];
    if (!IsSolo()) return local.queue.Pop();
    T* element = nullptr;
    if (++local.solo_pops % kOldestInterval == 0) {
      element = local.solo_new.PopOldest();
    }
    if (element == nullptr) element = local.solo.Pop();
    if (element == nullptr) element = local.solo_new.PopNewest();
    if (element != nullptr) Add<size_t>(local.solo_size, -1);
    return element;
  }

  // The first of the shared queue, or null; and some more, into the worker's
  // own: its share, but no more than half of the room that it has.
  T* PopShared(size_t worker) {
    const size_t waiting = inject_.Size();
    if (waiting == 0) return nullptr;
    Local& local = locals_[worker];
    RunQueue<T> batch;
    if (IsSolo()) {
      // Behind its own, which have waited longer than what comes next.
      Add(local.solo_size, inject_.PopAll(batch));
      local.solo.Append(batch);
      return Pop(worker);
    }
    const size_t room = local.queue.Room() / 2;
    size_t count = inject_.PopBatch(
        std::clamp<size_t>(waiting / workers_ + 1, 1, room + 1), batch);
    if (count == 0) return nullptr;
    T* const first = batch.Pop();
    if (--count > 0) {
      // There is room, and only the owner pushes: nothing flows over.
      while (T* element = batch.Pop()) local.queue.Push(element, &Unexpected);
      Wake();
    }
    return first;
  }

  // The first half of what another worker has, into the worker's own queue:
  // returns the first of it. Or else as PopShared(). Null if there is nothing,
  // or enough others search. The worker searches from then on.
  T* Steal(size_t worker, FastRand& rand) {
    // Nobody to steal from, and nobody else who could be woken.
    if (IsSolo()) return PopShared(worker);
    Local& local = locals_[worker];
    if (!local.searching) {
      if (!idle_.BeginSearching(worker)) return nullptr;
      local.searching = true;
    }
    const size_t start = rand.Below(static_cast<uint32_t>(workers_));
    for (size_t i = 0; i < workers_; ++i) {
      const size_t victim = (start + i) % workers_;
      if (victim == worker) continue;
      const uint32_t before = local.queue.Size();
      T* const element = local.queue.StealFrom(locals_[victim].queue);
      if (element == nullptr) continue;
      Add<uint64_t>(local.steal_operations, 1);
      Add<uint64_t>(local.steals, local.queue.Size() - before + 1);
      return element;
    }
    return PopShared(worker);
  }

  // The worker has found something to do: it does not search any more, if it
  // did.
  void EndSearching(size_t worker) {
    Local& local = locals_[worker];
    if (ABSL_PREDICT_TRUE(!local.searching)) return;
    local.searching = false;
    if (idle_.EndSearching(worker) && HasWork(worker)) Wake();
  }

  // Whether the worker, which has nothing to do, may park: a task that comes
  // from now on, and a Close(), unparks it or another.
  bool Sleep(size_t worker) {
    Local& local = locals_[worker];
    // Sequentially consistent, as all that is looked at here: see idle.h.
    const bool look =
        idle_.Sleep(worker, std::exchange(local.searching, false));
    if (local.slot.IsEmpty() && !(look && HasWork(worker)) &&
        !closed_.load(std::memory_order_seq_cst)) {
      return true;
    }
    Awake(worker);
    return false;
  }

  // The worker has parked. It searches, if another has woken it.
  void Awake(size_t worker) {
    if (idle_.Awake(worker)) locals_[worker].searching = true;
  }

  // The worker is about to be left by its thread: all that it has is for
  // others, and if it was woken for a task, another is.
  void Leave(size_t worker) {
    GiveUpNext(worker);
    EndSearching(worker);
  }

  // Puts the next task, if there is one, behind the others.
  void GiveUpNext(size_t worker) {
    T* const element = PopNext(worker);
    if (element != nullptr) Push(worker, element, /*wake=*/true);
  }

  // ---- When no worker runs.

  // Takes out all that is left, for `Host::Discard()`.
  void Drain() {
    for (size_t i = 0; i < workers_; ++i) {
      if (T* const element = locals_[i].slot.Take()) host_.Discard(element);
      while (T* const element = Pop(i)) host_.Discard(element);
    }
    RunQueue<T> rest;
    inject_.PopAll(rest);
    DiscardAll(rest);
  }

 private:
  // After how many tasks a worker alone takes the oldest of the new ones.
  static constexpr uint32_t kOldestInterval = 127;

  // A worker's.
  struct alignas(ABSL_CACHELINE_SIZE) Local {
    LocalQueue<T, kCapacity> queue;
    LifoSlot<T> slot;
    // Instead of `queue`, of a worker alone.
    RunQueue<T> solo;
    RunStack<T> solo_new;
    uint32_t solo_pops = 0;
    bool searching = false;
    // Written by the worker, read by anyone.
    Atomic<size_t> solo_size{0};
    Atomic<uint64_t> overflows{0};
    Atomic<uint64_t> steals{0};
    Atomic<uint64_t> steal_operations{0};
  };

  static void Unexpected(T*) { ABSL_UNREACHABLE(); }

  // By the only thread that writes `count`. Relaxed: it orders nothing.
  template <class N>
  static void Add(Atomic<N>& count, N change) {
    count.store(count.load(std::memory_order_relaxed) + change,
                std::memory_order_relaxed);
  }

  bool IsSolo() const { return workers_ == 1; }

  // Whether there is something that `worker` could run.
  bool HasWork(size_t worker) const {
    if (!inject_.IsEmpty()) return true;
    if (IsSolo()) return local_depth(worker) != 0;
    for (size_t i = 0; i < workers_; ++i) {
      if (!locals_[i].queue.IsEmpty()) return true;
    }
    return false;
  }

  void DiscardAll(RunQueue<T>& queue) {
    while (T* const element = queue.Pop()) host_.Discard(element);
  }

  Host& host_;
  const size_t workers_;
  const bool newest_first_;
  Idle idle_;
  InjectQueue<T> inject_;
  Atomic<bool> closed_{false};
  const std::unique_ptr<Local[]> locals_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_RUN_QUEUES_H_
