// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that make, reset, await and drop delays, as fast as they can, while a
// helper thread fires them, and goes in the middle of it. What must hold: none
// ends early, none is lost (or else the test does not end), and nothing is
// touched that has gone (the sanitizers look).
//
// See stress_time.h for how long it takes.

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
#include "rouse/testing/stress_time.h"
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

// How long one test takes.
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

  // Until then, and one delay at least has been awaited, or until the timer has
  // gone, which it returns.
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

  // One operation; false if the timer has gone.
  bool Step() {
    std::optional<Delay>& kept = kept_[rand_.Below(kKept)];
    switch (rand_.Below(6)) {
      case 0:
        // The one that was there is dropped: it waits, or fires, or has fired.
        kept.emplace(handle_, Some(300));
        return true;
      case 1:
        kept.reset();
        return true;
      case 2:
        return !kept.has_value() || IsPendingOrOk(kept);
      case 3:
        // From here on it does not end at the old time.
        if (!kept.has_value()) return true;
        return kept->Reset(Some(300)).ok() && IsPendingOrOk(kept);
      case 4: {
        if (!kept.has_value()) return true;
        // It was polled, perhaps, with another waker, and may be firing.
        Delay moved = *std::exchange(kept, std::nullopt);
        return Await(moved);
      }
      default: {
        Delay delay(handle_, Some(300));
        // Now and then a reset while it fires.
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

// The threads, each with delays of its own, until `end`.
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

  // How many have found that the timer has gone.
  int told() const { return notified_; }
  int awaited() const { return awaited_; }

 private:
  std::atomic<int> notified_ = 0;
  std::atomic<int> awaited_ = 0;
  std::vector<std::thread> threads_;
};

TEST(TimerStress, FiresAllOfThem) {
  const auto clock = std::make_shared<Clock>();
  const HelperThread helper = StartOn(clock);
  Users users(helper.handle(), clock->Now() + RunTime(), 1);
  users.Join();
  EXPECT_EQ(users.told(), 0);
  EXPECT_GE(users.awaited(), kThreads);
}

TEST(TimerStress, GoesInTheMiddle) {
  const auto clock = std::make_shared<Clock>();
  const Instant end = clock->Now() + RunTime();
  FastRand rand(2);
  uint64_t rounds = 0;
  do {
    std::optional<HelperThread> helper(StartOn(clock));
    // Only the end of the timer ends them.
    Users users(helper->handle(), Instant::Max(), ++rounds);
    // By its own time, so that it goes while it is busy.
    const absl::Duration life = absl::Microseconds(rand.Below(10'000));
    EXPECT_TRUE(BlockOn(Delay(helper->handle(), life)).ok());
    helper.reset();
    users.Join();
    EXPECT_EQ(users.told(), kThreads);
  } while (clock->Now() < end);
}

}  // namespace
}  // namespace rouse::heap
