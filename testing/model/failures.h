// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: failures.h
// -----------------------------------------------------------------------------
//
// Models that must fail. Internal to the model checker's tests.
//
//   INSTANTIATE_TEST_SUITE_P(
//       Failures, FailureTest,
//       testing::Values(Failure{"Leaks", &Leaks, {"leak: ", "with atomic #"}}),
//       NameOfFailure);
//
// failures.cc has the tests that each instantiation runs.

#ifndef ROUSE_TESTING_MODEL_FAILURES_H_
#define ROUSE_TESTING_MODEL_FAILURES_H_

#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/testing/model/check.h"

namespace rouse::model::failures {

struct Failure {
  std::string name;
  void (*body)();
  std::vector<std::string> words;  // in the message; the first begins it
  int max_steps = 10'000;
};

void PrintTo(const Failure& failure, std::ostream* out);

std::string NameOfFailure(const testing::TestParamInfo<Failure>& info);

class FailureTest : public testing::TestWithParam<Failure> {
 protected:
  // Skips what ThreadSanitizer hides from the checker.
  void SetUp() override;

  static Result Run(const Options& options);
};

}  // namespace rouse::model::failures

#endif  // ROUSE_TESTING_MODEL_FAILURES_H_
