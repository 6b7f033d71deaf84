// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// rouse_bench WORKLOAD [WORKERS]: runs one workload on Rouse, and prints a line
// `name value unit` for each figure. BENCH_SECS is the measured time in
// seconds, by default 1. Exits with status 2 if the workload does not exist.

#include <cstdio>
#include <optional>

#include "rouse/benchmarks/harness.h"

int main(int argc, char** argv) {
  const std::optional<rouse::bench::Bench> bench =
      rouse::bench::Bench::FromCommandLine(argc, argv);
  if (!bench.has_value()) {
    fputs("usage: rouse_bench WORKLOAD [WORKERS]\n", stderr);
    return 2;
  }
  if (rouse::bench::RunSchedulerWorkload(*bench) ||
      rouse::bench::RunPingPongWorkload(*bench) ||
      rouse::bench::RunForkJoinWorkload(*bench) ||
      rouse::bench::RunTimerWorkload(*bench) ||
      rouse::bench::RunChannelWorkload(*bench) ||
      rouse::bench::RunSyncWorkload(*bench) ||
      rouse::bench::RunMemoryWorkload(*bench)) {
    return 0;
  }
  fprintf(stderr, "rouse_bench: no workload '%s'\n", bench->workload().c_str());
  return 2;
}
