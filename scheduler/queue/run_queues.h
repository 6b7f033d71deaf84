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
//   other threads ──▶ inject ──────┐ a batch, at times or when out of work
//                                  ▼
//   a worker's tasks ──────────▶ private
//                                  │ when others have nothing to do
//                                  ▼
//   half of it to ◀───────────── shared
//   those out of work
//
// What a worker's tasks wake and spawn it keeps to itself at first, which costs
// no read-modify-write (private_queue.h). Whenever a worker has more than what
// it runs next, and another has nothing to do, it moves what others are to have
// to a queue that they steal from (stealable_queue.h). So nothing is shared
// while all are busy, or all that there is to do is one task after the other.
//
// A worker whose polls take long shares all of it in advance, as soon as there
// is room: others should not have to wait for the end of a poll. Where nobody
// watches for long polls every worker does so.
//
// A worker that is in a poll when another one becomes idle, and stays in it,
// does not notice. So a worker that searches, finds nothing shared, and sees
// that another one keeps tasks to itself, watches that one for some tens of
// microseconds. If the watched worker has not begun `kPollsUntilShared` polls
// by then it is stuck, and all that it keeps is moved to the queue of all
// (Rescue()). If it has, it has seen that somebody searches, and has shared
// what it had.
//
// That no task is left lying in a shared queue while a worker sleeps is the
// invariant of idle.h. What moves tasks from one such queue to another calls
// Wake() as who pushes them: for a moment they were in neither. What is private
// is exempt: its worker is awake, and comes to it, or shares it, after the poll
// that it is in. Should it get stuck there, who searches takes all of it, or,
// if nobody does until then, the watchdog.

#ifndef ROUSE_SCHEDULER_QUEUE_RUN_QUEUES_H_
#define ROUSE_SCHEDULER_QUEUE_RUN_QUEUES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/lock/spin_hint.h"
#include "rouse/base/mutable_step.h"
#include "rouse/scheduler/queue/global_queue.h"
#include "rouse/scheduler/queue/idle.h"
#include "rouse/scheduler/queue/private_queue.h"
#include "rouse/scheduler/queue/run_queue.h"
#include "rouse/scheduler/queue/stealable_queue.h"

namespace rouse::scheduler {

// When a worker shares what it has: if another has nothing to do, or when there
// is room.
enum class Sharing : unsigned char { kOnDemand, kInAdvance };

// A worker that has begun so many polls has looked in between whether another
// has nothing to do, and called `Share()`.
inline constexpr uint64_t kPollsUntilShared = 5;

// RunQueues
//
// Of a number of workers, which are known by their numbers. `Host` is
//
//   // `worker` sleeps no more, and is to search: unparks it. Any thread.
//   void UnparkWorker(size_t worker);
//   // How many polls `worker` has begun. Any thread; may be out of date.
//   uint64_t PollsBegun(size_t worker);
//   // Calls `ready` again and again, for so long that a poll which lasts is a
//   // long one, or until it returns true: returns what it returned last.
//   bool AwaitBriefly(F ready);
//   // `element` came after `Close()`. Any thread.
//   void Discard(T* element);
//   // For the time that `worker` takes elements out of the queue that all
//   // share, to be told of each by `Add(T*)`. If it `IsClosed()`, none may be
//   // taken any more.
//   ... AdderFor(size_t worker);
//
// and of `T`, `next_in_queue` and `previous_in_queue` belong to the queues, and
// `IsNew()` says whether it has never been run.
//
// What only the thread that runs a worker may do, is in `Own`.
template <class T, class Host, uint32_t kCapacity = 256>
class RunQueues {
 public:
  class Own;

  // `host` outlives the queues. Without `newest_first` new tasks run in their
  // order, in one row with the others.
  RunQueues(Host& host, size_t workers, bool newest_first = true)
      : host_(host),
        workers_(workers),
        idle_(workers),
        locals_(std::make_unique<Local[]>(workers)) {
    if (newest_first) return;
    for (size_t i = 0; i < workers; ++i) locals_[i].own.KeepOrderOfNew();
  }

  size_t workers() const { return workers_; }

  // ---- For any thread.

  // Puts `element` at the end of the shared queue.
  void Inject(T* element) { AfterPush(element, global_.Push(element)); }
  // The same for one that was in no queue before.
  void InjectNew(T* element) { AfterPush(element, global_.PushNew(element)); }

  // Lets others have what `worker` keeps to itself. Returns how many these are.
  // Costs all threads a barrier, if there is anything.
  size_t Rescue(size_t worker) {
    Local& local = locals_[worker];
    // A worker alone has nobody to share with.
    if (IsSolo() || local.own.Size() == 0) return 0;
    size_t rescued = 0;
    // Its worker cannot leave before they are in the queue.
    local.own.Rescue([this, &rescued](RunQueue<T>& tasks, size_t count) {
      global_.PushBatch(tasks);
      rescued = count;
    });
    ROUSE_MUTABLE_CALL(Wake());
    return rescued;
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

  // Whether there is something that any worker could run.
  bool HasWork() const {
    if (!global_.IsEmpty()) return true;
    for (size_t i = 0; i < workers_; ++i) {
      if (!locals_[i].queue.IsEmpty()) return true;
    }
    return false;
  }

  const Idle& idle() const { return idle_; }
  size_t global_depth() const { return global_.Size(); }
  // How often `InjectNew()` has been called.
  size_t injected_new() const { return global_.new_count(); }
  // How many have come from outside, new or not.
  uint64_t injected() const { return global_.pushed(); }
  // Calls `visit(T*)` for each in the shared queue, under its lock.
  template <class F>
  void ForEachInjected(F visit) {
    global_.ForEach(visit);
  }

  // The shared queue takes nothing any more, and no worker sleeps.
  void Close() {
    global_.Close();
    // Sequentially consistent with the look in Sleep, as a push is.
    closed_.store(true, std::memory_order_seq_cst);
    while (WakeAny()) {
    }
  }
  bool IsClosed() const {
    // Acquire pairs with the store of Close.
    return closed_.load(std::memory_order_acquire);
  }

  // What `worker` does with them: see below.
  Own Of(size_t worker) { return Own(*this, worker); }

  // ---- When no worker runs.

  // Takes out all that is left of one worker, which no thread runs any more, or
  // of all, and in either case of the shared queue, and calls `discard(T*)` for
  // each.
  //
  // REQUIRES: the queues are closed, and each of these workers has called
  // `Leave()`, or was never run. It is that call which makes this one complete:
  // `Leave()` takes the lock of what the worker keeps to itself even if there
  // seems to be nothing. So what a `Rescue()` has taken from there before is in
  // the shared queue now, and one that comes later finds nothing. The calls
  // that look here take no lock where they see nothing, and would miss tasks
  // that are on their way.
  template <class F>
  void Drain(size_t worker, F discard) {
    Own own = Of(worker);
    if (T* const element = own.PopNext()) discard(element);
    while (T* const element = own.Pop()) discard(element);
    // Little by little, for others may be doing the same.
    RunQueue<T> some;
    while (global_.PopBatch(1, some, [](T*) {}) > 0) {
      while (T* const element = some.Pop()) discard(element);
    }
  }
  template <class F>
  void DrainAll(F discard) {
    for (size_t i = 0; i < workers_; ++i) Drain(i, discard);
  }

 private:
  // A worker's.
  struct alignas(ABSL_CACHELINE_SIZE) Local {
    // By themselves, since others read of either.
    StealableQueue<T, kCapacity> queue;
    alignas(ABSL_CACHELINE_SIZE) PrivateQueue<T> own;
    uint32_t pops = 0;
    bool searching = false;
    Sharing sharing = Sharing::kOnDemand;
    // Written by the worker, read by anyone.
    Atomic<uint64_t> overflows{0};
    Atomic<uint64_t> steals{0};
    Atomic<uint64_t> steal_operations{0};
  };

  bool IsSolo() const { return workers_ == 1; }

  void AfterPush(T* element, bool pushed) {
    if (pushed) {
      Wake();
    } else {
      host_.Discard(element);
    }
  }

  Host& host_;
  const size_t workers_;
  Idle idle_;
  GlobalQueue<T> global_;
  Atomic<bool> closed_{false};
  const std::unique_ptr<Local[]> locals_;
};

// RunQueues::Own
//
// The queues as one worker has them. A copy is as good.
template <class T, class Host, uint32_t kCapacity>
class RunQueues<T, Host, kCapacity>::Own {
 public:
  Own(RunQueues& queues, size_t worker)
      : queues_(queues), local_(queues.locals_[worker]), worker_(worker) {}

  // ---- For any thread.

  // How many the worker has. Out of date by the time it returns.
  size_t depth() const { return local_.queue.Size() + local_.own.Size(); }
  // How many tasks of the worker have not fitted where others steal from it;
  // how many it has stolen, and in how many thefts.
  uint64_t overflows() const {
    return local_.overflows.load(std::memory_order_relaxed);
  }
  uint64_t steals() const {
    return local_.steals.load(std::memory_order_relaxed);
  }
  uint64_t steal_operations() const {
    return local_.steal_operations.load(std::memory_order_relaxed);
  }

  // ---- For the thread that runs the worker.

  // Puts `element` behind all else that the worker keeps to itself; or before
  // all that.
  void Push(T* element) { local_.own.Push(element); }
  void PushNext(T* element) { local_.own.PushNext(element); }

  // If the worker keeps more than `least` to itself, lets others have it, when
  // they are to. To be called after a push, with 1: there is what the worker
  // runs next; and between polls, with 0.
  void Share(size_t least) {
    if (local_.own.Size() <= least || queues_.IsSolo()) return;
    if (local_.sharing == Sharing::kOnDemand &&
        !queues_.idle_.HasOthersIdle(worker_, local_.searching)) {
      return;
    }
    ShareNow();
  }

  void SetSharing(Sharing sharing) { local_.sharing = sharing; }

  // Whether there may be a task that was pushed to be the next.
  bool HasNext() const { return local_.own.HasNext(); }

  // The task that was last pushed to be the next, or null.
  T* PopNext() { return local_.own.PopNext(); }

  // The first of the worker's own, or null. What it has shared has waited
  // longest, and comes before what it has kept, but for every eighth time: it
  // may share more all the time, and not all that it has.
  T* Pop() {
    if (++local_.pops % kKeptInterval == 0) {
      if (T* const element = local_.own.Pop()) return element;
    }
    if (T* const element = local_.queue.Pop()) return element;
    return local_.own.Pop();
  }

  // The first of the shared queue, or null; and some more, into the worker's
  // own: its share, but no more than 128. With a worker alone what it had
  // before comes first.
  T* PopGlobal() {
    const size_t waiting = queues_.global_.Size();
    if (waiting == 0) return nullptr;
    RunQueue<T> batch;
    size_t count;
    {
      auto adder = queues_.host_.AdderFor(worker_);
      if (adder.IsClosed()) return nullptr;
      count = queues_.global_.PopBatch(
          std::min(waiting / queues_.workers_ + 1, kMaxShare), batch,
          [&adder](T* element) { adder.Add(element); });
    }
    if (queues_.IsSolo()) {
      local_.own.Append(batch, count);
      return Pop();
    }
    T* const first = batch.Pop();
    if (count > 1) {
      local_.own.Append(batch, count - 1);
      Share(0);
    }
    return first;
  }

  // The first half of what another worker has, into the worker's own queue:
  // returns the first of it. Or else as PopGlobal(). Null if there is nothing,
  // or enough others search. The worker searches from then on.
  T* Steal(FastRand& rand) {
    // Nobody to steal from, and nobody else who could be woken.
    if (queues_.IsSolo()) return PopGlobal();
    if (!local_.searching) {
      if (!queues_.idle_.BeginSearching(worker_)) return nullptr;
      local_.searching = true;
    }
    for (int waits = 0;; ++waits) {
      if (T* const element = StealOnce(rand)) return element;
      // Whoever has something it keeps to itself, and is between short polls,
      // shares it in a moment: it sees that somebody searches.
      if (waits == kWaits || !OthersKeep(1)) break;
      SpinHint();
    }
    if (T* const element = PopGlobal()) return element;
    for (size_t i = 0; i < queues_.workers_; ++i) {
      if (i == worker_ || !Keeps(i)) continue;
      T* const element = RescueIfStuck(i) ? PopGlobal() : StealOnce(rand);
      // Others may have been sooner: there may be more workers that are stuck.
      if (element != nullptr) return element;
    }
    return nullptr;
  }

  // The worker has found something to do: it does not search any more, if it
  // did.
  void EndSearching() {
    if (ABSL_PREDICT_TRUE(!local_.searching)) return;
    local_.searching = false;
    if (!queues_.idle_.EndSearching(worker_)) return;
    // A worker that is stuck keeps what nobody watches any more. One task alone
    // is what it runs next.
    if (MutableCondition(queues_.HasWork()) || OthersKeep(2)) queues_.Wake();
  }

  // Whether the worker keeps others from being woken while it has nothing to
  // do: so it may go on looking.
  bool IsSearching() const { return queues_.IsSolo() || local_.searching; }

  // Whether the worker, which has nothing to do, may park: a task that comes
  // from now on, and a Close(), unparks it or another.
  bool Sleep() {
    // Sequentially consistent, as all that is looked at here: see idle.h.
    const bool look =
        queues_.idle_.Sleep(worker_, std::exchange(local_.searching, false));
    if (depth() == 0 && !MutableCondition(look && queues_.HasWork()) &&
        !MutableCondition(queues_.closed_.load(std::memory_order_seq_cst))) {
      return true;
    }
    Awake();
    return false;
  }

  // The worker has parked. Whether another has woken it: it searches then.
  bool Awake() {
    const bool woken = queues_.idle_.Awake(worker_);
    if (MutableCondition(woken)) local_.searching = true;
    return woken;
  }

  // The worker is about to be left by its thread: all that it has is for
  // others, and if it was woken for a task, another is.
  void Leave() {
    GiveUp();
    ROUSE_MUTABLE_CALL(EndSearching());
  }

  // Shares all that the worker keeps to itself, whether or not others have
  // something to do. What does not fit, goes to the end of the shared queue.
  void GiveUp() {
    // It keeps all for the next thread that runs it.
    if (queues_.IsSolo()) return;
    RunQueue<T> tasks;
    // Even if there is nothing: a Rescue() that is under way is to end first.
    if (local_.own.TakeAll(tasks) > 0) Offer(tasks);
  }

 private:
  // How many a worker takes from the shared queue at most. With fewer it would
  // be there too often; more would be out of its cache again when their turn
  // comes.
  static constexpr size_t kMaxShare = 128;

  // After how many tasks one comes that the worker keeps to itself, though
  // others are there that it has shared.
  static constexpr uint32_t kKeptInterval = 8;

  // How often a thief looks again while others keep tasks to themselves. In a
  // model it would only be more of the same.
#ifdef ROUSE_MODEL
  static constexpr int kWaits = 0;
#else
  static constexpr int kWaits = 50;
#endif

  // By the only thread that writes `count`. Relaxed: it orders nothing.
  template <class N>
  static void Add(Atomic<N>& count, N change) {
    count.store(count.load(std::memory_order_relaxed) + change,
                std::memory_order_relaxed);
  }

  bool Keeps(size_t worker, size_t least = 1) const {
    return queues_.locals_[worker].own.Size() >= least;
  }
  // Whether another worker keeps so many tasks to itself.
  bool OthersKeep(size_t least) const {
    for (size_t i = 0; i < queues_.workers_; ++i) {
      if (i != worker_ && Keeps(i, least)) return true;
    }
    return false;
  }

  // Waits until `worker`, which keeps something to itself, has done something
  // about it, or there is something else to do. If neither happens, all that it
  // keeps is in the shared queue then.
  bool RescueIfStuck(size_t worker) {
    const uint64_t polls = queues_.host_.PollsBegun(worker) + kPollsUntilShared;
    const bool has_moved_on = queues_.host_.AwaitBriefly([&] {
      return queues_.host_.PollsBegun(worker) >= polls || !Keeps(worker) ||
             queues_.HasWork() || queues_.IsClosed();
    });
    if (has_moved_on) return false;
    Add<uint64_t>(local_.steal_operations, 1);
    Add<uint64_t>(local_.steals, queues_.Rescue(worker));
    return true;
  }

  ABSL_ATTRIBUTE_NOINLINE void ShareNow() {
    RunQueue<T> tasks;
    const size_t count = local_.own.TakeForOthers(
        tasks, local_.queue.Room(),
        /*all_new=*/local_.sharing == Sharing::kInAdvance);
    if (count == 0) return;
    local_.queue.PushBatch(static_cast<uint32_t>(count),
                           [&tasks] { return tasks.Pop(); });
    ROUSE_MUTABLE_CALL(queues_.Wake());
  }

  // Puts `tasks` where others can steal them, and what does not fit there into
  // the shared queue.
  void Offer(RunQueue<T>& tasks) {
    RunQueue<T> overflow;
    size_t count = 0;
    while (T* const element = tasks.Pop()) {
      local_.queue.Push(element, [&overflow, &count](T* excess) {
        overflow.Push(excess);
        ++count;
      });
    }
    if (count > 0) {
      Add<uint64_t>(local_.overflows, count);
      queues_.global_.PushBatch(overflow);
    }
    ROUSE_MUTABLE_CALL(queues_.Wake());
  }

  // Half of what another worker has shared.
  T* StealOnce(FastRand& rand) {
    const size_t start = rand.Below(static_cast<uint32_t>(queues_.workers_));
    for (size_t i = 0; i < queues_.workers_; ++i) {
      const size_t victim = (start + i) % queues_.workers_;
      if (victim == worker_) continue;
      uint32_t stolen = 0;
      T* const element =
          local_.queue.StealFrom(queues_.locals_[victim].queue, stolen);
      if (element == nullptr) continue;
      Add<uint64_t>(local_.steal_operations, 1);
      Add<uint64_t>(local_.steals, stolen);
      return element;
    }
    return nullptr;
  }

  RunQueues& queues_;
  Local& local_;
  const size_t worker_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_RUN_QUEUES_H_
