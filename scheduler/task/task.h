// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task.h
// -----------------------------------------------------------------------------
//
// A task as the scheduler sees it, independent of the type of its future.
// Internal to the scheduler; users have a `JoinHandle`.

#ifndef ROUSE_SCHEDULER_TASK_TASK_H_
#define ROUSE_SCHEDULER_TASK_TASK_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/future/await_trace.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/state.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/waker/context.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse::task {

struct Header;

// What a task needs of its scheduler.
//
// # Who keeps the scheduler alive
//
// The creator of the scheduler has a reference. A thread has one while it runs
// or spawns tasks. A task has no reference, which saves two counts for each
// task. A task does not use the scheduler once the task is complete, and until
// then the scheduler's owner, which shuts the scheduler down, still exists.
// However, a waker may be about to call `Submit()` while the task is shut down,
// and a queue may then still have the task. Therefore, if a thread other than
// the runner has ended a task, the task has a reference to the scheduler until
// the task is freed (`Header::KeepScheduler()`). The same holds if an exception
// has ended the task, because the scheduler may be notified of the exception
// later. A hold (state.h) includes a reference to the task.
class Schedule {
 public:
  // The caller owns the first reference.
  Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  // Queues `task`, and takes over the caller's reference to the task. Can be
  // called from any thread.
  virtual void Submit(Header* task) = 0;
  // Like `Submit()`, for a task that was woken while it ran: queues the task
  // behind all others.
  virtual void Resubmit(Header* task) = 0;
  // Removes `task` from the list of all tasks. Called when the task is about to
  // complete and the future has been destroyed. Returns whether the task was in
  // the list; if so, the caller must drop the list's reference too.
  virtual bool Release(Header* task) = 0;
  // Called when `exception` has ended `task`: the exception left a poll, or the
  // destructor of the future. The exception is already the task's output, but
  // no joiner has been notified. Called on the thread that runs the task,
  // before `Release()`. Must not throw.
  virtual void Threw(Header* task, const std::exception_ptr& exception) {
    static_cast<void>(task);
    static_cast<void>(exception);
  }
  // Called when `exception`, which has ended `task`, is about to be dropped,
  // because no joiner has taken the exception or ever will take it. Called on
  // the thread that drops the exception, once for each exception, after
  // `Threw()`. Logs the exception unless overridden. Must not throw.
  virtual void Unhandled(Header* task, const std::exception_ptr& exception);

  void Ref() {
    // Relaxed: the caller has a reference.
    references_.count.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last drop: use comes before delete.
    if (references_.count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }

 private:
  // Has a cache line of its own: threads outside the scheduler change the count
  // for each task they wake, while the workers read the members before and
  // after the count in every poll.
  struct alignas(ABSL_CACHELINE_SIZE) References {
    Atomic<uint64_t> count{1};
  };

  References references_;
};

// The result of a step of the future. Unless the result is kPending, the future
// is destroyed, and the output (a value or an exception) is in its place.
enum class Outcome : unsigned char { kPending, kReady, kThrew };

// The operations that depend on the type of the future. They are called by the
// thread that runs the task. The exceptions are the functions from
// `take_output` on, whose callers `State` names.
struct VTable {
  Outcome (*poll)(Header*, Context&);
  // Destroys the future. Stores "cancelled" as the output, or any exception
  // from the future's destructor. Never returns kPending.
  Outcome (*cancel)(Header*);
  // Like `cancel`, but stores `error` as the output.
  Outcome (*fail)(Header*, const absl::Status& error);
  // Reports where the future waits.
  void (*trace)(const Header*, AwaitTrace&);
  // Returns the output, if the output is an exception.
  const std::exception_ptr& (*exception)(const Header*);
  // Moves the output to `*outcome`, which is a JoinOutcome<T> for the future's
  // output type T.
  void (*take_output)(Header*, void* outcome);
  // Drops the output. Notifies the scheduler if the output is an exception.
  void (*drop_output)(Header*);
  // Frees a task whose future and output are destroyed.
  void (*deallocate)(Header*);
};

// The waker of the joiner of a task. `State` defines the order of its use.
// Relaxed: the state word orders the accesses that matter, and a value read in
// vain is not used.
class JoinWaker {
 public:
  RawWaker Read() const {
    return {data_.load(std::memory_order_relaxed),
            vtable_.load(std::memory_order_relaxed)};
  }
  void Write(const RawWaker& waker) {
    data_.store(waker.data, std::memory_order_relaxed);
    vtable_.store(waker.vtable, std::memory_order_relaxed);
  }

 private:
  Atomic<void*> data_{nullptr};
  Atomic<const RawWakerVTable*> vtable_{&rouse::internal::kNoopWakerVTable};
};

struct AllTasksTag;

// The part of a task that precedes its future.
struct Header : IntrusiveListNode<AllTasksTag> {
  // Data that most tasks do not have.
  struct Details {
    explicit Details(std::string_view name) : name(name) {}

    const std::string name;
    // The time, in cycles, when the task began to wait in a queue, or 0.
    // Belongs to the thread with the hold.
    uint64_t waits_since = 0;
  };

  ABSL_ATTRIBUTE_ALWAYS_INLINE Header(const VTable* vtable, Schedule* scheduler,
                                      TaskId id, const SpawnOptions& options,
                                      std::source_location spawned_at)
      : vtable(vtable),
        scheduler(scheduler),
        id(id),
        spawned_at(spawned_at),
        details(ABSL_PREDICT_TRUE(options.name.empty())
                    ? nullptr
                    : MakeDetails(options.name)) {}
  ~Header() {
    if (keeps_scheduler_) scheduler->Unref();
  }

  // Returns the task's name, or an empty string if the task has no name.
  std::string_view name() const {
    return details != nullptr ? details->name : std::string_view();
  }

  // `BeginWaiting()` records that the task waits in a queue from `now` on, in
  // cycles. `EndWaiting()` ends the wait, and returns the number of cycles
  // spent waiting, or nothing if `BeginWaiting()` was not called. Called by the
  // thread with the hold, and only if these times are needed. Both do nothing
  // without `details`.
  void BeginWaiting(uint64_t now) {
    if (details != nullptr) details->waits_since = now;
  }
  std::optional<uint64_t> EndWaiting(uint64_t now) {
    if (details == nullptr || details->waits_since == 0) return std::nullopt;
    const uint64_t since = std::exchange(details->waits_since, 0);
    // The cycle counter of another processor may differ a little.
    return now > since ? now - since : 0;
  }

  // Puts a new task into the running state, in which it goes to a queue. This
  // saves the start of the task. Called by the thread that made the task,
  // before any other thread knows the task.
  void BeginRunning() {
    state.BeginRunning();
    still_running = true;
  }

  TaskMeta meta() const { return {id, name(), spawned_at}; }

  // Makes the task keep a reference to the scheduler: see `Schedule`. Called by
  // the thread that ends the task, before the end. Has no effect the second
  // time.
  void KeepScheduler() {
    if (std::exchange(keeps_scheduler_, true)) return;
    scheduler->Ref();
  }

  // Returns whether the task has never been polled.
  bool IsNew() const { return polled_ms.load(std::memory_order_relaxed) == 0; }

  State state;
  const VTable* const vtable;
  Schedule* const scheduler;
  const TaskId id;
  const std::source_location spawned_at;
  // Null for most tasks. Set before other threads know the task.
  std::unique_ptr<Details> details;
  // The index of the task's shard in `OwnedTasks`. Belongs to `OwnedTasks`.
  static constexpr uint32_t kNoShard = UINT32_MAX;
  uint32_t shard = kNoShard;
  // The time when the last poll began, in milliseconds of a clock of the
  // scheduler, modulo 2^32. 0 before the first poll. Not an `Atomic`: it orders
  // nothing, and does not concern the model checker.
  std::atomic<uint32_t> polled_ms{0};
  // The links of the run queue, which owns them.
  Header* next_in_queue = nullptr;
  Header* previous_in_queue = nullptr;
  // Woken when the task completes. `State` defines the owner.
  JoinWaker join_waker;
  // True while the task is in a queue although all other threads consider it
  // running: see `State`. Belongs to the thread with the hold.
  bool still_running = false;
  // A mark that the scheduler sets each time the task is woken while it runs. 0
  // before the first such wake, and if the task had used up its budget. Belongs
  // to the thread with the hold.
  uint16_t yielded_at = 0;

 private:
  // Not inlined into each spawn.
  ABSL_ATTRIBUTE_NOINLINE static std::unique_ptr<Details> MakeDetails(
      std::string_view name);

  // The last member, so that the members of a `Cell` after it take no more
  // space.
  bool keeps_scheduler_ = false;
};

// Polls `task`, whose hold the caller has taken from a queue. Then suspends the
// task, gives it back to the queue, or completes or cancels it. Sets
// `polled_ms` to `now_ms`; a scheduler with a clock never passes 0. Returns
// whether the poll ended because the budget was used up.
bool Run(Header* task, FastRand* rand, uint32_t now_ms = 0);

struct Ran {
  // The task has yielded. The task and its hold belong to the caller.
  bool yielded = false;
  // The poll ended because its budget was used up.
  bool by_force = false;
};

// Like `Run()`, but leaves a task that has yielded to the caller. The caller
// either puts the task into a queue behind all others in the running state,
// using `still_running`, or calls `Suspend()`. Such a queue must order the
// caller's actions before the actions of the thread that takes the task out,
// and the latter must be a thread on which the future may be destroyed.
// `current` is the variable of this thread for the current task id, which the
// thread looks up once. The function is inlined into the loop of a worker.
inline Ran RunUntilYield(Header* task, FastRand* rand, uint32_t now_ms,
                         TaskId& current);
void Suspend(Header* task);

// Discards a task taken from a queue that will not run any more: drops the
// hold, and cancels the task if it is still running.
void Discard(Header* task);

// Cancels a new task that has never been in the list of all tasks and is not in
// a queue. Drops the references of the list and the queue.
void CancelNew(Header* task);

// Cancels `task`, unless a thread is running the task and will therefore cancel
// it. The caller must be a thread on which the future may be destroyed. Does
// not consume a reference. Waits for the end of a `Trace()`.
void Shutdown(Header* task);

// Like `Shutdown()`, but the output is `error`.
void Fail(Header* task, const absl::Status& error);

// Requests the cancellation of `task` by a thread that runs tasks. Can be
// called from any thread.
void Abort(Header* task);

void Unref(Header* task);

// Return the result of joining a task that was cancelled, or that `exception`
// has ended. Not inlined into each kind of task.
ABSL_ATTRIBUTE_NOINLINE absl::Status ErrorOfCancelled(TaskId id);
ABSL_ATTRIBUTE_NOINLINE absl::Status ErrorOfThrown(
    const Header* task, const std::exception_ptr& exception);

// Reports where `task` waits. The caller must have a reference to the task.
// Returns false if a thread is running the task, or the task is complete. Polls
// of the task are postponed until the trace ends. Only one trace runs at once:
// a call waits for the traces of other threads. Can be called from any thread,
// but not within a `Trace()`.
bool Trace(Header* task, AwaitTrace& trace);

// ---- For the JoinHandle.

// Registers `waker`, to be woken when `task` completes, unless the task is
// already complete. Returns whether the task is complete. A `waker` that would
// wake the same task as the last waker costs a load.
bool SetJoiner(Header* task, const Waker& waker);

// Like `SetJoiner()`, for a task that is likely to be complete.
inline bool PollJoin(Header* task, const Waker& waker) {
  return task->state.IsComplete() || SetJoiner(task, waker);
}

// Drops the handle's reference. If the task is complete, drops the output
// first. Otherwise drops the waker, if any, afterwards, so that nothing is lost
// if dropping the waker throws.
void DropHandle(Header* task);

// Like `DropHandle()`, for a handle that has taken or dropped the output.
void DropHandleOfTaken(Header* task);

// Returns the handle of a waker of `task`, without adding a reference.
extern const RawWakerVTable kWakerVTable;
inline RawWaker RawWakerOf(Header* task) { return {task, &kWakerVTable}; }

// ---- Steps of `RunUntilYield()` that are not inlined.

// Ends the task, of which the caller has `references`. The output is in place,
// as `outcome` says.
void Complete(Header* task, Outcome outcome, uint64_t references);
// Continues after a start with a result other than kPoll, or a suspension with
// a result other than kIdle.
void EndWithoutPoll(Header* task, State::Start start);
void AfterSuspend(Header* task, State::Suspend suspend);

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

ABSL_ATTRIBUTE_ALWAYS_INLINE inline Ran RunUntilYield(Header* task,
                                                      FastRand* rand,
                                                      uint32_t now_ms,
                                                      TaskId& current) {
  const ScopedTaskId here(task->id, current);
  const State::Start start = std::exchange(task->still_running, false)
                                 ? task->state.Continue()
                                 : task->state.StartRunning();
  if (ABSL_PREDICT_FALSE(start != State::Start::kPoll)) {
    EndWithoutPoll(task, start);
    return {};
  }
  // Relaxed: see `polled_ms`.
  task->polled_ms.store(now_ms, std::memory_order_relaxed);
  Yielded yielded;
  {
    const BorrowedWaker waker(RawWakerOf(task));
    Context cx(waker.get(), rand, &yielded);
    const Outcome outcome = task->vtable->poll(task, cx);
    if (outcome != Outcome::kPending) {
      Complete(task, outcome, 1);
      return {};
    }
  }
  if (!yielded.to_others) {
    const State::Suspend suspend = task->state.SuspendRunning();
    if (ABSL_PREDICT_FALSE(suspend != State::Suspend::kIdle)) {
      AfterSuspend(task, suspend);
    }
  }
  return {.yielded = yielded.to_others, .by_force = yielded.by_force};
}

}  // namespace rouse::task

#endif  // ROUSE_SCHEDULER_TASK_TASK_H_
