// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the workloads of rouse_bench share: the command line that the peers'
// programs have too, the timing loop, and the lines that are printed.

#ifndef ROUSE_BENCHMARKS_HARNESS_H_
#define ROUSE_BENCHMARKS_HARNESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"

namespace rouse::bench {

// One run of one workload: `PROGRAM WORKLOAD [WORKERS]`. BENCH_SECS in the
// environment says how long to measure (1 second).
class Bench {
 public:
  // Nothing if the command line or the environment is not of that form.
  static std::optional<Bench> FromCommandLine(int argc, char** argv);

  const std::string& workload() const { return workload_; }
  size_t workers() const { return workers_; }
  bool Is(std::string_view name) const { return workload_ == name; }

  // Workloads named ct_... or ..._ct run on a current-thread runtime.
  bool IsCurrentThread() const;

  // A runtime of the kind that the workload's name asks for.
  Runtime MakeRuntime(
      absl::Duration timer_resolution = absl::Milliseconds(1)) const;

  // A current-thread one, whatever the name.
  static Runtime MakeCurrentThreadRuntime();

  // Runs `root` where tasks run: on a worker, or inside `BlockOn()` of a
  // current-thread runtime.
  template <class F>
  void RunRoot(Runtime& runtime, F root) const {
    if (IsCurrentThread()) {
      runtime.BlockOn(std::move(root));
    } else {
      (void)runtime.BlockOn(runtime.Spawn(std::move(root)));
    }
  }

  // Warms up, repeats `iteration` for the time there is and at least three
  // times, and prints the median time of an operation.
  void Measure(size_t operations, absl::FunctionRef<void()> iteration) const;

  // Prints one line of a workload that has several figures.
  void Report(std::string_view metric, double value,
              std::string_view unit) const;

 private:
  Bench() = default;

  std::string workload_;
  size_t workers_ = 2;
  double seconds_ = 1.0;
};

// Keeps the compiler from leaving out what makes `value`.
template <class T>
void KeepAlive(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// Seconds on the monotonic clock, from some start.
double NowSeconds();

// A field of /proc/self/status, such as "VmRSS", in bytes.
double StatusBytes(std::string_view field);

// User and system time of this process.
double CpuSeconds();

// The pseudo-random sequence that the peers' programs use.
class XorShift {
 public:
  uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  uint64_t state_ = 88172645463325252;
};

// The groups of workloads. Each runs the one that `bench` names and returns
// true, or false if it has none of that name.
bool RunSchedulerWorkload(const Bench& bench);
bool RunPingPongWorkload(const Bench& bench);
bool RunForkJoinWorkload(const Bench& bench);
bool RunTimerWorkload(const Bench& bench);
bool RunChannelWorkload(const Bench& bench);
bool RunSyncWorkload(const Bench& bench);

}  // namespace rouse::bench

#endif  // ROUSE_BENCHMARKS_HARNESS_H_
