// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that make, reset, await and cancel delays, as fast as they can, while
// a helper thread fires them, and goes in the middle of it.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/helper_thread.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

constexpr int kThreads = 4;
constexpr int kSteps = 2'000;

// Until the timer has gone, or all steps are made. Returns how many were.
int Use(const TimerHandle& handle, const Clock& clock, uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  FastRand rand(seed);
  std::optional<Delay> kept;
  for (int step = 0; step < kSteps; ++step) {
    const absl::Duration duration = absl::Microseconds(rand.Below(300));
    switch (rand.Below(4)) {
      case 0:
        kept.emplace(handle, duration);
        break;
      case 1:
        kept.reset();
        break;
      case 2: {
        if (!kept.has_value()) break;
        if (!kept->Reset(duration).ok()) return step;
        const Waker waker;
        Context cx(waker);
        const PollResult<absl::Status> result = kept->Poll(cx);
        if (result.IsPending()) break;
        if (!result->ok()) return step;
        EXPECT_GE(clock.Now(), kept->FiresAt());
        break;
      }
      default: {
        Delay delay(handle, duration);
        // Now and then a reset while it is being waited for, and fired.
        if (rand.Below(2) == 0 && !delay.Reset(duration / 2).ok()) return step;
        const absl::Status status = BlockOn(delay);
        if (!status.ok()) {
          EXPECT_TRUE(absl::IsUnavailable(status));
          return step;
        }
        EXPECT_GE(clock.Now(), delay.FiresAt());
      }
    }
  }
  return kSteps;
}

void Try(bool goes_in_the_middle) {
  const auto clock = std::make_shared<Clock>();
  absl::StatusOr<HelperThread> started = HelperThread::Start(clock);
  ASSERT_TRUE(started.ok()) << started.status();
  std::optional<HelperThread> helper(*std::move(started));
  const TimerHandle handle = helper->handle();
  std::atomic<int> steps = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(
        [&, i] { steps += Use(handle, *clock, static_cast<uint64_t>(i)); });
  }
  if (goes_in_the_middle) {
    // By its own time, so that it goes while it is busy.
    EXPECT_TRUE(BlockOn(Delay(handle, absl::Milliseconds(20))).ok());
    helper.reset();
  }
  for (std::thread& thread : threads) thread.join();
  if (!goes_in_the_middle) {
    EXPECT_EQ(steps, kThreads * kSteps);
  }
}

TEST(TimerStress, FiresAllOfThem) { Try(false); }

TEST(TimerStress, GoesInTheMiddle) {
  for (int i = 0; i < 10; ++i) Try(true);
}

}  // namespace
}  // namespace rouse::heap
