// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts that the workloads of rouse_bench share: the command line, which
// the peers' programs have too, the timing loop, and the lines of output.

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

// One run of one workload: `PROGRAM WORKLOAD [WORKERS]`. The environment
// variable BENCH_SECS sets how long to measure; 1 second by default.
class Bench {
 public:
  // Parses the command line and the environment. Returns `std::nullopt` if
  // either is malformed.
  static std::optional<Bench> FromCommandLine(int argc, char** argv);

  const std::string& workload() const { return workload_; }
  size_t workers() const { return workers_; }
  bool Is(std::string_view name) const { return workload_ == name; }

  // Workloads named ct_... or ..._ct run on a current-thread runtime.
  bool IsCurrentThread() const;

  // Returns a runtime of the kind that the workload's name asks for.
  Runtime MakeRuntime(
      absl::Duration timer_resolution = absl::Milliseconds(1)) const;

  // Returns a current-thread runtime, whatever the workload's name.
  static Runtime MakeCurrentThreadRuntime();

  // Runs `root` on a thread that runs tasks: on a worker, or inside `BlockOn()`
  // of a current-thread runtime.
  template <class F>
  void RunRoot(Runtime& runtime, F root) const {
    if (IsCurrentThread()) {
      runtime.BlockOn(std::move(root));
    } else {
      (void)runtime.BlockOn(runtime.Spawn(std::move(root)));
    }
  }

  // Warms up, repeats `iteration` for the time of the run and at least three
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

// Keeps the compiler from removing the computation of `value`.
template <class T>
void KeepAlive(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// Returns the time of the monotonic clock, in seconds since an arbitrary start.
double NowSeconds();

// Returns a field of /proc/self/status, such as "VmRSS", in bytes; 0 if the
// field does not exist.
double StatusBytes(std::string_view field);

// Returns the user and system time of the process.
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

// The groups of workloads. Each function runs the workload that `bench` names.
// Returns whether the group has a workload of that name.
bool RunSchedulerWorkload(const Bench& bench);
bool RunPingPongWorkload(const Bench& bench);
bool RunForkJoinWorkload(const Bench& bench);
bool RunTimerWorkload(const Bench& bench);
bool RunChannelWorkload(const Bench& bench);
bool RunSyncWorkload(const Bench& bench);
bool RunMemoryWorkload(const Bench& bench);

}  // namespace rouse::bench

#endif  // ROUSE_BENCHMARKS_HARNESS_H_
