// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task.h
// -----------------------------------------------------------------------------
//
// A task as a scheduler sees it, whatever its future is. Internal to the
// scheduler; users have a `JoinHandle`.

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
// # Who keeps it alive
//
// Whoever made it has a reference, and so has whoever runs tasks or spawns
// them, as long as that takes. A task has none, which spares two counts for
// each: once it is complete it does not use the scheduler any more, and before
// that the scheduler's owner, who shuts it down, has not ended. But a waker may
// be on its way to `Submit()` while the task is shut down; and then a queue may
// still have it. So a task that was ended by another than its runner has a
// reference until it is freed (`Header::KeepScheduler()`), and so has one that
// was ended by an exception, of which the scheduler may be told later. Whoever
// has the hold has a reference to the task.
class Schedule {
 public:
  // With one reference, the caller's.
  Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  // Queues a task, with the caller's reference. Any thread.
  virtual void Submit(Header* task) = 0;
  // The same for a task that was woken while it ran: goes behind all others.
  virtual void Resubmit(Header* task) = 0;
  // Takes a task that is about to complete, its future gone, off the list of
  // all tasks. Whether it was there; the caller then drops that reference too.
  virtual bool Release(Header* task) = 0;
  // An exception has ended `task`: it left a poll, or the destructor of the
  // future. It is in place as the task's output, but nobody has been told yet.
  // On the thread that runs the task, before `Release()`. Must not throw.
  virtual void Threw(Header* task, const std::exception_ptr& exception) {
    static_cast<void>(task);
    static_cast<void>(exception);
  }
  // Nobody has taken the exception that has ended `task`, and nobody will: it
  // is about to be dropped. On the thread that drops it, once for each
  // exception, after `Threw()`. Logs it. Must not throw.
  virtual void Unhandled(Header* task, const std::exception_ptr& exception);

  void Ref() {
    // Relaxed: the caller has a reference.
    references_.count.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last one: use comes before delete.
    if (references_.count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }

 private:
  // On a cache line of its own: threads outside count each task that they wake,
  // while the workers read what is before and after it in every poll.
  struct alignas(ABSL_CACHELINE_SIZE) References {
    Atomic<uint64_t> count{1};
  };

  References references_;
};

// What came of a step of the future. Unless it is pending it is gone, and the
// output in its place: its own, or the exception.
enum class Outcome : unsigned char { kPending, kReady, kThrew };

// What depends on the type of the future. Called by the thread that runs the
// task, but for those from `take_output` on, whose callers `State` names.
struct VTable {
  Outcome (*poll)(Header*, Context&);
  // Destroys the future and makes "cancelled" the output, or the exception
  // that the future's destructor throws. Never kPending.
  Outcome (*cancel)(Header*);
  // The same with another error.
  Outcome (*fail)(Header*, const absl::Status& error);
  // Says where the future waits.
  void (*trace)(const Header*, AwaitTrace&);
  // The output, if it is an exception.
  const std::exception_ptr& (*exception)(const Header*);
  // Moves the output to where `*outcome` says, a JoinOutcome<T> of the future's
  // T.
  void (*take_output)(Header*, void* outcome);
  // Tells the scheduler, if the output is an exception.
  void (*drop_output)(Header*);
  // Frees a task whose future and output are gone.
  void (*deallocate)(Header*);
};

// The waker of who joins a task: see `State` for the order of its use. Relaxed:
// the state word orders what counts, and what is read in vain is not used.
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

// The part of a task that comes before its future.
struct Header : IntrusiveListNode<AllTasksTag> {
  // What most tasks do not have.
  struct Details {
    explicit Details(std::string_view name) : name(name) {}

    const std::string name;
    // Since when it waits in a queue, in cycles, or 0. Belongs to who has the
    // hold.
    uint64_t waits_since = 0;
  };

  Header(const VTable* vtable, Schedule* scheduler, TaskId id,
         const SpawnOptions& options, std::source_location spawned_at)
      : vtable(vtable),
        scheduler(scheduler),
        id(id),
        spawned_at(spawned_at),
        details(options.name.empty()
                    ? nullptr
                    : std::make_unique<Details>(options.name)) {}
  ~Header() {
    if (keeps_scheduler_) scheduler->Unref();
  }

  // Empty if it has none.
  std::string_view name() const {
    return details != nullptr ? details->name : std::string_view();
  }

  // The task waits in a queue from now on, `now` in cycles; and does not any
  // more: for how many cycles it has waited, if both were called. By who has
  // the hold, if somebody wants to know, and only if there are `details`.
  void BeginWaiting(uint64_t now) {
    if (details != nullptr) details->waits_since = now;
  }
  std::optional<uint64_t> EndWaiting(uint64_t now) {
    if (details == nullptr || details->waits_since == 0) return std::nullopt;
    const uint64_t since = std::exchange(details->waits_since, 0);
    // Another processor's cycles may differ a little.
    return now > since ? now - since : 0;
  }

  // By the one who has made it, before anybody else knows it: it is to go to a
  // queue as it is, running. That spares its start.
  void BeginRunning() {
    state.BeginRunning();
    still_running = true;
  }

  TaskMeta meta() const { return {id, name(), spawned_at}; }

  // By the thread that ends the task, before it does: see `Schedule`. Does
  // nothing the second time.
  void KeepScheduler() {
    if (std::exchange(keeps_scheduler_, true)) return;
    scheduler->Ref();
  }

  // Whether it has never been polled.
  bool IsNew() const { return polled_ms.load(std::memory_order_relaxed) == 0; }

  State state;
  const VTable* const vtable;
  Schedule* const scheduler;
  const TaskId id;
  const std::source_location spawned_at;
  // Null for most. Set before others know the task.
  std::unique_ptr<Details> details;
  // Which of the shards of all tasks it is in; belongs to them.
  static constexpr uint32_t kNoShard = UINT32_MAX;
  uint32_t shard = kNoShard;
  // When the last poll began: milliseconds of a clock of the scheduler's,
  // modulo 2^32. 0 before the first one. Not an `Atomic`: it orders nothing,
  // and is no business of the model checker's.
  std::atomic<uint32_t> polled_ms{0};
  // The run queue's links; belong to it.
  Header* next_in_queue = nullptr;
  Header* previous_in_queue = nullptr;
  // Woken when the task completes. `State` says whose it is.
  JoinWaker join_waker;
  // It is in a queue, and running for all others: see `State`. Belongs to who
  // has the hold.
  bool still_running = false;
  // What the scheduler says of the latest time that the task was woken while it
  // ran. Belongs to who has the hold; 0 before the first time, and where the
  // task had used up its budget.
  uint16_t yielded_at = 0;

 private:
  // The last: what follows in a `Cell` takes no more room.
  bool keeps_scheduler_ = false;
};

// Polls `task`, for which the caller has taken a hold from a queue, and does
// all that follows: gives it back to the queue, completes or cancels it.
// `now_ms` is what `polled_ms` is to be; a scheduler with a clock never gives
// 0. Whether the poll ended because its budget was used up.
bool Run(Header* task, FastRand* rand, uint32_t now_ms = 0);

struct Ran {
  // The task has yielded, and is the caller's, with the hold.
  bool yielded = false;
  // The poll ended because its budget was used up.
  bool by_force = false;
};

// The same, but a task that has yielded is left to the caller. It either puts
// it into a queue behind all others as it is, by way of `still_running`, or
// calls `Suspend()`. Such a queue must order what the caller has done before
// what is done by who takes the task out; and that must be a thread on which
// the future may be destroyed. `current` is that of this thread, which looks it
// up once.
Ran RunUntilYield(Header* task, FastRand* rand, uint32_t now_ms,
                  TaskId& current);
void Suspend(Header* task);

// What is done with a task that is taken from a queue, and not to be run any
// more: drops the hold, and cancels a task that is still running.
void Discard(Header* task);

// Cancels a new task that has never been in the list of all tasks, and is in no
// queue: drops the references for both.
void CancelNew(Header* task);

// Cancels `task` unless a thread is running it, which then cancels it. The
// caller must be a thread on which its future may be destroyed. Takes no
// reference. Waits for the end of a `Trace()`.
void Shutdown(Header* task);

// The same, but the output is `error`.
void Fail(Header* task, const absl::Status& error);

// Asks for `task` to be cancelled, by a thread that runs tasks. Any thread.
void Abort(Header* task);

void Unref(Header* task);

// What joining a task gives that was cancelled, or that `exception` has ended.
// Not inlined into each kind of task.
ABSL_ATTRIBUTE_NOINLINE absl::Status ErrorOfCancelled(TaskId id);
ABSL_ATTRIBUTE_NOINLINE absl::Status ErrorOfThrown(
    const Header* task, const std::exception_ptr& exception);

// Says where `task`, to which the caller has a reference, waits. False if a
// thread is running it, or it is complete. Nobody polls the task meanwhile: it
// is put off. One trace at a time; waits for those of other threads. Any
// thread; not within a `Trace()`.
bool Trace(Header* task, AwaitTrace& trace);

// ---- For the JoinHandle.

// Has `waker` woken when `task` is complete, unless it is already: whether it
// is. A waker that would wake the same as the last one costs a load.
bool SetJoiner(Header* task, const Waker& waker);

// The same, for a task that is likely to be complete.
inline bool PollJoin(Header* task, const Waker& waker) {
  return task->state.IsComplete() || SetJoiner(task, waker);
}

// Drops the handle's reference, and with it the output and the waker. In this
// order, so that nothing is lost if dropping the waker throws.
void DropHandle(Header* task);

// The same when the output has been taken, or dropped, by the handle.
void DropHandleOfTaken(Header* task);

// The handle of a waker on `task`, without a reference.
RawWaker RawWakerOf(Header* task);

}  // namespace rouse::task

#endif  // ROUSE_SCHEDULER_TASK_TASK_H_
