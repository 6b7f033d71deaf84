// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts that the peers' workloads in C++ share: the command line
// `PROGRAM WORKLOAD [WORKERS]`, the timing loop, and the lines of output.
// ../harness.h has the same parts for Rouse; nothing here depends on Rouse.

#ifndef ROUSE_BENCHMARKS_PEERS_HARNESS_H_
#define ROUSE_BENCHMARKS_PEERS_HARNESS_H_

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peers {

// Returns the time of the monotonic clock, in seconds since an arbitrary start.
inline double NowSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Returns a field of /proc/self/status, such as "VmRSS:", in bytes.
inline double StatusBytes(std::string_view field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    double kibibytes;
    if (word == field && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

// Returns the user and system time of the process.
inline double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + time.tv_usec / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Keeps the compiler from removing the computation of `value`.
template <class T>
void KeepAlive(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// The pseudo-random sequence of all programs.
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

// One run of one workload. The environment variable BENCH_SECS sets how long
// to measure; 1 second by default.
class Bench {
 public:
  Bench(int argc, char** argv)
      : workload_(argc > 1 ? argv[1] : ""),
        workers_(argc > 2 ? std::max(1, atoi(argv[2])) : 2) {
    if (const char* seconds = getenv("BENCH_SECS")) seconds_ = atof(seconds);
  }

  int workers() const { return workers_; }
  bool Is(std::string_view name) const { return workload_ == name; }

  // Workloads named ct_... or ..._ct run on one thread.
  bool IsCurrentThread() const {
    return workload_.starts_with("ct_") || workload_.ends_with("_ct");
  }

  // Warms up, repeats `iteration` for the time of the run and at least three
  // times, and prints the median time of an operation.
  template <class F>
  void Measure(size_t operations, F iteration) const {
    const double warm_up = NowSeconds();
    while (NowSeconds() - warm_up < 0.3 * seconds_) iteration();
    std::vector<double> seconds;
    const double start = NowSeconds();
    while (seconds.size() < 3 || NowSeconds() - start < seconds_) {
      const double begin = NowSeconds();
      iteration();
      seconds.push_back(NowSeconds() - begin);
    }
    std::sort(seconds.begin(), seconds.end());
    printf("%s %.1f ns/op\n", workload_.c_str(),
           seconds[seconds.size() / 2] * 1e9 / operations);
  }

  // Prints one line of a workload that has several figures.
  void Report(const char* metric, double value, const char* unit) const {
    printf("%s:%s %.3f %s\n", workload_.c_str(), metric, value, unit);
  }

  // Prints the lines of `timer_1m_tasks`. Times are in seconds since the start.
  void ReportSleepers(double spawned, double finished, double resident_before,
                      double tasks) const {
    Report("wall", finished, "s");
    Report("overhead_over_2s", (finished - 2.0) * 1e9 / tasks, "ns/task");
    Report("spawn_phase", spawned * 1e9 / tasks, "ns/task");
    Report("rss_per_task", (StatusBytes("VmHWM:") - resident_before) / tasks,
           "bytes");
    Report("cpu", CpuSeconds() * 1e9 / tasks, "ns/task");
  }

  // Prints the lines of `timer_lateness`, from the lateness of each task.
  void ReportLateness(std::vector<double> micros) const {
    std::sort(micros.begin(), micros.end());
    Report("p50", micros[micros.size() / 2], "us");
    Report("p99", micros[micros.size() * 99 / 100], "us");
    Report("p999", micros[micros.size() * 999 / 1000], "us");
    Report("max", micros.back(), "us");
  }

  // Returns the exit status of a program that does not have the workload.
  int UnknownWorkload(const char* program) const {
    fprintf(stderr, "%s: no workload '%s'\n", program, workload_.c_str());
    return 2;
  }

 private:
  std::string workload_;
  int workers_;
  double seconds_ = 1.0;
};

}  // namespace peers

#endif  // ROUSE_BENCHMARKS_PEERS_HARNESS_H_
