// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/scheduler.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/log/log.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/log/vlog.h"
#include "rouse/base/panic.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/task/unhandled.h"
#include "rouse/scheduler/task_dump.h"
#include "rouse/scheduler/worker.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {
namespace {

// Among how many shards a worker's tasks are distributed, if others can steal
// them. With tasks of 10 us, and one task that spawns all of them, 64 workers
// spend half their time waiting for the lock of a single shard.
constexpr size_t kShardsPerWorker = 4;

size_t CheckedWorkers(const Options& options) {
  if (options.workers == 0) {
    Panic("Scheduler: the number of workers is 0; choose at least 1");
  }
  return options.workers;
}

}  // namespace

Scheduler::Scheduler(std::unique_ptr<AnyDriver> driver, Options options)
    : options_(std::move(options)),
      observes_polls_(options_.poll_time_histogram ||
                      options_.schedule_latency_histogram ||
                      options_.hooks.on_long_poll != nullptr ||
                      options_.hooks.before_task_poll != nullptr ||
                      options_.hooks.after_task_poll != nullptr),
      observes_spawns_(options_.schedule_latency_histogram ||
                       options_.hooks.on_task_spawn != nullptr),
      is_watched_(options_.long_poll_bound != absl::InfiniteDuration()),
      cycles_per_nanosecond_(CycleClock::PerNanosecond()),
      cycles_per_millisecond_(
          static_cast<uint64_t>(cycles_per_nanosecond_ * 1e6)),
      rescue_delay_cycles_(ToCycles(kRescueDelay)),
      driver_(std::move(driver)),
      queues_(*this, CheckedWorkers(options_), options_.lifo_slot),
      tasks_(options_.workers, options_.workers == 1 ? 1 : kShardsPerWorker) {
  FastRand rand(options_.seed);
  for (size_t i = 0; i < options_.workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, i, rand.Split()));
  }
}

Scheduler::~Scheduler() { ABSL_ASSERT(alive_tasks() == 0); }

template <class F>
std::invoke_result_t<F&> Scheduler::HoldingClock(F f) {
  Clock* const clock = options_.clock.get();
  std::optional<Clock::AutoAdvanceHold> hold;
  if (clock != nullptr && clock->HasAutoAdvance()) hold.emplace(*clock);
  return f();
}

void Scheduler::ObserveSpawn(task::Header* task) {
  if (options_.hooks.on_task_spawn) options_.hooks.on_task_spawn(task->meta());
  if (!marks_time()) return;
  // If memory is lacking, the task is not counted.
  if (task->details == nullptr) {
    task->details.reset(new (std::nothrow)
                            task::Header::Details(std::string_view()));
  }
  task->BeginWaiting(CycleClock::Now());
}

void Scheduler::AdoptFromOutside(task::Header* task) {
  // The task must not be in the running state when queued: it might reach a
  // thread that must not destroy it.
  HoldingClock([this, task] { queues_.InjectNew(task); });
}

void Scheduler::SubmitFromOutside(task::Header* task) {
  // After the push the queue owns the caller's reference. The task may then
  // end, and with it the runtime, before a worker has been unparked.
  Ref();
  const absl::Cleanup unref = [this] { Unref(); };
  if (ABSL_PREDICT_FALSE(marks_time())) task->BeginWaiting(CycleClock::Now());
  HoldingClock([this, task] { queues_.Inject(task); });
}

void Scheduler::Discard(task::Header* task) {
  if (task::OwnedTasks::WasAdded(task)) return task::Discard(task);
  // Release pairs with the acquire of alive_tasks().
  discarded_new_.fetch_add(1, std::memory_order_release);
  task::CancelNew(task);
}

uint64_t Scheduler::PollsBegun(size_t worker) const {
  return workers_[worker]->tick();
}

void Scheduler::UnparkWorker(size_t worker) {
  workers_[worker]->HoldClock();
  workers_[worker]->Unpark();
  // The worker itself may notify late, after a dispatch in the driver.
  awake_event_.Notify();
}

void Scheduler::Threw(task::Header* task, const std::exception_ptr& exception) {
  switch (options_.unhandled_exception) {
    case UnhandledException::kLog:
    case UnhandledException::kIgnore:
      break;
    case UnhandledException::kShutdownRuntime:
      ROUSE_TRY {
        const std::string what = task::DescribeThrown(task->meta(), exception);
        LOG(ERROR) << what
                   << "; the runtime shuts down, as set by "
                      "Builder::OnUnhandledException";
        const absl::MutexLock lock(&closed_by_mu_);
        if (closed_by_.empty()) closed_by_ = what;
      }
      // If memory is lacking, the description of the task is left out.
      ROUSE_CATCH_ALL {}
      // Release pairs with the acquire of IsClosedByException.
      closed_by_exception_.store(true, std::memory_order_release);
      // If the scheduler was closed before, the runtime that closed it may
      // already be destroyed.
      if (!IsClosed()) {
        Close();
        if (options_.on_closed_by_exception) options_.on_closed_by_exception();
      }
      break;
    case UnhandledException::kAbort:
      LOG(ERROR)
          << task::DescribeThrown(task->meta(), exception)
          << "; the program aborts, as set by Builder::OnUnhandledException";
      std::abort();
  }
}

void Scheduler::Unhandled(task::Header* task,
                          const std::exception_ptr& exception) {
  // Under the other policies the exception is ignored, or was logged when
  // thrown.
  if (options_.unhandled_exception != UnhandledException::kLog) return;
  if (options_.on_unhandled_exception != nullptr) {
    options_.on_unhandled_exception(task->meta(), exception);
  } else {
    task::LogUnhandled(task->meta(), exception);
  }
}

std::string Scheduler::ClosedByException() const {
  const absl::MutexLock lock(&closed_by_mu_);
  return closed_by_;
}

size_t Scheduler::alive_tasks() const {
  // First the tasks that have left the queue: the loads below then see that all
  // of them had been in the queue.
  const size_t taken =
      tasks_.added_late() + discarded_new_.load(std::memory_order_acquire);
  return queues_.injected_new() - taken + tasks_.size();
}

Metrics Scheduler::metrics() const {
  Metrics metrics;
  // Read before the polls: each task counted here was polled, or waits.
  metrics.remote_schedules = queues_.injected();
  metrics.inject_queue_depth = queues_.global_depth();
  // Each queued task has been polled, or waits.
  uint64_t queued = metrics.inject_queue_depth;
  metrics.workers.reserve(workers_.size());
  for (const std::unique_ptr<Worker>& worker : workers_) {
    metrics.workers.push_back(worker->metrics());
    metrics.forced_yields += metrics.workers.back().forced_yields;
    metrics.long_polls += metrics.workers.back().long_polls;
    queued +=
        metrics.workers.back().polls + metrics.workers.back().local_queue_depth;
  }
  metrics.alive_tasks = alive_tasks();
  // The tasks from outside, and the tasks of the workers.
  metrics.spawned_tasks = queues_.injected_new() + tasks_.added();
  // Some tasks may be on their way from a queue to a poll.
  if (queued > metrics.remote_schedules) {
    metrics.local_schedules = queued - metrics.remote_schedules;
  }
  return metrics;
}

TaskDump Scheduler::Dump() {
  // A task being traced can run, and is in no queue.
  return HoldingClock([this] {
    return DumpTasks(
        alive_tasks(),
        [this](absl::FunctionRef<void(task::Header&)> visit) {
          // In this order no task is missed: see OwnedTasks::Adder.
          queues_.ForEachInjected(
              [visit](task::Header* task) { visit(*task); });
          tasks_.ForEach(visit);
        },
        ToMilliseconds(CycleClock::Now()));
  });
}

void Scheduler::Close() {
  queues_.Close();
  ROUSE_VLOG(1, "a scheduler was closed with ", alive_tasks(), " tasks");
}

void Scheduler::CancelTasks(size_t worker) {
  FirstException first;
  first.Catch([this, worker] { tasks_.CloseAndShutdownAll(worker); });
  // Tasks that have yielded were left to this thread, which has them queued.
  queues_.Drain(worker, [this, &first](task::Header* task) {
    first.Catch([this, task] { Discard(task); });
  });
  first.Rethrow();
}

void Scheduler::Finish() {
  if (std::exchange(finished_, true)) {
    Panic(
        "Scheduler::Finish() was called twice; CancelAll() also calls "
        "Finish()");
  }
  FirstException first;
  queues_.DrainAll([this, &first](task::Header* task) {
    first.Catch([this, task] { Discard(task); });
  });
  first.Rethrow();
}

}  // namespace rouse::scheduler
