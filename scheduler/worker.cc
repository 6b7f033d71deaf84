// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/worker.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/lock/adaptive_spin.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_local.h"
#include "rouse/future/task_local.h"
#include "rouse/scheduler/current_poll.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/poll_times.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/waker/task_id.h"

namespace rouse::scheduler {
namespace {

// By default, a worker checks the global queue after this many polls,
constexpr uint32_t kGlobalInterval = 127;
// or after this much time, since polls may be long.
constexpr absl::Duration kGlobalPeriod = absl::Microseconds(50);
// A worker reads the clock for this purpose once in this many turns, or in each
// turn if polls are long.
constexpr uint32_t kClockInterval = 8;
// Interval of a scheduler's only worker, which does not go by the clock, so
// that its order is repeatable.
constexpr uint32_t kSoloGlobalInterval = 31;
// If polls take more than this many nanoseconds on average, a worker shares its
// tasks before others ask: the cost does not matter then.
constexpr double kLongPoll = 10'000;
// Weight of the latest polls in their mean length.
constexpr double kLatest = 0.1;

uint32_t GlobalInterval(const Options& options) {
  if (options.global_queue_interval != 0) return options.global_queue_interval;
  return options.workers == 1 ? kSoloGlobalInterval : kGlobalInterval;
}

// Returns the period in cycles.
uint64_t GlobalPeriod(const Scheduler& scheduler) {
  const Options& options = scheduler.options();
  if (options.global_queue_interval != 0 || options.workers == 1) {
    return UINT64_MAX;
  }
  return static_cast<uint64_t>(absl::ToDoubleNanoseconds(kGlobalPeriod) *
                               scheduler.cycles_per_nanosecond());
}

// Returns whether workers may spin. Not with an auto-advancing clock, which
// advances as soon as there is nothing to do.
bool MaySpin(const Options& options) {
  return CanSpin() &&
         (options.clock == nullptr || !options.clock->HasAutoAdvance());
}

// Adds to a count written only by the calling thread. Relaxed: the count orders
// nothing.
template <class Count>
void Add(Count& count, uint64_t change) {
  count.store(count.load(std::memory_order_relaxed) + change,
              std::memory_order_relaxed);
}

}  // namespace

// The data that a thread has about the worker it runs.
class Worker::Here {
 public:
  explicit Here(Worker& worker)
      : worker_(&worker),
        rand_(worker.rand_),
        task_id_(task::CurrentTaskIdHere()),
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
  static Here*& Current() { return ThreadLocal<Here*, Here>::Get(); }

  Worker* worker_;
  FastRand rand_;
  TaskId& task_id_;
  bool polls_ = false;
  Here* const outer_;
  // Held from when the worker is given away to the end of the poll, or until
  // the worker is taken back.
  std::optional<Clock::AutoAdvanceHold> hold_;
};

Worker* Worker::Current() {
  const Here* const here = Here::Get();
  return here != nullptr ? here->worker() : nullptr;
}

Worker::Worker(Scheduler& scheduler, size_t index, FastRand rand)
    : scheduler_(scheduler),
      index_(index),
      queues_(scheduler.queues().Of(index)),
      rand_(rand),
      parker_(scheduler.driver()),
      may_spin_(MaySpin(scheduler.options())),
      aside_(scheduler.marks_time() ? kMarkingTime : 0),
      global_interval_(GlobalInterval(scheduler.options())),
      global_period_(GlobalPeriod(scheduler)),
      poll_times_(scheduler.options().poll_time_histogram
                      ? std::make_unique<PollTimes>(
                            scheduler.options().poll_time_buckets)
                      : nullptr),
      schedule_latencies_(
          scheduler.marks_time()
              ? std::make_unique<PollTimes>(
                    scheduler.options().schedule_latency_buckets)
              : nullptr),
      current_poll_(scheduler.options().hooks.on_long_poll != nullptr
                        ? std::make_unique<CurrentPoll>()
                        : nullptr),
      clock_(scheduler.options().clock.get()) {
  // There is no thread yet to take the worker over from.
  baton_.TryTake();
}

bool Worker::RunUntil(absl::FunctionRef<bool()> done) {
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
  const uint32_t event_interval = scheduler_.options().event_interval;
  while (!done() && !scheduler_.IsClosed()) {
    if (PollsToMaintain() - last_maintained_ >= event_interval) Maintain();
    if (task::Header* const task = Next()) {
      queues_.EndSearching();
      queues_.Share(0);
      if (ABSL_PREDICT_FALSE(task->yielded_at == looks_) && !LookBefore(task)) {
        continue;
      }
      Execute(task, here);
      if (here.worker() == nullptr) return false;
      if (ABSL_PREDICT_FALSE(IsYielding()) && --yield_turns_ == 0) {
        FinishYield();
      }
    } else if (IsYielding()) {
      FinishYield();
    } else {
      Wait();
    }
  }
  return true;
}

task::Header* Worker::Next() {
  // Never twice in a row. With long polls, or a small interval, the check would
  // be due in each turn, and a global queue that does not become empty would
  // keep everything else waiting.
  if (!std::exchange(came_from_global_, false) && IsGlobalDue()) {
    last_global_ = tick();
    last_global_cycles_ = CycleClock::Now();
    if (task::Header* const task = queues_.PopGlobal()) {
      came_from_global_ = true;
      lifo_polls_ = 0;
      return task;
    }
  }
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

bool Worker::IsGlobalDue() {
  if (tick() - last_global_ >= global_interval_) return true;
  return (has_long_polls_ || ++turns_ % kClockInterval == 0) &&
         global_period_ != UINT64_MAX &&
         CycleClock::Now() - last_global_cycles_ >= global_period_;
}

void Worker::Execute(task::Header* task, Here& here) {
  while (task != nullptr) {
    Poll(task, here);
    if (here.worker() == nullptr) return;
    if (scheduler_.IsClosed()) break;
    task = queues_.PopNext();
    if (task != nullptr) ++lifo_polls_;
  }
}

void Worker::Poll(task::Header* task, Here& here) {
  Add(tick_, 1);
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
  if (schedule_latencies_ != nullptr) {
    if (const auto waited = task->EndWaiting(CycleClock::Now())) {
      schedule_latencies_->Count(*waited);
    }
  }
  if (hooks.before_task_poll) hooks.before_task_poll(task->meta());
  const uint64_t start = CycleClock::Now();
  if (current_poll_ != nullptr) current_poll_->Begin(task, start);
  {
    // A waker may throw.
    absl::Cleanup end = [this, &here] {
      if (current_poll_ != nullptr && here.worker() == this) {
        current_poll_->End();
      }
    };
    PollOnce</*kIsObserved=*/true>(task, here);
    std::move(end).Cancel();
  }
  // Not if the worker was given away: another thread writes its counts now.
  if (here.worker() == this) {
    const uint64_t cycles = CycleClock::Now() - start;
    if (poll_times_ != nullptr) poll_times_->Count(cycles);
    if (current_poll_ != nullptr) {
      const CurrentPoll::Ended ended = current_poll_->End();
      const absl::Duration duration = CycleClock::ToDuration(cycles);
      const bool is_long = duration >= scheduler_.options().long_poll_bound;
      if (is_long && ended.was_there && !ended.was_found) {
        // Relaxed: the count orders nothing.
        long_polls_.fetch_add(1, std::memory_order_relaxed);
      }
      if (ended.was_there && (is_long || ended.was_found)) {
        ReportLongPoll(task, duration);
      }
    }
  }
  if (hooks.after_task_poll) hooks.after_task_poll(task->meta());
}

template <bool kIsObserved>
void Worker::PollOnce(task::Header* task, Here& here) {
  // Not reset if a waker throws, which ends the run.
  here.set_polls(true);
  const task::Ran ran =
      task::RunUntilYield(task, &here.rand(), turn_ms_, here.task_id());
  here.set_polls(false);
  // If the worker was given away, another thread writes its counts now.
  // Moreover, the task might reach a thread that must not destroy it.
  const bool given_away = here.worker() == nullptr;
  if (ABSL_PREDICT_FALSE(ran.by_force && !given_away)) Add(forced_yields_, 1);
  if (!ran.yielded) return;
  if (ABSL_PREDICT_FALSE(given_away)) return task::Suspend(task);
  task->still_running = true;
  if constexpr (kIsObserved) {
    if (schedule_latencies_ != nullptr) task->BeginWaiting(CycleClock::Now());
  }
  if (ran.by_force) {
    ScheduleForced(task);
  } else {
    ScheduleLast(task);
  }
}

bool Worker::UsesSlot() const {
  return scheduler_.options().lifo_slot && lifo_polls_ < kMaxLifoPolls;
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline void Worker::PushSoon(task::Header* task) {
  if (UsesSlot()) {
    queues_.PushNext(task);
    return queues_.Share(1);
  }
  queues_.Push(task);
  // Without a watchdog, nothing makes others run the task if this poll takes
  // long.
  queues_.Share(scheduler_.is_watched() ? 1 : 0);
}

void Worker::Schedule(task::Header* task) {
  if (ABSL_PREDICT_FALSE(aside_ != 0)) return ScheduleAside(task);
  PushSoon(task);
}

void Worker::ScheduleAside(task::Header* task) {
  if ((aside_ & kMarkingTime) != 0) task->BeginWaiting(CycleClock::Now());
  if ((aside_ & kDispatching) == 0) return PushSoon(task);
  // The worker is no longer idle. It shares when it has all tasks.
  HoldClock();
  queues_.Push(task);
}

void Worker::ScheduleLast(task::Header* task) {
  task->yielded_at = looks_;
  PushLast(task);
}

void Worker::ScheduleForced(task::Header* task) {
  // `event_interval` makes the worker check for events often enough.
  task->yielded_at = 0;
  PushLast(task);
}

void Worker::PushLast(task::Header* task) {
  queues_.Push(task);
  // Between polls the worker shares anyway.
  if (queues_.HasNext()) queues_.Share(1);
}

void Worker::FinishYield() {
  EndYield();
  if (yields_by_force_) {
    ++ends_of_forced_yields_;
  } else {
    PollDriver();
  }
}

void Worker::Maintain() {
  last_maintained_ = PollsToMaintain();
  MeasurePolls();
  PollDriver();
}

bool Worker::PollDriver() {
  bool looked;
  BeginDispatching();
  {
    // A waker may throw.
    const absl::Cleanup done = [this] { EndDispatching(); };
    looked = parker_.PollDriver();
  }
  CountLook();
  AfterDispatch();
  return looked;
}

bool Worker::LookBefore(task::Header* task) {
  const uint64_t start = CycleClock::Now();
  const size_t depth = queues_.depth();
  // Even if a waker throws.
  absl::Cleanup put_back = [this, task] { queues_.Push(task); };
  PollDriver();
  // The check was no part of a poll.
  measured_since_ += CycleClock::Now() - start;
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
  spun_in_vain_ = false;
  Scheduler::Queues& queues = scheduler_.queues();
  // While a worker spins, no worker is woken. Only a searching worker may do
  // this, and therefore no more workers spin at once than may search.
  if (!spin_.ShouldSpin() || !queues_.IsSearching()) return false;
  MeasurePolls();
  const auto limit =
      static_cast<uint64_t>(absl::ToDoubleNanoseconds(AdaptiveSpin::kLimit) *
                            scheduler_.cycles_per_nanosecond());
  // A worker that need not park must still check for events.
  if (busy_since_ - last_events_ > limit) {
    last_events_ = busy_since_;
    PollDriver();
  }
  const bool found = SpinFor(limit, [this, &queues] {
    return queues.HasWork() || queues_.depth() > 0 || parker_.IsUnparked();
  });
  if (queues.global_depth() > 0) {
    spin_.OnFound();
  } else if (found) {
    // The work did not come from elsewhere, or others were faster.
    spin_.OnWokenOtherwise();
  } else {
    spin_.OnFoundNothing();
    spun_in_vain_ = true;
  }
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
    if (tick() == tick_at_park_) Add(noop_parks_, 1);
    tick_at_park_ = tick();
    Add(parks_, 1);
    BeginDispatching();
    const absl::Cleanup done = [this] {
      EndDispatching();
      const uint64_t cycles = CycleClock::Now() - busy_since_;
      const bool woken = queues_.Awake();
      HoldClock();
      scheduler_.awake_bell().Ring();
      StartMeasuring();
      LearnToSpin(woken, cycles);
      CountLook();
      AfterDispatch();
    };
    parker_.Park();
  } else {
    // The worker was asleep for a moment.
    scheduler_.awake_bell().Ring();
  }
  if (ABSL_PREDICT_FALSE(hooks.after_unpark != nullptr)) {
    // The hook may take long, as above.
    queues_.EndSearching();
    hooks.after_unpark();
  }
}

void Worker::LearnToSpin(bool woken, uint64_t cycles) {
  // A spin would have seen a task from elsewhere, if tasks come one at a time.
  // If many come, the worker should be late: then it does not disturb the
  // thread that spawns them, and that thread does not wait for the first task.
  // A spin does not see an event: only the driver does.
  if (!woken || scheduler_.queues().global_depth() != 1) {
    spin_.OnWokenOtherwise();
  } else if (!spun_in_vain_ && may_spin_) {
    spin_.OnWoken(absl::Nanoseconds(static_cast<double>(cycles) /
                                    scheduler_.cycles_per_nanosecond()));
  }
}

void Worker::StartMeasuring() {
  busy_since_ = measured_since_ = CycleClock::Now();
  measured_tick_ = tick();
  turn_ms_ = scheduler_.ToMilliseconds(busy_since_);
}

void Worker::MeasurePolls() {
  const uint64_t now = CycleClock::Now();
  turn_ms_ = scheduler_.ToMilliseconds(now);
  Add(busy_cycles_, now - std::exchange(busy_since_, now));
  const uint64_t cycles = now - std::exchange(measured_since_, now);
  const uint64_t polls = tick() - std::exchange(measured_tick_, tick());
  if (polls == 0) return;
  const double latest =
      static_cast<double>(cycles) / static_cast<double>(polls);
  const uint64_t before = mean_poll_cycles_.load(std::memory_order_relaxed);
  const double mean =
      before == 0 ? latest
                  : static_cast<double>(before) +
                        kLatest * (latest - static_cast<double>(before));
  mean_poll_cycles_.store(static_cast<uint64_t>(mean),
                          std::memory_order_relaxed);
  const double cycles_per_nanosecond = scheduler_.cycles_per_nanosecond();
  has_long_polls_ = mean > kLongPoll * cycles_per_nanosecond;
  if (scheduler_.is_watched()) {
    queues_.SetSharing(has_long_polls_ ? Sharing::kInAdvance
                                       : Sharing::kOnDemand);
  }
}

WorkerMetrics Worker::metrics() const {
  WorkerMetrics metrics;
  metrics.polls = tick();
  metrics.steals = queues_.steals();
  metrics.steal_operations = queues_.steal_operations();
  metrics.overflows = queues_.overflows();
  metrics.parks = parks_.load(std::memory_order_relaxed);
  metrics.noop_parks = noop_parks_.load(std::memory_order_relaxed);
  metrics.forced_yields = forced_yields_.load(std::memory_order_relaxed);
  metrics.long_polls = long_polls_.load(std::memory_order_relaxed);
  metrics.busy =
      CycleClock::ToDuration(busy_cycles_.load(std::memory_order_relaxed));
  metrics.mean_poll_time =
      CycleClock::ToDuration(mean_poll_cycles_.load(std::memory_order_relaxed));
  metrics.local_queue_depth = queues_.depth();
  if (poll_times_ != nullptr) metrics.poll_times = poll_times_->Read();
  if (schedule_latencies_ != nullptr) {
    metrics.schedule_latencies = schedule_latencies_->Read();
  }
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
        "BlockInPlace: a current-thread runtime has no other thread to run its "
        "tasks meanwhile; use SpawnBlocking, or a multi-thread runtime");
  }
  // For example in a hook, or in a waker called by the driver.
  if (!here->polls()) return;
  // The tasks to run next must not wait for this thread (tokio #6596).
  worker.queues_.GiveUp();
  worker.MeasurePolls();
  // The poll no longer keeps the worker from other tasks.
  if (worker.current_poll_ != nullptr) worker.current_poll_->End();
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
