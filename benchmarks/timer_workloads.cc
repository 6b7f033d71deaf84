// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of timers: a million sleeping tasks, arming and cancelling,
// lateness.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/benchmarks/harness.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/helper_thread.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::bench {
namespace {

constexpr size_t kMillion = 1'000'000;

// Polls a sleep once, which arms the timer. Is ready, whatever the poll
// returns.
class Arm {
 public:
  explicit Arm(Sleep& sleep) : sleep_(sleep) {}
  PollResult<void> Poll(Context& cx) {
    static_cast<void>(sleep_.Poll(cx).IsReady());
    return {};
  }

 private:
  Sleep& sleep_;
};

Co<> ArmAndDrop(size_t count) {
  XorShift random;
  for (size_t i = 0; i < count; ++i) {
    Sleep sleep(absl::Milliseconds(1 + random.Next() % 1000));
    co_await Arm(sleep);
  }
}

// Creates, polls and drops one timer after another, like timeouts that do not
// expire.
void SequentialCancel(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kMillion,
                [&] { bench.RunRoot(runtime, ArmAndDrop(kMillion)); });
}

Co<> JoinTwo(JoinHandle<void> one, JoinHandle<void> other) {
  (void)co_await one;
  (void)co_await other;
}

// Like `SequentialCancel()`, on two tasks at once. Shows the cost of state that
// the workers share.
void SequentialCancelOnTwoWorkers(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kMillion, [&runtime] {
    JoinHandle<void> one = runtime.Spawn(ArmAndDrop(kMillion / 2));
    JoinHandle<void> other = runtime.Spawn(ArmAndDrop(kMillion / 2));
    runtime.BlockOn(JoinTwo(std::move(one), std::move(other)));
  });
}

Co<> ArmManyAndDrop() {
  XorShift random;
  std::deque<Sleep> sleeps;  // never moves its elements
  for (size_t i = 0; i < kMillion; ++i) {
    Sleep& sleep =
        sleeps.emplace_back(absl::Milliseconds(1000 + random.Next() % 60'000));
    co_await Arm(sleep);
  }
}

// Creates a million timers of 1 to 61 s, and then drops all timers.
void BulkCancel(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kMillion, [&] { bench.RunRoot(runtime, ArmManyAndDrop()); });
}

Co<> SleepTwoSeconds() { co_await Sleep(absl::Seconds(2)); }

// Returns the time from `start` until all tasks were spawned, and the time
// until all had finished.
Co<std::pair<double, double>> SpawnSleepers(double start) {
  std::vector<JoinHandle<void>> handles;
  handles.reserve(kMillion);
  for (size_t i = 0; i < kMillion; ++i) {
    handles.push_back(Spawn(SleepTwoSeconds()));
  }
  const double spawned = NowSeconds() - start;
  for (JoinHandle<void>& handle : handles) (void)co_await handle;
  co_return std::pair(spawned, NowSeconds() - start);
}

void MillionSleepers(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  const double resident_before = StatusBytes("VmRSS");
  const absl::StatusOr<std::pair<double, double>> times =
      runtime.BlockOn(runtime.Spawn(SpawnSleepers(NowSeconds())));
  const auto [spawned, finished] = *times;
  const auto per_task = [](double seconds) { return seconds * 1e9 / kMillion; };
  bench.Report("wall", finished, "s");
  bench.Report("overhead_over_2s", per_task(finished - 2.0), "ns/task");
  bench.Report("spawn_phase", per_task(spawned), "ns/task");
  bench.Report("rss_per_task",
               (StatusBytes("VmHWM") - resident_before) / kMillion, "bytes");
  bench.Report("cpu", per_task(CpuSeconds()), "ns/task");
}

// Returns how late a task is woken, in microseconds. `until(deadline)` returns
// the future to wait for.
template <class Until>
Co<double> Lateness(const Clock& clock, Until until, Instant deadline) {
  auto wait = until(deadline);
  (void)co_await wait;
  co_return absl::ToDoubleMicroseconds(clock.Now() - deadline);
}

template <class Until>
Co<std::vector<double>> MeasureLateness(const Clock& clock, Until until,
                                        size_t tasks) {
  XorShift random;
  const Instant base = clock.Now() + absl::Milliseconds(200);
  std::vector<JoinHandle<double>> handles;
  handles.reserve(tasks);
  for (size_t i = 0; i < tasks; ++i) {
    handles.push_back(Spawn(Lateness(
        clock, until, base + absl::Microseconds(random.Next() % 1'000'000))));
  }
  std::vector<double> late;
  for (JoinHandle<double>& handle : handles) {
    absl::StatusOr<double> one = co_await handle;
    late.push_back(*one);
  }
  co_return late;
}

// Runs 100,000 tasks, with deadlines spread over one second.
template <class Until>
void ReportLateness(const Bench& bench, Runtime& runtime, const Clock& clock,
                    Until until) {
  absl::StatusOr<std::vector<double>> late = runtime.BlockOn(
      runtime.Spawn(MeasureLateness(clock, std::move(until), 100'000)));
  std::sort(late->begin(), late->end());
  bench.Report("p50", (*late)[late->size() / 2], "us");
  bench.Report("p99", (*late)[late->size() * 99 / 100], "us");
  bench.Report("p999", (*late)[late->size() * 999 / 1000], "us");
  bench.Report("max", late->back(), "us");
}

void WheelLateness(const Bench& bench, absl::Duration resolution) {
  Runtime runtime = bench.MakeRuntime(resolution);
  ReportLateness(bench, runtime, runtime.handle().clock(),
                 [](Instant deadline) { return SleepUntil(deadline); });
}

// Measures the lateness of the heap timer on its helper thread.
void HeapLateness(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  const auto clock = std::make_shared<Clock>();
  absl::StatusOr<heap::HelperThread> helper = heap::HelperThread::Start(clock);
  ReportLateness(bench, runtime, *clock,
                 [handle = helper->handle()](Instant deadline) {
                   return heap::Delay(handle, deadline);
                 });
}

}  // namespace

bool RunTimerWorkload(const Bench& bench) {
  if (bench.Is("timer_1m_tasks") || bench.Is("timer_1m_tasks_ct")) {
    MillionSleepers(bench);
  } else if (bench.Is("timer_seq_cancel") || bench.Is("timer_seq_cancel_ct")) {
    SequentialCancel(bench);
  } else if (bench.Is("timer_seq_cancel_x2")) {
    SequentialCancelOnTwoWorkers(bench);
  } else if (bench.Is("timer_bulk_cancel") ||
             bench.Is("timer_bulk_cancel_ct")) {
    BulkCancel(bench);
  } else if (bench.Is("timer_lateness") || bench.Is("timer_lateness_ct")) {
    WheelLateness(bench, absl::Milliseconds(1));
  } else if (bench.Is("timer_lateness_64us") ||
             bench.Is("timer_lateness_64us_ct")) {
    WheelLateness(bench, absl::Microseconds(64));
  } else if (bench.Is("timer_heap_lateness")) {
    HeapLateness(bench);
  } else {
    return false;
  }
  return true;
}

}  // namespace rouse::bench
