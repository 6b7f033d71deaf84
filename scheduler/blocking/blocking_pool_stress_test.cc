// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Real threads spawn, abort, detach and join calls, while threads of the pool
// end after a very short idle time.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/scheduler/blocking/blocking_pool.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"

namespace rouse::scheduler {
namespace {

constexpr int kSpawners = 4;

// Gives work to `pool` on one thread, and counts how the work ends.
class Spawner {
 public:
  Spawner(BlockingPool& pool, uint64_t seed) : pool_(pool), rand_(seed) {}

  void RunUntil(const std::atomic<bool>& stop) {
    while (!stop.load(std::memory_order_relaxed)) Once();
  }

  // Spawns a number of calls, and decides at random what happens to each of
  // them.
  void Once() {
    std::vector<JoinHandle<uint64_t>> handles;
    const uint32_t count = 1 + rand_.Below(rand_.Below(8) == 0 ? 40 : 4);
    for (uint32_t i = 0; i < count; ++i) {
      auto call = [this, i] {
        ran_.fetch_add(1);
        if (i == 2) std::this_thread::yield();
        return uint64_t{i};
      };
      ++spawned_;
      const uint32_t kind = rand_.Below(8);
      handles.push_back(kind == 0  ? pool_.SpawnMandatory(call)
                        : kind < 4 ? pool_.SpawnShort(call)
                                   : pool_.Spawn(call));
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t fate = rand_.Below(8);
      if (fate == 0) handles[i].Abort();
      if (fate == 1) {
        ++detached_;
        continue;  // destroyed
      }
      const absl::StatusOr<uint64_t> result = BlockOn(std::move(handles[i]));
      if (result.ok()) {
        EXPECT_EQ(*result, i);
        ++joined_;
      } else {
        EXPECT_TRUE(absl::IsCancelled(result.status())) << result.status();
        ++cancelled_;
      }
    }
  }

  // Called when the pool has ended.
  void Check() const {
    EXPECT_EQ(spawned_, joined_ + cancelled_ + detached_);
    EXPECT_GE(ran_, joined_);
    EXPECT_LE(ran_, joined_ + detached_);
  }

 private:
  BlockingPool& pool_;
  FastRand rand_;
  uint64_t spawned_ = 0;
  uint64_t joined_ = 0;
  uint64_t cancelled_ = 0;
  uint64_t detached_ = 0;
  std::atomic<uint64_t> ran_{0};
};

void RunStress(absl::Duration keep_alive, size_t max_threads, bool close_amid) {
  const absl::Time end =
      absl::Now() + StressTime(absl::Milliseconds(400), /*tests=*/3);
  uint64_t seed = StressSeed();
  do {
    BlockingOptions options;
    options.keep_alive = keep_alive;
    options.max_threads = max_threads;
    const BlockingPool::Owner pool = BlockingPool::Create(std::move(options));
    std::atomic<bool> stop{false};
    std::vector<std::unique_ptr<Spawner>> spawners;
    std::vector<std::thread> threads;
    for (int i = 0; i < kSpawners; ++i) {
      spawners.push_back(std::make_unique<Spawner>(*pool, seed++));
    }
    for (const auto& spawner : spawners) {
      threads.emplace_back([&] { spawner->RunUntil(stop); });
    }
    absl::SleepFor(absl::Milliseconds(20));
    if (close_amid) pool->Close();
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(pool->Shutdown());
    for (const auto& spawner : spawners) spawner->Check();
    const BlockingPool::Metrics metrics = pool->metrics();
    EXPECT_EQ(metrics.threads, 0u);
    EXPECT_EQ(metrics.idle_threads, 0u);
    EXPECT_EQ(metrics.queue_depth, 0u);
  } while (absl::Now() < end);
}

TEST(BlockingPoolStress, ThreadsStartAndExit) {
  RunStress(absl::Microseconds(50), 512, /*close_amid=*/false);
}

TEST(BlockingPoolStress, CallsQueueAtTheLimit) {
  RunStress(absl::Seconds(10), 2, /*close_amid=*/false);
}

TEST(BlockingPoolStress, ThePoolIsClosedAmidTheWork) {
  RunStress(absl::Microseconds(50), 3, /*close_amid=*/true);
}

}  // namespace
}  // namespace rouse::scheduler
