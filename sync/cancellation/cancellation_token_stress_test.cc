// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that grow a tree of tokens, wait for the tokens and drop them, while
// the tree is cancelled from its root and in between. A waiter that is not
// notified waits forever.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/barrier/barrier.h"
#include "rouse/sync/cancellation/cancellation_token.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr int kThreads = 8;
constexpr int kSteps = 40;
constexpr absl::Duration kUsual = absl::Milliseconds(500);

// One thread's part of a round.
void Grow(const CancellationToken& root, FastRand& rand) {
  const Waker waker;
  std::vector<CancellationToken> tokens = {root};
  for (int step = 0; step < kSteps; ++step) {
    const size_t which = rand.Below(static_cast<uint32_t>(tokens.size()));
    switch (rand.Below(6)) {
      case 0:
      case 1:
        tokens.push_back(tokens[which].ChildToken());
        break;
      case 2:
        // Any children of the token then belong to another.
        if (which != 0) tokens.erase(tokens.begin() + which);
        break;
      case 3:
        if (which != 0) {
          tokens[which].Cancel();
          EXPECT_TRUE(tokens[which].ChildToken().IsCancelled());
        }
        break;
      default: {
        auto cancelled = tokens[which].CancelledOwned();
        Context cx(waker);
        const bool was_cancelled = tokens[which].IsCancelled();
        const bool ready = cancelled.Poll(cx).IsReady();
        EXPECT_TRUE(ready || !was_cancelled);
      }
    }
  }
  // All tokens below the root are notified, at the latest by the root's
  // cancellation.
  for (const CancellationToken& token : tokens) BlockOn(token.Cancelled());
}

TEST(CancellationTokenStress, AllDescendantsOfARootAreNotified) {
  const uint64_t seed = StressSeed();
  const absl::Time end = absl::Now() + StressTime(kUsual);
  Barrier barrier(kThreads);
  std::optional<CancellationToken> root;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      FastRand rand(seed + i);
      for (;;) {
        if (BlockOn(barrier.Wait()).is_leader()) {
          over = absl::Now() >= end;
          root.emplace();
        }
        BlockOn(barrier.Wait());
        if (over) return;
        const CancellationToken mine = *root;
        if (i == 0) {
          for (uint32_t turns = rand.Below(200); turns > 0; --turns) {
            std::this_thread::yield();
          }
          mine.Cancel();
        } else {
          Grow(mine, rand);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rouse
