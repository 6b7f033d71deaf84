// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/processor_count.h"
#include "rouse/reactor/reactor.h"
#include "rouse/runtime/inner.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/long_poll.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/scheduler/task/unhandled.h"
#include "rouse/timer/clock.h"

namespace rouse {

using internal::RuntimeInner;
using internal::RuntimeOptions;

namespace {

constexpr char kWorkerThreads[] = "ROUSE_WORKER_THREADS";

// A larger number is probably a mistake.
constexpr size_t kMaxWorkerThreads = 32'768;
constexpr size_t kMaxEventsPerTurn = 1024;
// With a shorter bound, the watchdog would spend all its time on checks.
constexpr absl::Duration kMinLongPollBound = absl::Microseconds(100);

absl::StatusOr<size_t> DefaultWorkerThreads() {
  const char* const value = std::getenv(kWorkerThreads);
  if (value == nullptr || *value == '\0') {
    return ProcessorCount();
  }
  uint32_t count;
  if (!absl::SimpleAtoi(value, &count) || count == 0 ||
      count > kMaxWorkerThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("environment variable ", kWorkerThreads, " is \"", value,
                     "\": set it to a number from 1 to ", kMaxWorkerThreads,
                     ", or unset it"));
  }
  return count;
}

absl::Status CheckBuckets(std::string_view option,
                          const scheduler::PollTimeBuckets& buckets) {
  if (std::has_single_bit(buckets.linear_steps) && buckets.linear_steps <= 8 &&
      buckets.shortest < buckets.longest) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      option, " with ", buckets.linear_steps, " steps from ",
      absl::FormatDuration(buckets.shortest), " to ",
      absl::FormatDuration(buckets.longest),
      ": choose 1, 2, 4 or 8 steps, and a longest time above the shortest"));
}

absl::Status Check(const RuntimeOptions& options) {
  const absl::Duration resolution = options.timer.resolution;
  if (resolution < absl::Microseconds(64) || resolution > absl::Seconds(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("TimerResolution(", absl::FormatDuration(resolution),
                     "): choose a resolution from 64us to 1s"));
  }
  if (options.blocking.max_threads == 0) {
    return absl::InvalidArgumentError(
        "MaxBlockingThreads(0): choose at least 1; threads start only when "
        "they are needed");
  }
  if (options.scheduler.workers > kMaxWorkerThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("WorkerThreads(", options.scheduler.workers,
                     "): choose a number up to ", kMaxWorkerThreads));
  }
  if (options.scheduler.event_interval == 0) {
    return absl::InvalidArgumentError(
        "EventInterval(0): choose at least 1; with 1, the worker checks for "
        "events after each poll");
  }
  const size_t events = options.reactor.events_per_turn;
  if (events == 0 || events > kMaxEventsPerTurn) {
    return absl::InvalidArgumentError(
        absl::StrCat("MaxEventsPerTurn(", events,
                     "): choose a number from 1 to ", kMaxEventsPerTurn));
  }
  absl::Status buckets =
      CheckBuckets("PollTimeHistogram", options.scheduler.poll_time_buckets);
  buckets.Update(CheckBuckets("ScheduleLatencyHistogram",
                              options.scheduler.schedule_latency_buckets));
  if (!buckets.ok()) return buckets;
  if (options.scheduler.long_poll_bound < kMinLongPollBound) {
    return absl::InvalidArgumentError(absl::StrCat(
        "LongPollBound(",
        absl::FormatDuration(options.scheduler.long_poll_bound),
        "): choose at least ", absl::FormatDuration(kMinLongPollBound),
        ", or absl::InfiniteDuration()"));
  }
  return absl::OkStatus();
}

}  // namespace

Builder::Builder(bool multi_thread)
    : options_(std::make_unique<RuntimeOptions>()) {
  options_->multi_thread = multi_thread;
  options_->thread_name = "rouse";
  options_->scheduler.workers = multi_thread ? 0 : 1;
  options_->scheduler.lifo_slot = multi_thread;
  options_->scheduler.long_poll_bound = scheduler::kLongPollBound;
}

Builder Builder::MultiThread() { return Builder(true); }
Builder Builder::CurrentThread() { return Builder(false); }

Builder::Builder(Builder&& other) noexcept = default;
Builder& Builder::operator=(Builder&& other) noexcept = default;
Builder::~Builder() = default;

Builder& Builder::WorkerThreads(size_t count) {
  if (options_->multi_thread) options_->scheduler.workers = count;
  return *this;
}

Builder& Builder::MaxBlockingThreads(size_t count) {
  options_->blocking.max_threads = count;
  return *this;
}

Builder& Builder::ThreadKeepAlive(AnyDuration keep_alive) {
  options_->blocking.keep_alive = keep_alive;
  return *this;
}

Builder& Builder::ThreadName(std::string name) {
  options_->thread_name = std::move(name);
  return *this;
}

Builder& Builder::ThreadNameFn(std::function<std::string()> call) {
  options_->blocking.name_thread = std::move(call);
  return *this;
}

Builder& Builder::ThreadStackSize(size_t bytes) {
  options_->blocking.thread_stack_size = bytes;
  return *this;
}

Builder& Builder::OnThreadStart(std::function<void()> call) {
  options_->blocking.on_thread_start = std::move(call);
  return *this;
}

Builder& Builder::OnThreadStop(std::function<void()> call) {
  options_->blocking.on_thread_stop = std::move(call);
  return *this;
}

Builder& Builder::Seed(uint64_t seed) {
  options_->scheduler.seed = seed;
  return *this;
}

Builder& Builder::LifoSlot(bool on) {
  options_->scheduler.lifo_slot = on;
  return *this;
}

Builder& Builder::EventInterval(uint32_t polls) {
  options_->scheduler.event_interval = polls;
  return *this;
}

Builder& Builder::MaxEventsPerTurn(size_t events) {
  options_->reactor.events_per_turn = events;
  return *this;
}

Builder& Builder::GlobalQueueInterval(uint32_t polls) {
  options_->scheduler.global_queue_interval = polls;
  return *this;
}

Builder& Builder::LongPollBound(AnyDuration bound) {
  options_->scheduler.long_poll_bound = bound;
  return *this;
}

Builder& Builder::OnUnhandledException(UnhandledException then) {
  options_->scheduler.unhandled_exception = then;
  options_->scheduler.on_unhandled_exception = nullptr;
  // A blocking call is not a task of the runtime, and cannot shut the runtime
  // down.
  options_->blocking.on_unhandled_exception = nullptr;
  if (then == UnhandledException::kIgnore) {
    options_->blocking.on_unhandled_exception =
        [](const TaskMeta&, const std::exception_ptr&) {};
  }
  return *this;
}

Builder& Builder::OnUnhandledException(UnhandledExceptionCallback call) {
  options_->scheduler.unhandled_exception = UnhandledException::kLog;
  options_->scheduler.on_unhandled_exception = call;
  options_->blocking.on_unhandled_exception = std::move(call);
  return *this;
}

Builder& Builder::OnThreadPark(std::function<void()> call) {
  options_->scheduler.hooks.before_park = std::move(call);
  return *this;
}

Builder& Builder::OnThreadUnpark(std::function<void()> call) {
  options_->scheduler.hooks.after_unpark = std::move(call);
  return *this;
}

Builder& Builder::OnTaskSpawn(std::function<void(const TaskMeta&)> call) {
  options_->scheduler.hooks.on_task_spawn = std::move(call);
  return *this;
}

Builder& Builder::BeforeTaskPoll(std::function<void(const TaskMeta&)> call) {
  options_->scheduler.hooks.before_task_poll = std::move(call);
  return *this;
}

Builder& Builder::AfterTaskPoll(std::function<void(const TaskMeta&)> call) {
  options_->scheduler.hooks.after_task_poll = std::move(call);
  return *this;
}

Builder& Builder::OnTaskTerminate(std::function<void(const TaskMeta&)> call) {
  options_->scheduler.hooks.on_task_terminate = std::move(call);
  return *this;
}

Builder& Builder::PollTimeHistogram(bool on) {
  options_->scheduler.poll_time_histogram = on;
  return *this;
}

Builder& Builder::PollTimeHistogram(const scheduler::PollTimeBuckets& buckets) {
  options_->scheduler.poll_time_histogram = true;
  options_->scheduler.poll_time_buckets = buckets;
  return *this;
}

Builder& Builder::ScheduleLatencyHistogram(bool on) {
  options_->scheduler.schedule_latency_histogram = on;
  return *this;
}

Builder& Builder::ScheduleLatencyHistogram(
    const scheduler::PollTimeBuckets& buckets) {
  options_->scheduler.schedule_latency_histogram = true;
  options_->scheduler.schedule_latency_buckets = buckets;
  return *this;
}

Builder& Builder::OnLongPoll(LongPollCallback call) {
  options_->scheduler.hooks.on_long_poll = std::move(call);
  return *this;
}

Builder& Builder::Name(std::string name) {
  options_->name = std::move(name);
  return *this;
}

Builder& Builder::TimerResolution(AnyDuration resolution) {
  options_->timer.resolution = resolution;
  return *this;
}

Builder& Builder::WithClock(std::shared_ptr<Clock> clock) {
  options_->timer.clock = std::move(clock);
  return *this;
}

absl::StatusOr<Runtime> Builder::Build() {
  RuntimeOptions options = *options_;
  if (options.scheduler.workers == 0) {
    absl::StatusOr<size_t> count = DefaultWorkerThreads();
    if (!count.ok()) return count.status();
    options.scheduler.workers = *count;
  }
  absl::Status in_range = Check(options);
  if (!in_range.ok()) return in_range;
  absl::StatusOr<reactor::Reactor> reactor =
      reactor::Reactor::Create(options.reactor);
  if (!reactor.ok()) return reactor.status();

  if (options.timer.clock == nullptr) {
    options.timer.clock = std::make_shared<Clock>();
  } else if (options.timer.clock->IsPaused()) {
    options.scheduler.long_poll_bound = absl::InfiniteDuration();
  }
  options.timer.shards = options.scheduler.workers;
  options.scheduler.clock = options.timer.clock;
  options.blocking.clock = options.timer.clock;
  const bool multi_thread = options.multi_thread;
  auto inner =
      std::make_shared<RuntimeInner>(std::move(options), *std::move(reactor));
  Runtime runtime(std::move(inner));
  if (multi_thread) {
    absl::Status started = runtime.inner_->StartThreads();
    if (!started.ok()) return started;
  }
  return runtime;
}

}  // namespace rouse
