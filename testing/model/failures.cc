// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/failures.h"

#include <ostream>
#include <string>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/check.h"

namespace rouse::model::failures {

using testing::HasSubstr;
using testing::StartsWith;

void PrintTo(const Failure& failure, std::ostream* out) {
  *out << failure.name;
}

std::string NameOfFailure(const testing::TestParamInfo<Failure>& info) {
  return info.param.name;
}

void FailureTest::SetUp() {
#ifdef ABSL_HAVE_THREAD_SANITIZER
  // The checker does not see allocations.
  for (const std::string name :
       {"UseAfterFree", "FreeAfterFree", "CountsReferencesByLoadAndStore",
        "DestroysTwice", "Leaks", "LeaksSeveral", "LeaksAConditionVariable",
        "SignalsADestroyedVariable"}) {
    if (GetParam().name == name) GTEST_SKIP() << "not with ThreadSanitizer";
  }
#endif
}

Result FailureTest::Run(const Options& options) {
  Options with_limit = options;
  with_limit.max_steps = GetParam().max_steps;
  return Check(with_limit, GetParam().body);
}

TEST_P(FailureTest, IsFoundAndDescribed) {
  const Result result = Run({});
  EXPECT_TRUE(result.failed);
  EXPECT_FALSE(result.complete);
  EXPECT_THAT(result.message, StartsWith(GetParam().words.front()));
  for (const std::string& word : GetParam().words) {
    EXPECT_THAT(result.message, HasSubstr(word));
  }
  EXPECT_GE(result.executions, 1);
}

TEST_P(FailureTest, IsReplayed) {
  const Result found = Run({});
  ASSERT_THAT(found.replay, StartsWith("m2:"));
  const Result replayed = Run({.replay = found.replay});
  EXPECT_TRUE(replayed.failed);
  EXPECT_EQ(replayed.message, found.message);
  EXPECT_EQ(replayed.trace, found.trace);
  EXPECT_EQ(replayed.executions, 1);
  EXPECT_EQ(replayed.pruned, 0);
}

TEST_P(FailureTest, IsTheSameOnSystemThreads) {
  const Result expected = Run({});
  const Result result = Run({.system_threads = true});
  EXPECT_TRUE(result.failed);
  EXPECT_EQ(result.message, expected.message);
  EXPECT_EQ(result.trace, expected.trace);
  EXPECT_EQ(result.replay, expected.replay);
  EXPECT_EQ(result.executions, expected.executions);
  EXPECT_EQ(result.pruned, expected.pruned);
}

TEST_P(FailureTest, IsFoundInTheOtherModes) {
  for (const Options& options :
       {Options{.mode = Mode::kNaive}, Options{.mode = Mode::kBounded},
        Options{.mode = Mode::kRandom, .max_executions = 10'000}}) {
    const Result result = Run(options);
    EXPECT_TRUE(result.failed) << static_cast<int>(options.mode);
    EXPECT_THAT(result.message, StartsWith(GetParam().words.front()));
    EXPECT_EQ(Run({.replay = result.replay}).message, result.message);
  }
}

}  // namespace rouse::model::failures
