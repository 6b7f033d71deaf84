// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs every workload on small virtual machines.

#include "rouse/testing/scaling/curves/workload.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/testing/scaling/curves/selection.h"
#include "rouse/testing/scaling/curves/workers.h"
#include "rouse/testing/scaling/machine.h"

namespace rouse::curves {
namespace {

// Returns the operations per second.
double RateOf(const Workload& workload, size_t count) {
  scaling::Machine machine;
  double rate = 0;
  machine.Run([&] {
    Workers workers(count);
    // An operation of these takes about a millisecond.
    const bool is_slow =
        workload.name == "sleepers" || workload.name == "fork_join";
    Window window(absl::Microseconds(100),
                  is_slow ? absl::Milliseconds(2) : absl::Microseconds(300));
    workload.run(workers, window);
    rate = window.Rate();
  });
  return rate;
}

Selection All() {
  char one[] = "1";
  char* const arguments[] = {one};
  return *Select(arguments);
}

double RateOf(std::string_view name, size_t count) {
  for (const Workload& workload : All().workloads) {
    if (workload.name == name) return RateOf(workload, count);
  }
  ADD_FAILURE() << "no workload " << name;
  return 0;
}

TEST(WorkloadTest, EachDoesWorkWithOneWorkerAndWithThree) {
  for (const Workload& workload : All().workloads) {
    SCOPED_TRACE(std::string(workload.name));
    EXPECT_GT(RateOf(workload, 1), 0);
    EXPECT_GT(RateOf(workload, 3), 0);
  }
}

TEST(WorkloadTest, WorkersThatShareNothingScale) {
  EXPECT_GT(RateOf("short_polls", 8), 6 * RateOf("short_polls", 1));
}

TEST(WorkloadTest, WorkersThatShareALockDoNot) {
  EXPECT_LT(RateOf("one_mutex", 8), RateOf("one_mutex", 1));
}

TEST(SelectTest, RefusesWhatItDoesNotKnow) {
  for (const std::string_view bad : {"-nothing", "0", "193", "x"}) {
    std::string text(bad);
    char* const arguments[] = {text.data()};
    EXPECT_FALSE(Select(arguments).has_value()) << bad;
  }
  EXPECT_FALSE(Select({}).has_value());
}

}  // namespace
}  // namespace rouse::curves
