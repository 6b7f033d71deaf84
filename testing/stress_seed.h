// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stress_seed.h
// -----------------------------------------------------------------------------
//
// What a stress test draws its random numbers from: the same in CI each time,
// and another by hand:
//
//   tools/bazel test --test_env=ROUSE_STRESS_SEED=7 //reactor/...

#ifndef ROUSE_TESTING_STRESS_SEED_H_
#define ROUSE_TESTING_STRESS_SEED_H_

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "absl/strings/numbers.h"

namespace rouse {

// StressSeed()
//
// `ROUSE_STRESS_SEED`; `usual` if that is not set, or no number. Prints it, so
// that it can be had again.
inline uint64_t StressSeed(uint64_t usual = 1) {
  uint64_t seed;
  const char* const value = std::getenv("ROUSE_STRESS_SEED");
  if (value == nullptr || !absl::SimpleAtoi(value, &seed)) seed = usual;
  std::cout << "[   SEED   ] ROUSE_STRESS_SEED=" << seed << "\n" << std::flush;
  return seed;
}

}  // namespace rouse

#endif  // ROUSE_TESTING_STRESS_SEED_H_
