// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/curves/selection.h"

#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "rouse/testing/scaling/curves/workload.h"

namespace rouse::curves {
namespace {

constexpr size_t kMaxWorkers = 192;

std::vector<Workload> AllWorkloads() {
  std::vector<Workload> all;
  for (const std::span<const Workload> some :
       {TaskWorkloads(), SyncWorkloads(), DriverWorkloads()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

std::optional<Selection> Select(std::span<char* const> arguments) {
  const std::vector<Workload> all = AllWorkloads();
  Selection selection;
  for (const std::string_view argument : arguments) {
    size_t number;
    if (argument.starts_with('-')) {
      const size_t before = selection.workloads.size();
      for (const Workload& workload : all) {
        if (workload.name == argument.substr(1)) {
          selection.workloads.push_back(workload);
        }
      }
      if (selection.workloads.size() > before) continue;
    } else if (absl::SimpleAtoi(argument, &number) && number >= 1 &&
               number <= kMaxWorkers) {
      selection.worker_counts.push_back(number);
      continue;
    }
    absl::FPrintF(stderr,
                  "%s is neither a number of workers from 1 to %d nor one of:",
                  argument, kMaxWorkers);
    for (const Workload& workload : all) {
      absl::FPrintF(stderr, " -%s", workload.name);
    }
    absl::FPrintF(stderr, "\n");
    return std::nullopt;
  }
  if (selection.worker_counts.empty()) {
    absl::FPrintF(stderr, "name at least one number of workers\n");
    return std::nullopt;
  }
  if (selection.workloads.empty()) selection.workloads = all;
  return selection;
}

}  // namespace rouse::curves
