// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures sleeps on a driver, as a task sees them.

#include <cstdint>
#include <deque>

#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "rouse/base/fast_rand.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using Driver = wheel::Driver<ThreadParker>;

// A task whose waker costs about as much as an executor's: it counts
// references.
class Task {
 public:
  template <class F>
  auto Poll(F& future) {
    Context cx(waker_);
    return future.Poll(cx);
  }

 private:
  Waker waker_ = Waker::FromCallable([] {});
};

Driver& SharedDriver() {
  static auto* driver = new Driver;
  return *driver;
}

// A timeout that does not fire: create, poll and drop a sleep.
void BM_ArmAndCancel(benchmark::State& state) {
  const wheel::ScopedDefault current(SharedDriver().handle());
  Task task;
  FastRand rand(state.thread_index());
  for (auto _ : state) {
    Sleep sleep(absl::Milliseconds(1 + rand.Below(1000)));
    benchmark::DoNotOptimize(task.Poll(sleep));
  }
}
BENCHMARK(BM_ArmAndCancel)->Threads(1)->Threads(2)->UseRealTime();

// Like BM_ArmAndCancel, but on a paused clock, without the system's clock.
void BM_ArmAndCancelOnAPausedClock(benchmark::State& state) {
  Driver driver;
  driver.clock().Pause();
  const wheel::ScopedDefault current(driver.handle());
  Task task;
  FastRand rand(1);
  for (auto _ : state) {
    Sleep sleep(absl::Milliseconds(1 + rand.Below(1000)));
    benchmark::DoNotOptimize(task.Poll(sleep));
  }
}
BENCHMARK(BM_ArmAndCancelOnAPausedClock);

void BM_PollAgain(benchmark::State& state) {
  Driver driver;
  Task task;
  Sleep sleep(driver.handle(), absl::Hours(1));
  for (auto _ : state) benchmark::DoNotOptimize(task.Poll(sleep));
}
BENCHMARK(BM_PollAgain);

void BM_PutOff(benchmark::State& state) {
  Driver driver;
  Task task;
  Sleep sleep(driver.handle(), absl::Hours(1));
  benchmark::DoNotOptimize(task.Poll(sleep));
  Instant deadline = driver.clock().Now() + absl::Hours(1);
  for (auto _ : state) {
    deadline += absl::Milliseconds(1);
    sleep.ResetAt(deadline);
  }
}
BENCHMARK(BM_PutOff);

// Many sleeps at once: armed, woken and dropped; the time is for one sleep.
void BM_Fire(benchmark::State& state) {
  const int64_t count = state.range(0);
  Driver driver;
  driver.clock().Pause();
  const wheel::ScopedDefault current(driver.handle());
  Task task;
  FastRand rand(1);
  for (auto _ : state) {
    std::deque<Sleep> sleeps;
    for (int64_t i = 0; i < count; ++i) {
      sleeps.emplace_back(absl::Milliseconds(1 + rand.Below(1000)));
      benchmark::DoNotOptimize(task.Poll(sleeps.back()));
    }
    driver.clock().Advance(absl::Seconds(1));
    driver.ParkFor(absl::ZeroDuration());
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(BM_Fire)->Arg(1'000)->Arg(1'000'000);

// A turn of the driver without an expired timer, beyond the turn of the driver
// below.
void BM_Turn(benchmark::State& state) {
  Driver driver;
  Task task;
  Sleep sleep(driver.handle(), absl::Hours(1));
  benchmark::DoNotOptimize(task.Poll(sleep));
  for (auto _ : state) driver.ParkFor(absl::ZeroDuration());
}
BENCHMARK(BM_Turn);

void BM_Now(benchmark::State& state) {
  const Clock clock;
  for (auto _ : state) benchmark::DoNotOptimize(clock.Now());
}
BENCHMARK(BM_Now);

}  // namespace
}  // namespace rouse
