// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// uv_bench WORKLOAD: the timers' workloads of ../timer_workloads.cc on libuv.
// Timers call a function; no task exists. libuv reads the clock once in each
// turn of the loop, so a timer is armed without reading the clock.
#include <uv.h>

#include <cstddef>
#include <vector>

#include "harness.h"

namespace {

using peers::Bench;
using peers::NowSeconds;
using peers::XorShift;

constexpr size_t kMillion = 1'000'000;

void Ignore(uv_timer_t*) {}

// Timers of the default loop.
class Timers {
 public:
  explicit Timers(size_t count) : timers_(count) {
    for (uv_timer_t& timer : timers_) uv_timer_init(uv_default_loop(), &timer);
  }

  void Start(size_t i, uint64_t millis) {
    uv_timer_start(&timers_[i], &Ignore, millis, /*repeat=*/0);
  }

  void Stop(size_t i) { uv_timer_stop(&timers_[i]); }

 private:
  std::vector<uv_timer_t> timers_;
};

void MillionSleepers(const Bench& bench) {
  const double resident_before = peers::StatusBytes("VmRSS:");
  const double start = NowSeconds();
  Timers timers(kMillion);
  for (size_t i = 0; i < kMillion; ++i) timers.Start(i, 2000);
  const double spawned = NowSeconds() - start;
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  bench.ReportSleepers(spawned, NowSeconds() - start, resident_before,
                       kMillion);
}

// Starts and stops one timer, again and again.
void SequentialCancel(const Bench& bench) {
  Timers timer(1);
  bench.Measure(kMillion, [&] {
    XorShift random;
    for (size_t i = 0; i < kMillion; ++i) {
      timer.Start(0, 1 + random.Next() % 1000);
      timer.Stop(0);
    }
  });
}

// Starts a million timers, and then stops all timers.
void BulkCancel(const Bench& bench) {
  Timers timers(kMillion);
  bench.Measure(kMillion, [&] {
    XorShift random;
    for (size_t i = 0; i < kMillion; ++i) {
      timers.Start(i, 1000 + random.Next() % 60'000);
    }
    for (size_t i = 0; i < kMillion; ++i) timers.Stop(i);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Bench bench(argc, argv);
  if (bench.Is("timer_1m_tasks_ct")) {
    MillionSleepers(bench);
  } else if (bench.Is("timer_seq_cancel_ct")) {
    SequentialCancel(bench);
  } else if (bench.Is("timer_bulk_cancel_ct")) {
    BulkCancel(bench);
  } else {
    return bench.UnknownWorkload("uv_bench");
  }
}
