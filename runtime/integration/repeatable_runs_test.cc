// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// With a single worker and an auto-advancing clock, a program runs the same way
// each time for the same seed, and another way for another seed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/ready.h"
#include "rouse/future/select.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;

// The number of the future that drew, the number drawn, the ready future that
// won, and the time.
using Step = std::tuple<int, uint64_t, size_t, absl::Duration>;

auto Draw() {
  return PollFn(
      [](Context& cx) -> PollResult<uint64_t> { return cx.rand().Next(); });
}

Co<size_t> Winner() {
  auto won = co_await Select(Ready(0), Ready(1), Ready(2));
  co_return won.index();
}

// Returns the numbers drawn and the winners, from step `begin` to the 20th step
// after it.
std::pair<std::vector<uint64_t>, std::vector<size_t>> Chosen(
    const std::vector<Step>& steps, size_t begin) {
  std::vector<uint64_t> draws;
  std::vector<size_t> winners;
  for (size_t i = begin; i < begin + 20; ++i) {
    draws.push_back(std::get<1>(steps.at(i)));
    winners.push_back(std::get<2>(steps.at(i)));
  }
  return {std::move(draws), std::move(winners)};
}

class RepeatableRunsTest : public testing::TestWithParam<bool> {
 protected:
  // Returns the steps of tasks, and then of main futures, in a runtime with
  // this seed, or in a runtime without a seed if `seed` is nothing.
  static std::vector<Step> Run(std::optional<uint64_t> seed) {
    const std::shared_ptr<Clock> clock = AutoAdvancingClock();
    const Instant start = clock->Now();
    std::vector<Step> steps;
    Builder builder =
        GetParam() ? Builder::MultiThread() : Builder::CurrentThread();
    builder.WorkerThreads(1).WithClock(clock);
    if (seed.has_value()) builder.Seed(*seed);
    absl::StatusOr<Runtime> runtime = builder.Build();
    EXPECT_THAT(runtime, IsOk());

    // The next task depends on the numbers drawn.
    auto body = [&](int id) -> Co<> {
      for (int i = 0; i < 10; ++i) {
        const uint64_t drawn = co_await Draw();
        const size_t winner = co_await Winner();
        steps.emplace_back(id, drawn, winner, clock->Now() - start);
        if (drawn % 3 == 0) {
          co_await Yield();
        } else {
          co_await Sleep(absl::Seconds(static_cast<double>(drawn % 7)));
        }
      }
    };
    auto root = [&]() -> Co<> {
      std::vector<JoinHandle<void>> tasks;
      for (int id = 0; id < 5; ++id) {
        tasks.push_back(Spawn([&body, id] { return body(id); }));
      }
      for (JoinHandle<void>& task : tasks) EXPECT_THAT(co_await task, IsOk());
    };
    EXPECT_THAT(runtime->BlockOn(runtime->Spawn(root)), IsOk());
    for (int id = 100; id < 102; ++id) runtime->BlockOn(body(id));
    return steps;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, RepeatableRunsTest, testing::Bool(),
                         &KindOfRuntime);

TEST_P(RepeatableRunsTest, RepeatsWithTheSameSeed) {
  const std::vector<Step> steps = Run(7);
  EXPECT_EQ(steps.size(), 70u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(7), steps);
}

TEST_P(RepeatableRunsTest, DiffersWithAnotherSeed) {
  const std::vector<Step> one = Run(7);
  const std::vector<Step> other = Run(8);
  // Compares the steps of the tasks, and those of the main futures.
  for (const size_t begin : {0, 50}) {
    const auto [draws, winners] = Chosen(one, begin);
    const auto [other_draws, other_winners] = Chosen(other, begin);
    EXPECT_NE(draws, other_draws);
    EXPECT_NE(winners, other_winners);
  }
}

TEST_P(RepeatableRunsTest, RepeatsWithoutASeed) {
  EXPECT_EQ(Run(std::nullopt), Run(std::nullopt));
}

}  // namespace
}  // namespace rouse
