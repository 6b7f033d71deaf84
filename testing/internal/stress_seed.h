// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stress_seed.h
// -----------------------------------------------------------------------------
//
// The seed for the random numbers of a stress test, the same in every run of
// CI. To choose another seed by hand:
//
//   tools/bazel test --test_env=ROUSE_STRESS_SEED=7 //reactor/...

#ifndef ROUSE_TESTING_INTERNAL_STRESS_SEED_H_
#define ROUSE_TESTING_INTERNAL_STRESS_SEED_H_

#include "rouse/base/cxx20.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "absl/strings/numbers.h"

namespace rouse {

// StressSeed()
//
// Returns `ROUSE_STRESS_SEED`, or `usual` if the variable is not set or not a
// number. Prints the seed, so that the run can be repeated.
inline uint64_t StressSeed(uint64_t usual = 1) {
  uint64_t seed;
  const char* const value = std::getenv("ROUSE_STRESS_SEED");
  if (value == nullptr || !absl::SimpleAtoi(value, &seed)) seed = usual;
  std::cout << "[   SEED   ] ROUSE_STRESS_SEED=" << seed << "\n" << std::flush;
  return seed;
}

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_STRESS_SEED_H_
