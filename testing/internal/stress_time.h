// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stress_time.h
// -----------------------------------------------------------------------------
//
// The duration of a stress test: a moment in CI, and any time by hand:
//
//   tools/bazel test --test_env=ROUSE_STRESS_SECONDS=20 //timer/...

#ifndef ROUSE_TESTING_INTERNAL_STRESS_TIME_H_
#define ROUSE_TESTING_INTERNAL_STRESS_TIME_H_

#include "rouse/base/cxx20.h"

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"

namespace rouse {

// StressTime()
//
// Returns the share of `ROUSE_STRESS_SECONDS` for one of `tests` tests that run
// one after another. Returns `usual` if the variable is not set or not a
// number.
inline absl::Duration StressTime(absl::Duration usual, int tests = 1) {
  const char* const value = std::getenv("ROUSE_STRESS_SECONDS");
  double seconds;
  if (value == nullptr || !absl::SimpleAtod(value, &seconds)) return usual;
  return absl::Seconds(seconds) / tests;
}

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_STRESS_TIME_H_
