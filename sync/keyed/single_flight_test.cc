// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/keyed/single_flight.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/future/future.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/ready.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using Flights = SingleFlight<std::string, int>;

// Returns a callable whose future is pending until `gate` is open, and then
// returns `value`.
auto WhenOpen(const bool& gate, int value) {
  return [&gate, value] {
    return PollFn([&gate, value](Context&) -> PollResult<int> {
      if (!gate) return kPending;
      return value;
    });
  };
}

auto Now(int value) {
  return [value] { return Ready(value); };
}

TEST(SingleFlight, CallersOfOneKeyShareARun) {
  Flights flights;
  bool gate = false;
  CountingWaker task;
  auto first = flights.Run("a", WhenOpen(gate, 1));
  static_assert(Future<decltype(first)>);
  auto second = flights.Run("a", Now(2));
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
  EXPECT_EQ(flights.size(), 1u);
  gate = true;
  EXPECT_EQ(*PollOnce(first), 1);
  EXPECT_EQ(flights.size(), 0u);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*PollOnce(second), 1);
}

TEST(SingleFlight, OtherKeysRunByThemselves) {
  Flights flights;
  bool gate = false;
  auto first = flights.Run("a", WhenOpen(gate, 1));
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_EQ(*PollOnce(flights.Run("b", Now(2))), 2);
  EXPECT_EQ(flights.size(), 1u);
}

TEST(SingleFlight, ACallAfterTheEndStartsAnotherRun) {
  Flights flights;
  bool gate = false;
  auto first = flights.Run("a", WhenOpen(gate, 1));
  auto waiting = flights.Run("a", Now(2));
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(waiting).IsPending());
  gate = true;
  EXPECT_EQ(*PollOnce(first), 1);
  EXPECT_EQ(*PollOnce(flights.Run("a", Now(3))), 3);
  EXPECT_EQ(*PollOnce(waiting), 1) << "the result of its run";
}

TEST(SingleFlight, ErrorsAreShared) {
  SingleFlight<int, absl::StatusOr<int>> flights;
  bool gate = false;
  const auto fail = [&gate] {
    return PollFn([&gate](Context&) -> PollResult<absl::StatusOr<int>> {
      if (!gate) return kPending;
      return absl::StatusOr<int>(absl::AbortedError("no"));
    });
  };
  auto first = flights.Run(1, fail);
  auto second = flights.Run(1, fail);
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  gate = true;
  EXPECT_TRUE(absl::IsAborted(PollOnce(first)->status()));
  EXPECT_TRUE(absl::IsAborted(PollOnce(second)->status()));
}

TEST(SingleFlight, IfTheRunnerIsCancelledTheNextCallerRuns) {
  Flights flights;
  const bool gate = false;
  CountingWaker task;
  std::optional first(flights.Run("a", WhenOpen(gate, 1)));
  auto second = flights.Run("a", Now(2));
  EXPECT_TRUE(PollOnce(*first).IsPending());
  EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
  first.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*PollOnce(second), 2);
  EXPECT_EQ(flights.size(), 0u);
}

TEST(SingleFlight, AFutureCanBeMovedBeforeItIsPolled) {
  Flights flights;
  {
    std::optional run(flights.Run("a", Now(1)));
    auto moved = *std::move(run);
    run.reset();
    EXPECT_EQ(flights.size(), 1u);
    EXPECT_EQ(*PollOnce(moved), 1);
    EXPECT_EQ(flights.size(), 0u);
    EXPECT_PANIC(static_cast<void>(PollOnce(moved)), "was polled after");
  }
  auto unused = flights.Run("a", Now(1));
  EXPECT_EQ(flights.size(), 1u);
}

TEST(SingleFlight, ATraceShowsTheRun) {
  Flights flights;
  const bool gate = false;
  auto run = flights.Run("a", WhenOpen(gate, 1));
  EXPECT_TRUE(PollOnce(run).IsPending());
  AwaitTrace trace;
  run.Trace(trace);
  EXPECT_NE(trace.ToString().find("OnceCell::GetOrInit"), std::string::npos);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(SingleFlight, IfTheRunThrowsTheNextCallerRuns) {
  Flights flights;
  bool gate = false;
  const auto fail = [&gate] {
    return PollFn([&gate](Context&) -> PollResult<int> {
      if (gate) throw std::runtime_error("no");
      return kPending;
    });
  };
  auto first = flights.Run("a", fail);
  auto second = flights.Run("a", Now(2));
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  gate = true;
  EXPECT_THROW(static_cast<void>(PollOnce(first)), std::runtime_error);
  EXPECT_EQ(*PollOnce(second), 2);
}

#endif  // ABSL_HAVE_EXCEPTIONS

// Threads that share runs: of one key, no two runs overlap.
TEST(SingleFlight, RunsOfAKeyNeverOverlap) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 1000;
  const uint64_t seed = StressSeed();
  SingleFlight<uint32_t, int> flights;
  std::atomic<int> running[2] = {0, 0};
  std::atomic<int> overlaps = 0;
  std::atomic<int> runs = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      FastRand rand(seed + t);
      for (int i = 0; i < kRounds; ++i) {
        const uint32_t key = rand.Below(2);
        const auto make = [&, key, polls = 1 + rand.Below(3)] {
          return PollFn(
              [&, key, polls](Context& cx) mutable -> PollResult<int> {
                if (running[key].fetch_add(1) != 0) ++overlaps;
                const bool ends = --polls == 0;
                running[key].fetch_sub(1);
                if (ends) return ++runs;
                cx.waker().WakeByRef();
                return kPending;
              });
        };
        auto run = flights.Run(key, make);
        if (rand.Below(4) == 0) {
          static_cast<void>(PollOnce(run));  // and gives up
        } else {
          BlockOn(run);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(overlaps.load(), 0);
  EXPECT_GT(runs.load(), 0);
  EXPECT_EQ(flights.size(), 0u);
}

}  // namespace
}  // namespace rouse
