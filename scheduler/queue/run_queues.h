// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: run_queues.h
// -----------------------------------------------------------------------------
//
// All run queues of one scheduler, which decide which task comes next on which
// worker, and which worker to wake for a task. Internal to the scheduler.
//
//   other threads ──▶ global ──────┐ a batch, at times or when out of work
//                                  ▼
//   a worker's tasks ──────────▶ private
//                                  │ when others have nothing to do
//                                  ▼
//   half of it to ◀──────────── stealable
//   workers without work
//
// A worker at first keeps the tasks woken or spawned by its own tasks private,
// which costs no read-modify-write (private_queue.h). Whenever the worker has
// more than the next task to run, and another worker has nothing to do, the
// worker moves tasks for others to its stealable queue (stealable_queue.h).
// Therefore a worker shares nothing while all workers are busy, or while the
// only work is one task after another.
//
// A worker with long polls shares all its tasks in advance, as soon as there is
// room, so that others need not wait for the end of a poll. If no watchdog
// runs, every worker does so.
//
// A worker in a poll does not notice when another becomes idle, as long as the
// poll lasts. Therefore a searching worker watches another worker for some tens
// of microseconds if it finds nothing shared, and the other worker has private
// tasks. If the watched worker does not begin `kPollsUntilShared` polls in this
// time, it is stuck, and all its private tasks are moved to the global queue
// (Rescue()). If it does, the watched worker has noticed the search, and has
// shared its tasks.
//
// The invariant of idle.h is that no task stays in a global or stealable queue
// while a worker sleeps. The queues of a worker that sleeps are empty, and
// others pass over them. A thread that moves tasks from one such queue to
// another calls Wake(), as after a push: for a moment the tasks were in neither
// queue. Private tasks are exempt: their worker is awake, and runs or shares
// them after its current poll. If the worker gets stuck there, a searching
// worker takes all private tasks or, if none has done so by then, the watchdog.

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

// Sharing
//
// When a worker shares its tasks: if another worker has nothing to do, or when
// there is room.
enum class Sharing : unsigned char { kOnDemand, kInAdvance };

// Number of polls between which a worker certainly calls `Share()`: a worker
// that has begun this many polls has checked in between whether another worker
// has nothing to do.
inline constexpr uint64_t kPollsUntilShared = 5;

// RunQueues
//
// The queues of a number of workers, identified by their indices. `Host` has
//
//   // Unparks `worker`, which sleeps no more and must search. Any thread.
//   void UnparkWorker(size_t worker);
//   // Returns how many polls `worker` has begun. May be out of date.
//   // Any thread.
//   uint64_t PollsBegun(size_t worker);
//   // Calls `ready` repeatedly, until it returns true or a poll that began at
//   // the same time would be long. Returns the last result of `ready`.
//   bool AwaitBriefly(F ready);
//   // Takes `element`, which came after `Close()`. Any thread.
//   void Discard(T* element);
//   // Returns an object that lives while `worker` takes elements out of the
//   // global queue. Its `Add(T*)` is called for each. If its `IsClosed()`
//   // returns true, no more elements may be taken.
//   ... AdderFor(size_t worker);
//
// `T::next_in_queue` and `T::previous_in_queue` belong to the queues, and
// `T::IsNew()` says whether an element has never been run.
//
// `Own` has the functions reserved for the thread that runs a worker.
template <class T, class Host, uint32_t kCapacity = 256>
class RunQueues {
 public:
  class Own;

  // `host` outlives the queues. Without `newest_first`, new tasks run in the
  // order of their pushing, in one sequence with the others.
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

  // Puts `element` at the end of the global queue.
  void Inject(T* element) { AfterPush(element, global_.Push(element)); }
  // Like `Inject()`, but for an element that was in no queue before.
  void InjectNew(T* element) { AfterPush(element, global_.PushNew(element)); }

  // Moves all private tasks of `worker` to the global queue, and returns their
  // number. Costs all threads a barrier if there are any.
  size_t Rescue(size_t worker) {
    Local& local = locals_[worker];
    // A scheduler's only worker has no worker to share with.
    if (IsSolo() || local.own.Size() == 0) return 0;
    size_t rescued = 0;
    // The worker cannot leave before the tasks are in the global queue.
    local.own.Rescue([this, &rescued](RunQueue<T>& tasks, size_t count) {
      global_.PushBatch(tasks);
      rescued = count;
    });
    ROUSE_MUTABLE_CALL(Wake());
    return rescued;
  }

  // Wakes a worker because there may be work, unless a worker already searches.
  void Wake() {
    const std::optional<size_t> worker = idle_.Wake();
    if (ABSL_PREDICT_FALSE(worker.has_value())) host_.UnparkWorker(*worker);
  }

  // Wakes a sleeping worker even if no task is queued. Returns whether a worker
  // was asleep.
  bool WakeAny() {
    const std::optional<size_t> worker = idle_.WakeAny();
    if (worker.has_value()) host_.UnparkWorker(*worker);
    return worker.has_value();
  }

  // Returns whether there is a task for any worker to run.
  bool HasWork() const {
    if (!global_.IsEmpty()) return true;
    return idle_.AnyAwake(
        0, [this](size_t worker) { return !locals_[worker].queue.IsEmpty(); });
  }

  const Idle& idle() const { return idle_; }
  size_t global_depth() const { return global_.Size(); }
  // Returns how many times `InjectNew()` has been called.
  size_t injected_new() const { return global_.new_count(); }
  // Returns how many tasks have come from outside, new or not.
  uint64_t injected() const { return global_.pushed(); }
  // Calls `visit(T*)` for each task in the global queue while holding its lock.
  template <class F>
  void ForEachInjected(F visit) {
    global_.ForEach(visit);
  }

  // Closes the global queue to injected tasks, and wakes all workers. No worker
  // sleeps from then on.
  void Close() {
    global_.Close();
    // Sequentially consistent with the check in Sleep, like a push.
    closed_.store(true, std::memory_order_seq_cst);
    while (WakeAny()) {
    }
  }
  bool IsClosed() const {
    // Acquire pairs with the store of Close.
    return closed_.load(std::memory_order_acquire);
  }

  // Returns the queues from the point of view of `worker`: see `Own`.
  Own Of(size_t worker) { return Own(*this, worker); }

  // ---- When no worker runs.

  // Takes out all remaining tasks of `worker`, which no thread runs any more,
  // and of the global queue, and calls `discard(T*)` for each task.
  // `DrainAll()` does the same for all workers.
  //
  // REQUIRES: the queues are closed, and each of these workers has called
  // `Leave()`, or was never run. `Leave()` makes the drain complete by taking
  // the lock of the private queue even if the queue seems empty. Therefore the
  // tasks of an earlier `Rescue()` are in the global queue now, and a later one
  // finds nothing. The functions called here take no lock if a queue seems
  // empty, and would miss tasks on their way.
  template <class F>
  void Drain(size_t worker, F discard) {
    Own own = Of(worker);
    if (T* const element = own.PopNext()) discard(element);
    while (T* const element = own.Pop()) discard(element);
    // One by one, because other threads may be draining, too.
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
  // The queues of one worker.
  struct alignas(ABSL_CACHELINE_SIZE) Local {
    // On separate cache lines, since other threads read from both.
    StealableQueue<T, kCapacity> queue;
    alignas(ABSL_CACHELINE_SIZE) PrivateQueue<T> own;
    uint32_t pops = 0;
    bool searching = false;
    // Set if the check in `Sleep()` has found a task, until the worker begins
    // to search or takes tasks from the global queue: the search has no limit.
    bool has_seen_task = false;
    Sharing sharing = Sharing::kOnDemand;
    // Written by the worker, read by any thread.
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
// The queues from the point of view of one worker. Copies are equivalent.
template <class T, class Host, uint32_t kCapacity>
class RunQueues<T, Host, kCapacity>::Own {
 public:
  Own(RunQueues& queues, size_t worker)
      : queues_(queues), local_(queues.locals_[worker]), worker_(worker) {}

  // ---- For any thread.

  // Returns how many tasks the worker has. The result may be out of date when
  // the call returns.
  size_t depth() const { return local_.queue.Size() + local_.own.Size(); }
  // Returns how many of the worker's tasks others can steal.
  size_t shared() const { return local_.queue.Size(); }
  // Returns how many of the worker's tasks did not fit into the stealable
  // queue. `steals()` returns how many tasks the worker has stolen, and
  // `steal_operations()` in how many thefts.
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

  // Puts `element` at its place among the worker's private tasks: see
  // private_queue.h. `PushNext()` puts `element` before all of them.
  void Push(T* element) { local_.own.Push(element); }
  void PushNext(T* element) { local_.own.PushNext(element); }

  // Puts `element` where others can steal it at once.
  void PushForOthers(T* element) {
    RunQueue<T> one;
    one.Push(element);
    Offer(one);
  }

  // Lets others have private tasks, if the worker has more than `least` of them
  // and `Sharing` says so. Usually called with 1 after a push (one task is the
  // next to run), and with 0 between polls.
  void Share(size_t least) {
    if (local_.own.Size() <= least || queues_.IsSolo()) return;
    if (local_.sharing == Sharing::kOnDemand &&
        !queues_.idle_.HasOthersIdle(worker_, local_.searching)) {
      return;
    }
    ShareNow();
  }

  void SetSharing(Sharing sharing) { local_.sharing = sharing; }

  // Returns whether there may be a task in the LIFO slot.
  bool HasNext() const { return local_.own.HasNext(); }

  // Removes and returns the task in the LIFO slot; null if the slot is empty.
  T* PopNext() { return local_.own.PopNext(); }

  // Removes and returns the first of the worker's own tasks, or null. The
  // shared tasks have waited longest and come before the private ones, except
  // every eighth time. Otherwise private tasks might never have their turn: the
  // worker may share more all the time without sharing everything.
  ABSL_ATTRIBUTE_ALWAYS_INLINE T* Pop() {
    // Other threads only remove shared tasks.
    if (ABSL_PREDICT_FALSE(!local_.queue.IsEmpty())) {
      if (T* const element = PopShared()) return element;
    }
    return local_.own.Pop();
  }

  // Removes and returns the first task of the global queue, or null. Moves some
  // more to the worker's private queue: the worker takes its share, but at most
  // 128 tasks. A scheduler's only worker runs its earlier tasks first. With
  // `IfBusy::kGiveUp`, returns null while another thread is at the queue: for a
  // worker that has other tasks to run. If all workers waited in line for each
  // other, most of them would do nothing else.
  T* PopGlobal(IfBusy if_busy = IfBusy::kWait) {
    const size_t waiting = queues_.global_.Size();
    if (waiting == 0) return nullptr;
    RunQueue<T> batch;
    size_t count;
    {
      auto adder = queues_.host_.AdderFor(worker_);
      if (adder.IsClosed()) return nullptr;
      count = queues_.global_.PopBatch(
          std::min(waiting / queues_.workers_ + 1, kMaxShare), batch,
          [&adder](T* element) { adder.Add(element); }, if_busy);
    }
    if (count == 0) return nullptr;
    if (queues_.IsSolo()) {
      local_.own.Append(batch, count);
      return Pop();
    }
    // At worst, the check in `Sleep()` sees a task of another queue again.
    local_.has_seen_task = false;
    T* const first = batch.Pop();
    if (count > 1) {
      local_.own.Append(batch, count - 1);
      Share(0);
    }
    return first;
  }

  // Moves the first half of another worker's stealable queue to the worker's
  // own, and returns the first of the stolen tasks. If there is nothing to
  // steal, works like PopGlobal(). Returns null if there is nothing, or if
  // enough other workers search. Unless enough others search, the worker
  // searches from then on.
  T* Steal(FastRand& rand) {
    // No worker to steal from, and no other worker to wake.
    if (queues_.IsSolo()) return PopGlobal();
    if (!local_.searching && !BeginSearching()) return nullptr;
    for (int waits = 0;; ++waits) {
      if (T* const element = StealOnce(rand)) return element;
      // A worker with private tasks, if between short polls, shares them in a
      // moment, because it notices the search.
      if (waits == kWaits || !OthersKeep(1)) break;
      SpinHint();
    }
    if (T* const element = PopGlobal()) return element;
    T* element = nullptr;
    queues_.idle_.AnyAwake(0, [&](size_t worker) {
      if (worker == worker_ || !Keeps(worker)) return false;
      // Others may have been faster, and more workers may be stuck.
      element = RescueIfStuck(worker) ? PopGlobal() : StealOnce(rand);
      return element != nullptr;
    });
    return element;
  }

  // Ends the worker's search, if any, because the worker has found something to
  // do.
  void EndSearching() {
    if (ABSL_PREDICT_FALSE(local_.searching)) EndSearchingNow();
  }

  // Returns whether the worker, while it has nothing to do, keeps others from
  // being woken, and may therefore continue to search.
  bool IsSearching() const { return queues_.IsSolo() || local_.searching; }

  // Puts the worker, which has nothing to do, to sleep. Returns whether the
  // worker may park: a later task or Close() then unparks this worker or
  // another. If the worker may not park because another queue has a task, the
  // worker searches from then on, or may begin its next search without a limit.
  bool Sleep() {
    // Others pass over the queues of a worker that sleeps. Only this worker
    // adds to its queues.
    if (MutableCondition(depth() > 0)) return false;
    // Sequentially consistent, like everything checked here: see idle.h.
    const bool look =
        queues_.idle_.Sleep(worker_, std::exchange(local_.searching, false));
    if (MutableCondition(look && queues_.HasWork())) {
      // A worker that was woken in the meantime searches already.
      local_.has_seen_task = !Awake();
      return false;
    }
    if (MutableCondition(queues_.closed_.load(std::memory_order_seq_cst))) {
      Awake();
      return false;
    }
    return true;
  }

  // Marks the worker as awake after a park. Returns whether another thread has
  // woken the worker, which then searches. Must be called before a push, even
  // if the worker is still in the driver.
  bool Awake() {
    const bool woken = queues_.idle_.Awake(worker_);
    if (MutableCondition(woken)) local_.searching = true;
    return woken;
  }

  // Gives all tasks of the worker to others, because the thread is about to
  // leave the worker. If the worker was woken for a task, wakes another worker
  // for that task.
  void Leave() {
    GiveUp();
    ROUSE_MUTABLE_CALL(EndSearching());
  }

  // Shares all private tasks, whether or not others have something to do. Tasks
  // without room go to the end of the global queue.
  void GiveUp() {
    // The worker keeps all tasks for the next thread that runs it.
    if (queues_.IsSolo()) return;
    RunQueue<T> tasks;
    // Even if there seems to be nothing: a Rescue() in progress must end first.
    if (local_.own.TakeAll(tasks) > 0) Offer(tasks);
  }

 private:
  // Number of tasks to take from the global queue at most. With fewer, a worker
  // would access that queue too often. With more, the tasks would be out of the
  // worker's cache again before their turn.
  static constexpr size_t kMaxShare = 128;

  // Number of tasks after which a private task comes before the shared ones.
  static constexpr uint32_t kKeptInterval = 8;

  // Number of times a thief searches again while others have private tasks. In
  // a model, more searches would be more of the same.
#ifdef ROUSE_MODEL
  static constexpr int kWaits = 0;
#else
  static constexpr int kWaits = 50;
#endif

  // Adds to a count written only by the calling thread. Relaxed: the count
  // orders nothing.
  template <class N>
  static void Add(Atomic<N>& count, N change) {
    count.store(count.load(std::memory_order_relaxed) + change,
                std::memory_order_relaxed);
  }

  bool Keeps(size_t worker, size_t least = 1) const {
    return queues_.locals_[worker].own.Size() >= least;
  }
  // Returns whether another worker has at least `least` private tasks.
  bool OthersKeep(size_t least) const {
    return queues_.idle_.AnyAwake(0, [this, least](size_t worker) {
      return worker != worker_ && Keeps(worker, least);
    });
  }

  // Lets the worker search, and returns whether it may.
  bool BeginSearching() {
    if (MutableCondition(std::exchange(local_.has_seen_task, false))) {
      queues_.idle_.BeginSearchingForTask(worker_);
    } else if (!queues_.idle_.BeginSearching(worker_)) {
      return false;
    }
    local_.searching = true;
    return true;
  }

  // Waits briefly until `worker`, which has private tasks, has made progress
  // with them, or until there is something else to do. If neither happens,
  // moves all private tasks of `worker` to the global queue and returns true.
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

  // Does the part of `Pop()` that concerns shared tasks, if there are any.
  // Returns null if the first task is a private one.
  ABSL_ATTRIBUTE_NOINLINE T* PopShared() {
    if (++local_.pops % kKeptInterval == 0) {
      if (T* const element = local_.own.Pop()) return element;
    }
    return local_.queue.Pop();
  }

  ABSL_ATTRIBUTE_NOINLINE void EndSearchingNow() {
    local_.searching = false;
    if (!queues_.idle_.EndSearching(worker_)) return;
    // The private tasks of a stuck worker are not watched any more. A single
    // private task is the next to run on the other worker.
    if (MutableCondition(queues_.HasWork()) || OthersKeep(2)) queues_.Wake();
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

  // Puts `tasks` into the stealable queue, and the rest into the global queue
  // if there is no room.
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

  // Steals half of the tasks shared by another worker, and returns the first;
  // null if no worker has any.
  T* StealOnce(FastRand& rand) {
    T* element = nullptr;
    uint32_t stolen = 0;
    queues_.idle_.AnyAwake(rand.Below(static_cast<uint32_t>(queues_.workers_)),
                           [&](size_t victim) {
                             if (victim == worker_) return false;
                             element = local_.queue.StealFrom(
                                 queues_.locals_[victim].queue, stolen);
                             return element != nullptr;
                           });
    if (element != nullptr) {
      Add<uint64_t>(local_.steal_operations, 1);
      Add<uint64_t>(local_.steals, stolen);
    }
    return element;
  }

  RunQueues& queues_;
  Local& local_;
  const size_t worker_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_RUN_QUEUES_H_
