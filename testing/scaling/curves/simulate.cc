// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the workloads on a virtual machine, a server or a small VM:
//
//   bazel run -c opt //testing/scaling/curves:simulate -- ARGUMENTS
//
// where ARGUMENTS are server|vm [-WORKLOAD...] WORKERS...
//
// Prints a line "NAME WORKERS RATE WAITING" for each, with operations per
// second and the part of all workers' time in which a worker waits for a cache
// line. Below, indented: the accesses that wait most, with their parts of that
// time, and their transfers per operation.

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/testing/scaling/costs.h"
#include "rouse/testing/scaling/curves/selection.h"
#include "rouse/testing/scaling/curves/workers.h"
#include "rouse/testing/scaling/curves/workload.h"
#include "rouse/testing/scaling/line_model.h"
#include "rouse/testing/scaling/machine.h"

namespace rouse::curves {
namespace {

using scaling::Costs;
using scaling::LineModel;
using scaling::Machine;

// The start of many workers takes milliseconds.
constexpr absl::Duration kWarmUp = absl::Milliseconds(3);
constexpr size_t kHottest = 3;

void Simulate(const Costs& costs, const Workload& workload, size_t count) {
  Machine machine(costs);
  double rate = 0;
  double stall = 0;
  std::vector<LineModel::Heat> hottest;
  machine.Run([&] {
    Workers workers(count);
    Window window(kWarmUp, workload.simulated);
    const double begin = machine.now() + absl::ToDoubleNanoseconds(kWarmUp);
    const double length = absl::ToDoubleNanoseconds(workload.simulated);
    machine.CallAt(begin, [&] { machine.lines().ForgetStalls(); });
    machine.CallAt(begin + length, [&] {
      stall = machine.lines().stall();
      hottest = machine.lines().HottestAccesses(kHottest);
    });
    workload.run(workers, window);
    rate = window.Rate();
  });
  const double seconds = absl::ToDoubleSeconds(workload.simulated);
  const double time = seconds * 1e9 * static_cast<double>(count);
  absl::PrintF("%s %d %.0f %.3f\n", workload.name, count, rate, stall / time);
  for (const LineModel::Heat& heat : hottest) {
    absl::PrintF("    %.3f %.4f %s\n", heat.stall / time,
                 static_cast<double>(heat.transfers) / (rate * seconds),
                 heat.name);
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace rouse::curves

int main(int argc, char** argv) {
  const std::string_view machine = argc > 1 ? argv[1] : "";
  if (machine != "server" && machine != "vm") {
    absl::FPrintF(stderr,
                  "usage: simulate server|vm [-WORKLOAD...] WORKERS...\n");
    return 1;
  }
  const rouse::scaling::Costs costs = machine == "vm"
                                          ? rouse::scaling::Costs::TwoCoreVm()
                                          : rouse::scaling::Costs();
  const std::optional<rouse::curves::Selection> selection =
      rouse::curves::Select({argv + 2, argv + argc});
  if (!selection.has_value()) return 1;
  for (const rouse::curves::Workload& workload : selection->workloads) {
    for (const size_t count : selection->worker_counts) {
      rouse::curves::Simulate(costs, workload, count);
    }
  }
}
