// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the marks in a product. The mutants of the marks are tested in
// testing/model/mutation_test.cc.

#include "rouse/base/mutable_step.h"

#include <string>

#include "gtest/gtest.h"

namespace rouse {
namespace {

static_assert(MutableCondition(true));
static_assert(!MutableCondition(false));

// A mark is no more than the marked step, and can be used where a constant is
// evaluated.
constexpr int Steps() {
  int number = 1;
  ROUSE_MUTABLE_CALL(number += 2);
  ROUSE_MUTABLE_ORDER(number *= 2, number += 1);
  return number;
}
static_assert(Steps() == 7);

TEST(MutableStepTest, StepsAreTakenOnceAndInTheirOrder) {
  std::string steps;
  ROUSE_MUTABLE_CALL(steps += "a");
  ROUSE_MUTABLE_ORDER(steps += "b", steps += "c");
  if (MutableCondition(steps == "abc")) ROUSE_MUTABLE_CALL(steps += "d");
  EXPECT_EQ(steps, "abcd");
}

}  // namespace
}  // namespace rouse
