// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads make, reset, await and drop delays as fast as they can, while a
// helper thread fires the delays, and is destroyed in the middle of that. No
// delay may end early, none may be lost (or else the test does not end), and no
// destroyed object may be accessed (the sanitizers check this).
//
// See stress_time.h for how long the test takes.

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
#include "rouse/testing/internal/stress_time.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/helper_thread.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

constexpr int kThreads = 16;
constexpr int kTests = 2;

// Returns the duration of one test.
absl::Duration RunTime() { return StressTime(absl::Seconds(1), kTests); }

HelperThread StartOn(std::shared_ptr<Clock> clock) {
  absl::StatusOr<HelperThread> helper = HelperThread::Start(std::move(clock));
  EXPECT_TRUE(helper.ok()) << helper.status();
  return *std::move(helper);
}

// One of the threads.
class User {
 public:
  User(const TimerHandle& handle, uint64_t seed)
      : handle_(handle), rand_(seed) {}

  // Runs until `end`, and until at least one delay has been awaited, or until
  // the timer has been destroyed. Returns whether the timer has been destroyed.
  bool RunUntil(Instant end) {
    while (Now() < end || awaited_ == 0) {
      if (!Step()) return true;
    }
    return false;
  }

  int awaited() const { return awaited_; }

 private:
  Instant Now() const { return handle_.clock().Now(); }

  absl::Duration Some(int microseconds) {
    return absl::Microseconds(rand_.Below(static_cast<uint32_t>(microseconds)));
  }

  // Does one operation. Returns false if the timer has been destroyed.
  bool Step() {
    std::optional<Delay>& kept = kept_[rand_.Below(kKept)];
    switch (rand_.Below(6)) {
      case 0:
        // The previous delay is dropped: it waits, or fires, or has fired.
        kept.emplace(handle_, Some(300));
        return true;
      case 1:
        kept.reset();
        return true;
      case 2:
        return !kept.has_value() || IsPendingOrOk(kept);
      case 3:
        // From here on the delay does not end at the old time.
        if (!kept.has_value()) return true;
        return kept->Reset(Some(300)).ok() && IsPendingOrOk(kept);
      case 4: {
        if (!kept.has_value()) return true;
        // The delay may have been polled with another waker, and may be firing.
        Delay moved = *std::exchange(kept, std::nullopt);
        return Await(moved);
      }
      default: {
        Delay delay(handle_, Some(300));
        // Sometimes resets the delay while it fires.
        if (rand_.Below(2) == 0 && !delay.Reset(Some(100)).ok()) return false;
        return Await(delay);
      }
    }
  }

  bool IsPendingOrOk(std::optional<Delay>& delay) {
    const Waker waker;
    Context cx(waker);
    const PollResult<absl::Status> result = delay->Poll(cx);
    if (result.IsPending()) return true;
    const bool ok = HasEnded(*result, *delay);
    delay.reset();
    return ok;
  }

  bool Await(Delay& delay) {
    ++awaited_;
    const absl::Status status = BlockOn(delay);
    return HasEnded(status, delay);
  }

  bool HasEnded(const absl::Status& status, const Delay& delay) {
    if (status.ok()) {
      EXPECT_GE(Now(), delay.Deadline()) << "early";
      return true;
    }
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    return false;
  }

  static constexpr uint32_t kKept = 4;

  const TimerHandle handle_;
  FastRand rand_;
  std::optional<Delay> kept_[kKept];
  int awaited_ = 0;
};

// Runs the threads, each with its own delays, until `end`.
class Users {
 public:
  Users(const TimerHandle& handle, Instant end, uint64_t seed) {
    threads_.reserve(kThreads);
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this, handle, end, seed = seed * kThreads + i] {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        User user(handle, seed);
        if (user.RunUntil(end)) ++notified_;
        awaited_ += user.awaited();
      });
    }
  }

  void Join() {
    for (std::thread& thread : threads_) thread.join();
  }

  // Returns how many threads have found that the timer was destroyed.
  int told() const { return notified_; }
  int awaited() const { return awaited_; }

 private:
  std::atomic<int> notified_ = 0;
  std::atomic<int> awaited_ = 0;
  std::vector<std::thread> threads_;
};

TEST(TimerStress, FiresEveryDelay) {
  const auto clock = std::make_shared<Clock>();
  const HelperThread helper = StartOn(clock);
  Users users(helper.handle(), clock->Now() + RunTime(), 1);
  users.Join();
  EXPECT_EQ(users.told(), 0);
  EXPECT_GE(users.awaited(), kThreads);
}

TEST(TimerStress, IsDestroyedAmidDelays) {
  const auto clock = std::make_shared<Clock>();
  const Instant end = clock->Now() + RunTime();
  FastRand rand(2);
  uint64_t rounds = 0;
  do {
    std::optional<HelperThread> helper(StartOn(clock));
    // Only the end of the timer ends these threads.
    Users users(helper->handle(), Instant::Max(), ++rounds);
    // Lives for a random time, so that the timer is destroyed while it is busy.
    const absl::Duration life = absl::Microseconds(rand.Below(10'000));
    EXPECT_TRUE(BlockOn(Delay(helper->handle(), life)).ok());
    helper.reset();
    users.Join();
    EXPECT_EQ(users.told(), kThreads);
  } while (clock->Now() < end);
}

}  // namespace
}  // namespace rouse::heap
