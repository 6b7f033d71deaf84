// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait for copies of one future, or poll copies and destroy them,
// while another thread wakes the future. A copy that is not woken waits
// forever.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/future/shared/shared.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr int kThreads = 4;
constexpr int kSteps = 8;
constexpr absl::Duration kUsual = absl::Milliseconds(500);

// Counts up to `kSteps`, one for each wake.
struct Progress {
  AtomicWaker waker;
  std::atomic<int> steps = 0;
  int polls = 0;      // not atomic: two polls at once are a race
  int destroyed = 0;  // likewise
};

class Counting {
 public:
  explicit Counting(Progress& progress) : progress_(&progress) {}
  Counting(Counting&& other) noexcept
      : progress_(std::exchange(other.progress_, nullptr)) {}
  Counting& operator=(Counting&&) = delete;
  ~Counting() {
    if (progress_ != nullptr) ++progress_->destroyed;
  }

  PollResult<std::vector<int>> Poll(Context& cx) {
    ++progress_->polls;
    progress_->waker.Register(cx.waker());
    if (progress_->steps < kSteps) return kPending;
    return std::vector<int>(3, 7);
  }

 private:
  Progress* progress_;
};

// Polls and destroys copies, and then waits for the output unless `leaves`.
void Use(Shared<Counting> copy, FastRand& rand, bool leaves) {
  const Waker waker;
  for (uint32_t i = rand.Below(8); i > 0; --i) {
    Shared<Counting> other(copy);
    Context cx(waker);
    static_cast<void>(other.Poll(cx));
    if (rand.Below(2) == 0) copy = std::move(other);
  }
  if (leaves) return;
  EXPECT_EQ(BlockOn(copy), std::vector<int>(3, 7));
}

TEST(SharedStress, EachCopyGetsTheOutput) {
  const uint64_t seed = StressSeed();
  const absl::Time end = absl::Now() + StressTime(kUsual);
  FastRand rand(seed);
  int rounds = 0;
  do {
    Progress progress;
    std::optional<Shared<Counting>> copy((Counting(progress)));
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([mine = *copy, i, seed, rounds]() mutable {
        FastRand rand(seed + rounds * kThreads + i);
        Use(std::move(mine), rand, /*leaves=*/i % 2 == 0);
      });
    }
    copy.reset();
    for (int i = 0; i < kSteps; ++i) {
      if (rand.Below(4) == 0) std::this_thread::yield();
      ++progress.steps;
      progress.waker.Wake();
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(progress.polls, 0);
    EXPECT_EQ(progress.destroyed, 1);
    ++rounds;
  } while (absl::Now() < end);
}

}  // namespace
}  // namespace rouse
