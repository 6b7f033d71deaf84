// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the workloads on this machine:
//
//   bazel run -c opt //testing/scaling/curves:measure -- ARGUMENTS
//
// where ARGUMENTS are [-WORKLOAD...] WORKERS...
//
// Prints a line "NAME WORKERS RATE" for each, with operations per second.

#include <cstddef>
#include <cstdio>
#include <optional>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/testing/scaling/curves/selection.h"
#include "rouse/testing/scaling/curves/workers.h"
#include "rouse/testing/scaling/curves/workload.h"

namespace rouse::curves {
namespace {

void Measure(const Workload& workload, size_t count) {
  Workers workers(count);
  Window window(absl::Milliseconds(100), absl::Milliseconds(300));
  workload.run(workers, window);
  absl::PrintF("%s %d %.0f\n", workload.name, count, window.Rate());
  std::fflush(stdout);
}

}  // namespace
}  // namespace rouse::curves

int main(int argc, char** argv) {
  const std::optional<rouse::curves::Selection> selection =
      rouse::curves::Select({argv + 1, argv + argc});
  if (!selection.has_value()) return 1;
  for (const rouse::curves::Workload& workload : selection->workloads) {
    for (const size_t count : selection->worker_counts) {
      rouse::curves::Measure(workload, count);
    }
  }
}
