// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: selection.h
// -----------------------------------------------------------------------------
//
// The arguments of the programs that run workloads: "[-WORKLOAD...]
// WORKERS...".

#ifndef ROUSE_TESTING_SCALING_CURVES_SELECTION_H_
#define ROUSE_TESTING_SCALING_CURVES_SELECTION_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rouse/testing/scaling/curves/workload.h"

namespace rouse::curves {

// Selection
struct Selection {
  // All workloads if the arguments name none.
  std::vector<Workload> workloads;
  std::vector<size_t> worker_counts;
};

// Returns nothing, and prints a message, if an argument is neither the name of
// a workload nor a number from 1 to 192, or if there is no number.
std::optional<Selection> Select(std::span<char* const> arguments);

}  // namespace rouse::curves

#endif  // ROUSE_TESTING_SCALING_CURVES_SELECTION_H_
