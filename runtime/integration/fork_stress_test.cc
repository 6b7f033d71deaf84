// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs random trees of forks, which yield, wait, block, throw and are aborted,
// on runtimes that are shut down in the middle of the work. Every tree that
// ends has the right sum, and nothing is left of those that are cancelled.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/fork.h"
#include "rouse/scheduler/fork_all.h"
#include "rouse/scheduler/parallel_reduce.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"

namespace rouse {
namespace {

// Counts the coroutines of trees that exist.
std::atomic<int64_t> alive = 0;

class Counted {
 public:
  Counted() { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
};

// What the nodes of a tree may do.
struct Rules {
  bool may_throw = false;
  bool may_block = false;
};

// Returns the number of leaves.
Co<uint64_t> Tree(uint64_t seed, uint32_t depth, Rules rules) {
  const Counted counted;
  FastRand rand(seed);
  switch (rand.Below(40)) {
    case 0:
      co_await Yield();
      break;
    case 1:
      if (rules.may_block) BlockInPlace([] {});
      break;
#ifdef ABSL_HAVE_EXCEPTIONS
    case 2:
      if (rules.may_throw && depth < 4) throw std::runtime_error("thrown");
      break;
#endif
    default:
      break;
  }
  if (depth == 0) co_return 1;
  const uint64_t next = rand.Next();
  switch (rand.Below(4)) {
    case 0: {
      std::vector<Co<uint64_t>> children;
      for (uint64_t i = 0; i < 4; ++i) {
        children.push_back(Tree(next + i, depth - 1, rules));
      }
      const std::vector<uint64_t> parts = co_await ForkAll(std::move(children));
      uint64_t sum = 0;
      for (uint64_t part : parts) sum += part;
      co_return sum;
    }
    case 1: {
      auto part = [](uint64_t) -> uint64_t {
        const Counted counted;
        return 1;
      };
      const uint64_t count = uint64_t{1} << depth;
      co_return co_await ParallelReduce(uint64_t{0}, count, 4, uint64_t{0},
                                        part, std::plus<>());
    }
    default: {
      const auto [a, b] = co_await Fork(Tree(next, depth - 1, rules),
                                        Tree(next + 1, depth - 1, rules));
      co_return a + b;
    }
  }
}

// Returns what `Tree()` returns, without exceptions.
uint64_t LeavesOf(uint64_t seed, uint32_t depth) {
  FastRand rand(seed);
  rand.Below(40);
  if (depth == 0) return 1;
  const uint64_t next = rand.Next();
  uint64_t sum = 0;
  switch (rand.Below(4)) {
    case 0:
      for (uint64_t i = 0; i < 4; ++i) sum += LeavesOf(next + i, depth - 1);
      return sum;
    case 1:
      return uint64_t{1} << depth;
    default:
      return LeavesOf(next, depth - 1) + LeavesOf(next + 1, depth - 1);
  }
}

struct Started {
  uint64_t leaves;
  Rules rules;
  bool aborted;
  JoinHandle<uint64_t> handle;
};

void Round(FastRand& rand, size_t workers) {
  std::optional<Runtime> runtime =
      workers == 0 ? *Builder::CurrentThread().Build()
                   : *Builder::MultiThread().WorkerThreads(workers).Build();
  std::vector<Started> started;
  for (int i = 0; i < 8; ++i) {
    const uint64_t seed = rand.Next();
    const uint32_t depth = 1 + rand.Below(9);
    const Rules rules = {.may_throw = rand.Below(4) == 0,
                         .may_block = workers > 0 && rand.Below(2) == 0};
    started.push_back({LeavesOf(seed, depth), rules, false,
                       runtime->Spawn(Tree(seed, depth, rules))});
  }
  for (Started& tree : started) {
    if (rand.Below(4) != 0) continue;
    tree.aborted = true;
    tree.handle.Abort();
  }
  // A tree in the main future, whose forks become tasks of the workers.
  const uint64_t seed = rand.Next();
  EXPECT_EQ(runtime->BlockOn(Tree(seed, 6, Rules())), LeavesOf(seed, 6));
  const bool shut_down = rand.Below(4) == 0;
  if (shut_down) runtime.reset();
  for (Started& tree : started) {
    const absl::StatusOr<uint64_t> leaves =
        runtime.has_value() ? runtime->BlockOn(std::move(tree.handle))
                            : BlockOn(std::move(tree.handle));
    if (leaves.ok()) {
      EXPECT_EQ(*leaves, tree.leaves);
    } else if (absl::IsInternal(leaves.status())) {
      EXPECT_TRUE(tree.rules.may_throw) << leaves.status();
    } else {
      EXPECT_TRUE(tree.aborted || shut_down) << leaves.status();
    }
  }
  runtime.reset();
  EXPECT_EQ(alive, 0);
}

TEST(ForkStress, EveryTreeHasItsSumOrLeavesNothingBehind) {
  FastRand rand(StressSeed());
  const absl::Time end = absl::Now() + StressTime(absl::Seconds(3));
  int rounds = 0;
  do {
    Round(rand, rand.Below(4));
    ++rounds;
  } while (absl::Now() < end && !HasFailure());
  std::cout << rounds << " rounds\n";
}

}  // namespace
}  // namespace rouse
