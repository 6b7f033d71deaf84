// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: runtime_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers for the tests in runtime/ and runtime/integration/.

#ifndef ROUSE_TESTING_INTERNAL_RUNTIME_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_RUNTIME_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"

namespace rouse {

// A fixture for behaviour shared by both kinds of runtime. The parameter says
// whether the runtime is multi-threaded.
//
//   using MyTest = EitherRuntimeTest;
//   INSTANTIATE_TEST_SUITE_P(Kinds, MyTest, testing::Bool(), &KindOfRuntime);
class EitherRuntimeTest : public testing::TestWithParam<bool> {
 protected:
  static Builder MakeBuilder() {
    return GetParam() ? std::move(Builder::MultiThread().WorkerThreads(2))
                      : Builder::CurrentThread();
  }
  static Runtime MakeRuntime() {
    absl::StatusOr<Runtime> runtime = MakeBuilder().Build();
    EXPECT_THAT(runtime, absl_testing::IsOk());
    return *std::move(runtime);
  }
};

inline std::string KindOfRuntime(const testing::TestParamInfo<bool>& info) {
  return info.param ? "MultiThread" : "CurrentThread";
}

// Returns a paused, auto-advancing clock. The clock starts where
// `PausedClock()` does, so that the order of timers that end at the same tick
// does not depend on how long the machine has been up.
inline std::shared_ptr<Clock> AutoAdvancingClock() {
  std::shared_ptr<Clock> clock = PausedClock();
  clock->SetAutoAdvance(true);
  return clock;
}

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_RUNTIME_FIXTURE_H_
