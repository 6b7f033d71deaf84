// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/worker.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/lock/adaptive_spin.h"
#include "rouse/base/panic.h"
#include "rouse/base/stack_room.h"
#include "rouse/base/thread_local.h"
#include "rouse/future/task_local.h"
#include "rouse/scheduler/fork/fork_stack.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/queue/global_queue.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/timer/clock.h"
#include "rouse/waker/task_id.h"

namespace rouse::scheduler {

// The data that a thread has about the worker it runs.
class Worker::Here {
 public:
  explicit Here(Worker& worker)
      : worker_(&worker),
        rand_(worker.rand_),
        task_id_(task::CurrentTaskIdHere()),
        forks_(*this),
        outer_(Current()) {
    Current() = this;
  }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;
  ~Here() {
    if (worker_ != nullptr) worker_->rand_ = rand_;
    Current() = outer_;
  }

  // Not inlined: a coroutine might keep the variable's address while it moves
  // to another thread.
  ABSL_ATTRIBUTE_NOINLINE static Here* Get() { return Current(); }

  // Returns the worker of the calling thread, or null. Inlined, and therefore
  // only for functions that are never inlined into a coroutine.
  static Worker* GetWorker() {
    const Here* const here = Current();
    return here != nullptr ? here->worker() : nullptr;
  }

  // Returns the forks in the polls of the calling thread, or null if the thread
  // runs no worker. Inlined, like `GetWorker()`.
  static internal::ForkStack* GetForks() {
    Here* const here = Current();
    return here != nullptr && here->worker() != nullptr ? &here->forks_
                                                        : nullptr;
  }

  // Returns null once the worker is no longer this thread's.
  Worker* worker() const { return worker_; }

  // Returns the generator, which a poll may use to its end, with or without the
  // worker.
  FastRand& rand() { return rand_; }

  // Returns the id of the task polled by this thread.
  TaskId& task_id() { return task_id_; }

  // Returns whether the thread polls a task. Otherwise the worker is in the
  // middle of something else, even when it destroys a task.
  bool polls() const { return polls_; }
  void set_polls(bool polls) { polls_ = polls; }

  // Returns the forks in the polls of this thread.
  internal::ForkStack& forks() { return forks_; }

  void GiveAway() {
    worker_->rand_ = rand_.Split();
    // The poll continues on this thread, whatever happens to the worker.
    Clock* const clock = worker_->scheduler_.options().clock.get();
    if (clock != nullptr && clock->HasAutoAdvance()) hold_.emplace(*clock);
    worker_ = nullptr;
  }
  void TakeBack(Worker* worker) {
    worker_ = worker;
    hold_.reset();
  }

 private:
  friend class Worker;

  class Forks final : public internal::ForkStack {
   public:
    explicit Forks(const Here& here)
        : ForkStack(here.worker()->scheduler_.queues().idle()), here_(here) {}

   private:
    bool OthersNeedMore() const override {
      // Null once the worker is no longer this thread's.
      const Worker* const worker = here_.worker();
      if (worker == nullptr) return false;
      // A worker that searches has nothing to do either.
      const size_t idle = worker->scheduler_.queues().idle().asleep();
      return worker->queues_.shared() < std::max<size_t>(idle, 1);
    }

    const Here& here_;
  };

  static Here*& Current() { return ThreadLocal<Here*, Here>::Get(); }

  Worker* worker_;
  FastRand rand_;
  TaskId& task_id_;
  bool polls_ = false;
  Forks forks_;
  Here* const outer_;
  // Held from when the worker is given away to the end of the poll, or until
  // the worker is taken back.
  std::optional<Clock::AutoAdvanceHold> hold_;
};

// Not inlined, like `Here::Get()`, which would be a second call.
ABSL_ATTRIBUTE_NOINLINE Worker* Worker::Current() { return Here::GetWorker(); }

ABSL_ATTRIBUTE_NOINLINE internal::ForkStack* Worker::CurrentForks() {
  return Here::GetForks();
}

namespace {

// Not inlined, so that `CurrentForksIfRoom()` usually saves no registers.
ABSL_ATTRIBUTE_NOINLINE internal::ForkStack* ForksIfAmpleStackRoom(
    internal::ForkStack* forks) {
  return HasAmpleStackRoom() ? forks : nullptr;
}

}  // namespace

ABSL_ATTRIBUTE_NOINLINE internal::ForkStack* Worker::CurrentForksIfRoom() {
  internal::ForkStack* const forks = Here::GetForks();
  if (ABSL_PREDICT_FALSE(forks == nullptr || !forks->HasRoom())) return nullptr;
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return ABSL_PREDICT_TRUE(frame >= internal::ample_stack_floor)
             ? forks
             : ForksIfAmpleStackRoom(forks);
}

void Worker::Schedule(task::Header* task) {
  if (ABSL_PREDICT_FALSE((aside_ & kMarkingTime) != 0)) {
    task->BeginWaiting(CycleClock::Now());
  }
  if ((aside_ & kDispatching) == 0) return PushSoon(task);
  ScheduleDispatched(task);
}

void Worker::ScheduleLast(task::Header* task) {
  PushLast(task, event_check_.number());
}

void Worker::PushLast(task::Header* task, uint16_t yielded_at) {
  task->yielded_at = yielded_at;
  queues_.Push(task);
  // Between polls the worker shares anyway.
  if (queues_.HasNext()) queues_.Share(1);
}

// The following functions of the scheduler are defined here so that each spawn,
// wake and end of a task inlines the search for the thread's worker, and what
// the worker does.
Worker* Scheduler::WorkerHere() {
  Worker* const here = Worker::Here::GetWorker();
  return ABSL_PREDICT_TRUE(here != nullptr && &here->scheduler() == this)
             ? here
             : nullptr;
}

void Scheduler::Adopt(task::Header* task) {
  if (ABSL_PREDICT_FALSE(observes_spawns_)) ObserveSpawn(task);
  Worker* const here = WorkerHere();
  if (ABSL_PREDICT_FALSE(here == nullptr)) return AdoptFromOutside(task);
  task->BeginRunning();
  if (ABSL_PREDICT_TRUE(tasks_.Add(task, here->index()))) {
    here->Schedule(task);
  } else {
    task::CancelNew(task);
  }
}

void Scheduler::AdoptForOthers(task::Header* task) {
  if (ABSL_PREDICT_FALSE(observes_spawns_)) ObserveSpawn(task);
  Worker* const here = WorkerHere();
  if (here == nullptr) return AdoptFromOutside(task);
  task->BeginRunning();
  if (tasks_.Add(task, here->index())) {
    here->ScheduleForOthers(task);
  } else {
    task::CancelNew(task);
  }
}

void Scheduler::Submit(task::Header* task) {
  Worker* const here = WorkerHere();
  if (ABSL_PREDICT_FALSE(here == nullptr)) return SubmitFromOutside(task);
  here->Schedule(task);
}

void Scheduler::Resubmit(task::Header* task) {
  Worker* const here = WorkerHere();
  if (here == nullptr) return SubmitFromOutside(task);
  if (ABSL_PREDICT_FALSE(marks_time())) task->BeginWaiting(CycleClock::Now());
  here->ScheduleLast(task);
}

bool Scheduler::Release(task::Header* task) {
  const Worker* const here = WorkerHere();
  const bool owned = ABSL_PREDICT_TRUE(here != nullptr)
                         ? tasks_.Remove(task, here->index())
                         : tasks_.Remove(task);
  if (ABSL_PREDICT_FALSE(options_.hooks.on_task_terminate != nullptr)) {
    options_.hooks.on_task_terminate(task->meta());
  }
  return owned;
}

Worker::Worker(Scheduler& scheduler, size_t index, FastRand rand)
    : scheduler_(scheduler),
      index_(index),
      queues_(scheduler.queues().Of(index)),
      rand_(rand),
      parker_(scheduler.driver()),
      aside_(scheduler.marks_time() ? kMarkingTime : 0),
      event_check_(
          scheduler.ToCycles(EventCheck::Gap(scheduler.options().workers))),
      global_check_(scheduler.options(), scheduler.cycles_per_nanosecond()),
      meter_(scheduler.ToCycles(kLongMeanPoll)),
      spin_(scheduler.options()),
      observer_(scheduler.options(), index),
      clock_(scheduler.options().clock.get()) {
  // There is no thread yet to take the worker over from.
  run_lock_.TryAcquire();
}

constinit const Atomic<bool> Worker::kNever{false};
constinit const Atomic<bool> Worker::kAlways{true};

bool Worker::RunUntil(absl::FunctionRef<bool()> done, const Atomic<bool>& due) {
  Here here(*this);
  // The scopes of the caller must not affect tasks or hooks.
  const internal::ScopedTaskLocals no_locals(nullptr);
  const task::ScopedTaskId no_task(0);
  clock_.Begin();
  StartMeasuring();
  if (!scheduler_.is_watched()) queues_.SetSharing(Sharing::kInAdvance);
  // Even if `done()` or a waker throws.
  const absl::Cleanup leave = [this, &here] {
    if (here.worker() == nullptr) return;
    queues_.Leave();
    // This worker may be the one that would have parked in the driver.
    scheduler_.queues().WakeAny();
    MeasurePolls();
    clock_.End();
  };
  if (ABSL_PREDICT_FALSE(is_waiting_)) EndWait();
  // Whether `done()` must be called even if `due` is false.
  bool is_due = true;
  for (;;) {
    // Relaxed: `done()` orders what it needs.
    if (is_due || due.load(std::memory_order_relaxed)) {
      is_due = false;
      if (done()) break;
    }
    if (scheduler_.IsClosed()) break;
    task::Header* task =
        ABSL_PREDICT_FALSE(tick() >= next_check_) ? Check() : nullptr;
    if (task == nullptr) task = Next();
    if (task != nullptr) {
      queues_.EndSearching();
      queues_.Share(0);
      if (ABSL_PREDICT_FALSE(task->yielded_at == event_check_.number()) &&
          !CheckBefore(task)) {
        continue;
      }
      if (!Execute(task, here)) return false;
      if (ABSL_PREDICT_FALSE(IsYielding()) && main_yield_.CountTurn()) {
        FinishYield();
        is_due = true;
      }
    } else if (IsYielding()) {
      FinishYield();
      is_due = true;
    } else {
      Wait();
    }
  }
  return true;
}

task::Header* Worker::Check() {
  const uint32_t event_interval = scheduler_.options().event_interval;
  if (event_check_.IsDue(PollsToMaintain(), event_interval)) Maintain();
  task::Header* task = nullptr;
  if (global_check_.IsDue(tick())) {
    global_check_.Begin(tick());
    task = queues_.PopGlobal(global_check_.MayPassBy() ? IfBusy::kGiveUp
                                                       : IfBusy::kWait);
    global_check_.End(task != nullptr);
    if (task != nullptr) lifo_polls_ = 0;
  }
  next_check_ = std::min(
      tick() + event_check_.PollsLeft(PollsToMaintain(), event_interval),
      global_check_.NextPolls(tick(), meter_.has_long_polls()));
  return task;
}

task::Header* Worker::Next() {
  if (lifo_polls_ < kMaxLifoPolls) {
    if (task::Header* const task = queues_.PopNext()) {
      ++lifo_polls_;
      return task;
    }
  }
  lifo_polls_ = 0;
  if (task::Header* const task = queues_.Pop()) return task;
  if (task::Header* const task = queues_.PopNext()) return task;
  return queues_.Steal(rand_);
}

bool Worker::Execute(task::Header* task, Here& here) {
  for (;;) {
    Poll(task, here);
    if (ABSL_PREDICT_FALSE(here.worker() == nullptr)) return false;
    if (ABSL_PREDICT_TRUE(!queues_.HasNext()) || scheduler_.IsClosed()) break;
    task = queues_.PopNext();
    if (task == nullptr) break;
    ++lifo_polls_;
  }
  return true;
}

void Worker::Poll(task::Header* task, Here& here) {
  counts_.CountPoll();
  if (ABSL_PREDICT_TRUE(!scheduler_.observes_polls())) {
    return PollOnce</*kIsObserved=*/false>(task, here);
  }
  PollObserved(task, here);
}

void Worker::PollObserved(task::Header* task, Here& here) {
  const Hooks& hooks = scheduler_.options().hooks;
  // The poll may end the task, which is reported once more afterwards.
  task->state.Ref();
  const absl::Cleanup unref = [task] { task::Unref(task); };
  const uint64_t start = observer_.Begin(task);
  {
    // A waker may throw.
    absl::Cleanup abandon = [this, &here] {
      if (here.worker() == this) observer_.Abandon();
    };
    PollOnce</*kIsObserved=*/true>(task, here);
    std::move(abandon).Cancel();
  }
  // Not if the worker was given away: another thread writes its counts now.
  if (here.worker() == this) observer_.End(task, start);
  if (hooks.after_task_poll) hooks.after_task_poll(task->meta());
}

template <bool kIsObserved>
void Worker::PollOnce(task::Header* task, Here& here) {
  // Not reset if a waker throws, which ends the run.
  here.set_polls(true);
  const task::Ran ran =
      task::RunUntilYield(task, &here.rand(), meter_.last_ms(), here.task_id());
  here.set_polls(false);
  if (ran.yielded || ABSL_PREDICT_FALSE(ran.by_force)) {
    AfterYield<kIsObserved>(task, ran, here);
  }
}

template <bool kIsObserved>
void Worker::AfterYield(task::Header* task, task::Ran ran, Here& here) {
  // If the worker was given away, another thread writes its counts now.
  // Moreover, the task might reach a thread that must not destroy it.
  const bool given_away = here.worker() == nullptr;
  if (ABSL_PREDICT_FALSE(ran.by_force && !given_away)) {
    counts_.CountForcedYield();
  }
  if (!ran.yielded) return;
  if (ABSL_PREDICT_FALSE(given_away)) return task::Suspend(task);
  task->still_running = true;
  if constexpr (kIsObserved) observer_.OnYielded(task);
  // After a forced yield, `event_interval` makes the worker check for events
  // often enough.
  PushLast(task, ran.by_force ? 0 : event_check_.number());
}

bool Worker::UsesSlot() const {
  return scheduler_.options().lifo_slot && lifo_polls_ < kMaxLifoPolls;
}

void Worker::PushSoon(task::Header* task) {
  if (UsesSlot()) {
    queues_.PushNext(task);
    return queues_.Share(1);
  }
  queues_.Push(task);
  // Without a watchdog, nothing makes others run the task if this poll takes
  // long.
  queues_.Share(scheduler_.is_watched() ? 1 : 0);
}

void Worker::BeforeDispatched() {
  // A worker that does not sleep holds the clock already.
  if ((aside_ & kSleeping) != 0) EndSleep();
  // The dispatch may take long, and a searching worker keeps others from being
  // woken.
  queues_.EndSearching();
}

void Worker::ScheduleDispatched(task::Header* task) {
  BeforeDispatched();
  // The worker shares when it has all tasks.
  queues_.Push(task);
}

void Worker::ScheduleForOthers(task::Header* task) {
  if (ABSL_PREDICT_FALSE((aside_ & kMarkingTime) != 0)) {
    task->BeginWaiting(CycleClock::Now());
  }
  if (ABSL_PREDICT_FALSE((aside_ & kDispatching) != 0)) BeforeDispatched();
  queues_.PushForOthers(task);
}

void Worker::FinishYield() {
  // After a forced yield, the poll of the main future counts for `Check()`.
  next_check_ = 0;
  if (main_yield_.Finish()) PollDriver();
}

void Worker::Maintain() {
  event_check_.Begin(PollsToMaintain());
  MeasurePolls();
  if (event_check_.IsTime(meter_.last_cycles())) PollDriver();
}

bool Worker::PollDriver() {
  bool looked;
  BeginDispatching();
  {
    // A waker may throw.
    const absl::Cleanup done = [this] { EndDispatching(); };
    looked = parker_.PollDriver();
  }
  event_check_.Count(CycleClock::Now());
  AfterDispatch();
  return looked;
}

bool Worker::CheckBefore(task::Header* task) {
  const uint64_t start = CycleClock::Now();
  if (!event_check_.IsTime(start)) return true;
  const size_t depth = queues_.depth();
  // Even if a waker throws.
  absl::Cleanup put_back = [this, task] { queues_.Push(task); };
  PollDriver();
  // The check was no part of a poll.
  meter_.Exclude(CycleClock::Now() - start);
  // The woken tasks run before `task`, once: it is not marked for this check.
  if (queues_.depth() > depth) return false;
  std::move(put_back).Cancel();
  // As many tasks may have come as others have stolen in the meantime.
  queues_.Share(0);
  return true;
}

void Worker::AfterDispatch() { queues_.Share(1); }

void Worker::Wait() {
  if (!Spin()) Park();
}

bool Worker::Spin() {
  // While a worker spins, no worker is woken. Only a searching worker may do
  // this, and therefore no more workers spin at once than may search.
  if (!spin_.Begin() || !queues_.IsSearching()) return false;
  MeasurePolls();
  const uint64_t limit = scheduler_.ToCycles(AdaptiveSpin::kLimit);
  if (spin_.IsEventCheckDue(meter_.last_cycles(), limit)) PollDriver();
  const bool found =
      SpinFor(limit, [this] { return HasTasks() || parker_.IsUnparked(); });
  spin_.OnSpun(scheduler_.queues().global_depth() > 0, found);
  StartMeasuring();
  return found;
}

void Worker::Park() {
  const Hooks& hooks = scheduler_.options().hooks;
  if (ABSL_PREDICT_FALSE(hooks.before_park != nullptr)) {
    // The hook may take long, and a searching worker keeps others from being
    // woken.
    queues_.EndSearching();
    hooks.before_park();
  }
  // An auto-advancing clock advances only after earlier events are handled.
  Clock* const clock = clock_.clock();
  const bool looked =
      clock != nullptr && clock->AdvancesByItself() && PollDriver();
  if (queues_.Sleep()) {
    clock_.Release(scheduler_.queues().idle(), index_, looked);
    FramePool::OnIdle();
    MeasurePolls();
    counts_.CountPark();
    BeginDispatching();
    aside_ |= kSleeping;
    const absl::Cleanup done = [this] {
      EndDispatching();
      const uint64_t cycles = CycleClock::Now() - meter_.last_cycles();
      if ((aside_ & kSleeping) != 0) EndSleep();
      StartMeasuring();
      LearnToSpin(cycles);
      event_check_.Count(meter_.last_cycles());
      AfterDispatch();
    };
    parker_.Park();
  } else {
    // Unless it had tasks of its own, the worker was asleep for a moment.
    scheduler_.awake_event().Notify();
  }
  if (ABSL_PREDICT_FALSE(hooks.after_unpark != nullptr)) {
    // The hook may take long, as above.
    queues_.EndSearching();
    // Others may rely on the worker for a task that was queued during its last
    // search: `Sleep()` has ended the search.
    if (scheduler_.queues().HasWork()) scheduler_.queues().Wake();
    hooks.after_unpark();
  }
}

bool Worker::HasTasks() const {
  return queues_.depth() > 0 || scheduler_.queues().HasWork();
}

absl::Duration Worker::BeginWait() {
  if (HasTasks()) return absl::ZeroDuration();
  const Hooks& hooks = scheduler_.options().hooks;
  if (ABSL_PREDICT_FALSE(hooks.before_park != nullptr)) hooks.before_park();
  // As in `Park()`. The worker has no hold any more.
  const Clock* const clock = clock_.clock();
  if (clock != nullptr && clock->AdvancesByItself()) PollDriver();
  if (!queues_.Sleep()) {
    // As in `Park()`.
    scheduler_.awake_event().Notify();
    if (ABSL_PREDICT_FALSE(hooks.after_unpark != nullptr)) hooks.after_unpark();
    return absl::ZeroDuration();
  }
  counts_.CountPark();
  aside_ |= kSleeping;
  is_waiting_ = true;
  return parker_.BeginWait();
}

void Worker::EndWait() {
  is_waiting_ = false;
  BeginDispatching();
  {
    // A waker may throw.
    const absl::Cleanup done = [this] {
      EndDispatching();
      if ((aside_ & kSleeping) != 0) EndSleep();
    };
    parker_.EndWait();
  }
  event_check_.Count(CycleClock::Now());
  AfterDispatch();
  const Hooks& hooks = scheduler_.options().hooks;
  if (ABSL_PREDICT_FALSE(hooks.after_unpark != nullptr)) hooks.after_unpark();
}

void Worker::EndSleep() {
  aside_ &= ~kSleeping;
  was_woken_ = queues_.Awake();
  scheduler_.awake_event().Notify();
  HoldClock();
}

void Worker::LearnToSpin(uint64_t cycles) {
  spin_.OnParked(was_woken_ && scheduler_.queues().global_depth() == 1, cycles,
                 scheduler_.cycles_per_nanosecond());
}

void Worker::StartMeasuring() {
  const uint64_t now = CycleClock::Now();
  meter_.Start(now, scheduler_.ToMilliseconds(now), tick());
}

void Worker::MeasurePolls() {
  const uint64_t now = CycleClock::Now();
  const bool has_changed =
      meter_.Measure(now, scheduler_.ToMilliseconds(now), tick());
  if (meter_.has_long_polls()) next_check_ = 0;
  if (!has_changed || !scheduler_.is_watched()) return;
  queues_.SetSharing(meter_.has_long_polls() ? Sharing::kInAdvance
                                             : Sharing::kOnDemand);
}

bool Worker::OnFoundInPoll(absl::Duration at_least) {
  return observer_.OnFoundInPoll(scheduler_.ToCycles(at_least));
}

WorkerMetrics Worker::metrics() const {
  WorkerMetrics metrics;
  counts_.Read(metrics);
  meter_.Read(metrics);
  observer_.Read(metrics);
  metrics.steals = queues_.steals();
  metrics.steal_operations = queues_.steal_operations();
  metrics.overflows = queues_.overflows();
  metrics.local_queue_depth = queues_.depth();
  return metrics;
}

BlockingSection::BlockingSection() : may_block_(nullptr), worker_(nullptr) {
  Worker::Here* const here = Worker::Here::Get();
  // Not a worker's thread, or a thread that has already given its worker away.
  if (here == nullptr || here->worker() == nullptr) return;
  Worker& worker = *here->worker();
  const Options& options = worker.scheduler_.options();
  if (options.run_elsewhere == nullptr) {
    Panic(
        "BlockInPlace: a current-thread runtime has no other thread that could "
        "run its tasks; use SpawnBlocking, or a multi-thread runtime");
  }
  // For example in a hook, or in a waker called by the driver.
  if (!here->polls()) return;
  // The tasks to run next must not wait for this thread (tokio #6596), and nor
  // must the children of forks.
  here->forks().ShareAll();
  worker.queues_.GiveUp();
  worker.MeasurePolls();
  // The poll no longer keeps the worker from other tasks.
  worker.observer_.Abandon();
  worker_ = &worker;
  const size_t index = worker.index_;
  here->GiveAway();
  Scheduler& scheduler = worker.scheduler_;
  worker.Offer();
  // This worker may have been the only one awake, with no other in its place.
  if (!scheduler.driver().IsHeld()) scheduler.queues().WakeAny();
  // If memory is lacking, no thread runs the worker until this thread is back.
  ROUSE_TRY { options.run_elsewhere(index); }
  ROUSE_CATCH_ALL {}
}

BlockingSection::~BlockingSection() {
  if (worker_ == nullptr || !worker_->TakeOver()) return;
  Worker::Here::Get()->TakeBack(worker_);
  worker_->StartMeasuring();
}

}  // namespace rouse::scheduler
