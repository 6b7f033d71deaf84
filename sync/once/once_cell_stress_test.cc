// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that need one value at once. Half of the attempts give up, and half
// of the makers fail. A lost turn stops the test.

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/barrier/barrier.h"
#include "rouse/sync/once/once_cell.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr int kThreads = 8;
constexpr absl::Duration kUsual = absl::Milliseconds(500);

// Yields a number of times, and then fails or succeeds.
class Making {
 public:
  Making(uint32_t yields, bool fails, std::atomic<int>& made)
      : yields_(yields), fails_(fails), made_(made) {}

  PollResult<absl::StatusOr<int>> Poll(Context& cx) {
    if (yields_ > 0) {
      --yields_;
      cx.waker().WakeByRef();
      return kPending;
    }
    if (fails_) return absl::StatusOr<int>(absl::AbortedError("not this time"));
    return absl::StatusOr<int>(++made_);
  }

 private:
  uint32_t yields_;
  bool fails_;
  std::atomic<int>& made_;
};

// Tries until there is a value.
const int* Get(OnceCell<int>& cell, std::atomic<int>& made, FastRand& rand) {
  const Waker waker;
  for (;;) {
    const uint32_t yields = rand.Below(3);
    const bool fails = rand.Below(2) == 0;
    const auto make = [yields, fails, &made] {
      return Making(yields, fails, made);
    };
    auto get = cell.GetOrTryInit(make);
    if (rand.Below(2) == 0) {
      const absl::StatusOr<const int*> value = BlockOn(get);
      if (value.ok()) return *value;
      continue;
    }
    for (uint32_t polls = 1 + rand.Below(2); polls > 0; --polls) {
      Context cx(waker);
      PollResult<absl::StatusOr<const int*>> value = get.Poll(cx);
      if (value.IsPending()) continue;
      if (value->ok()) return **value;
      break;
    }
  }
}

TEST(OnceCellStress, OneMakesTheValueForAll) {
  const uint64_t seed = StressSeed();
  const absl::Time end = absl::Now() + StressTime(kUsual);
  Barrier barrier(kThreads);
  std::optional<OnceCell<int>> cell;
  std::atomic<int> made = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      FastRand rand(seed + i);
      for (;;) {
        if (BlockOn(barrier.Wait()).is_leader()) {
          over = absl::Now() >= end;
          made = 0;
          cell.emplace();
        }
        BlockOn(barrier.Wait());
        if (over) return;
        const int* const value = Get(*cell, made, rand);
        EXPECT_EQ(value, cell->Get());
        EXPECT_EQ(*value, 1);
        EXPECT_EQ(made, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rouse
