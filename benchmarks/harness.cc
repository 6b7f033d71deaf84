// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/benchmarks/harness.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/log/check.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "rouse/runtime/runtime.h"

namespace rouse::bench {

std::optional<Bench> Bench::FromCommandLine(int argc, char** argv) {
  if (argc < 2 || argc > 3) return std::nullopt;
  Bench bench;
  bench.workload_ = argv[1];
  if (argc == 3 &&
      (!absl::SimpleAtoi(argv[2], &bench.workers_) || bench.workers_ == 0)) {
    return std::nullopt;
  }
  if (const char* seconds = getenv("BENCH_SECS");
      seconds != nullptr && !absl::SimpleAtod(seconds, &bench.seconds_)) {
    return std::nullopt;
  }
  return bench;
}

bool Bench::IsCurrentThread() const {
  return absl::StartsWith(workload_, "ct_") || absl::EndsWith(workload_, "_ct");
}

Runtime Bench::MakeRuntime(absl::Duration timer_resolution) const {
  Builder builder =
      IsCurrentThread() ? Builder::CurrentThread() : Builder::MultiThread();
  builder.TimerResolution(timer_resolution);
  absl::StatusOr<Runtime> runtime = builder.WorkerThreads(workers_).Build();
  CHECK_OK(runtime.status());
  return *std::move(runtime);
}

Runtime Bench::MakeCurrentThreadRuntime() {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  CHECK_OK(runtime.status());
  return *std::move(runtime);
}

void Bench::Measure(size_t operations,
                    absl::FunctionRef<void()> iteration) const {
  const double warm_up = NowSeconds();
  while (NowSeconds() - warm_up < 0.3 * seconds_) iteration();
  std::vector<double> seconds;
  const double start = NowSeconds();
  while (seconds.size() < 3 || NowSeconds() - start < seconds_) {
    const double begin = NowSeconds();
    iteration();
    seconds.push_back(NowSeconds() - begin);
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2,
                   seconds.end());
  absl::PrintF("%s %.1f ns/op\n", workload_,
               seconds[seconds.size() / 2] * 1e9 / operations);
}

void Bench::Report(std::string_view metric, double value,
                   std::string_view unit) const {
  absl::PrintF("%s:%s %.3f %s\n", workload_, metric, value, unit);
}

double NowSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double StatusBytes(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    const std::vector<std::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    double kibibytes;
    if (words.size() >= 2 && words[0] == field &&
        absl::SimpleAtod(words[1], &kibibytes)) {
      return kibibytes * 1024;
    }
  }
  return 0;
}

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace rouse::bench
