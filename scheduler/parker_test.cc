// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/parker.h"

#include <atomic>
#include <memory>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/scheduler/driver.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

// A driver on a futex that counts the calls.
class CountingDriver {
 public:
  using Unparker = ThreadParker::Unparker;

  Unparker unparker() { return parker_.unparker(); }
  void Park() {
    ++parks;
    entered.Notify();
    parker_.Park();
  }
  void ParkFor(absl::Duration) { ++polls; }
  void Shutdown() {}
  absl::Duration PrepareToWait() {
    ++waits;
    return absl::Seconds(7);
  }

  int parks = 0;
  int polls = 0;
  int waits = 0;
  absl::Notification entered;

 private:
  ThreadParker parker_;
};

class ParkerTest : public ::testing::Test {
 protected:
  CountingDriver counting_;
  SharedDriver driver_{std::make_unique<DriverRef<CountingDriver>>(counting_)};
};

// Tokio #5223: the parker checks for events all the same.
TEST_F(ParkerTest, AnUnparkBeforeTheParkEndsThePark) {
  Parker parker(driver_);
  parker.Unpark();
  parker.Park();
  EXPECT_EQ(counting_.parks, 0);
  EXPECT_EQ(counting_.polls, 1);
}

TEST_F(ParkerTest, AnUnparkBeforeAParkBesideTheDriverEndsThePark) {
  Parker parker(driver_);
  ASSERT_TRUE(driver_.TryHold());
  parker.Unpark();
  parker.Park();
  EXPECT_EQ(counting_.polls, 0);
  driver_.Release();
}

TEST_F(ParkerTest, SeveralUnparksCountAsOne) {
  Parker parker(driver_);
  parker.Unpark();
  parker.Unpark();
  parker.Park();
  std::thread other([&] {
    counting_.entered.WaitForNotification();
    parker.Unpark();
  });
  parker.Park();
  EXPECT_EQ(counting_.parks, 1);
  other.join();
}

TEST_F(ParkerTest, OneWorkerParksInTheDriverAndTheOtherBesideIt) {
  Parker first(driver_);
  Parker second(driver_);
  std::thread in_driver([&] { first.Park(); });
  counting_.entered.WaitForNotification();
  std::thread beside([&] { second.Park(); });
  second.Unpark();
  beside.join();
  first.Unpark();
  in_driver.join();
  EXPECT_EQ(counting_.parks, 1);
}

TEST_F(ParkerTest, PollingTheDriverIsLeftToItsHolder) {
  Parker parker(driver_);
  parker.PollDriver();
  EXPECT_EQ(counting_.polls, 1);
  ASSERT_TRUE(driver_.TryHold());
  parker.PollDriver();
  EXPECT_EQ(counting_.polls, 1);
  driver_.Release();
}

TEST_F(ParkerTest, AWaitElsewhereHasTheDriverUntilItsEnd) {
  Parker parker(driver_);
  EXPECT_EQ(parker.BeginWait(), absl::Seconds(7));
  EXPECT_TRUE(driver_.IsHeld());
  EXPECT_EQ(counting_.waits, 1);
  parker.EndWait();
  EXPECT_FALSE(driver_.IsHeld());
  EXPECT_EQ(counting_.polls, 1);
  EXPECT_EQ(counting_.parks, 0);
}

TEST_F(ParkerTest, AnUnparkBeforeAWaitElsewhereEndsTheWait) {
  Parker parker(driver_);
  parker.Unpark();
  EXPECT_EQ(parker.BeginWait(), absl::ZeroDuration());
  EXPECT_EQ(counting_.waits, 0);
  parker.EndWait();
  EXPECT_FALSE(parker.IsUnparked());
  EXPECT_EQ(parker.BeginWait(), absl::Seconds(7));
  parker.EndWait();
}

TEST_F(ParkerTest, AnUnparkDuringAWaitElsewhereReachesTheDriver) {
  Parker parker(driver_);
  EXPECT_EQ(parker.BeginWait(), absl::Seconds(7));
  parker.Unpark();
  counting_.Park();  // returns at once
  parker.EndWait();
}

TEST_F(ParkerTest, AWaitElsewhereIsForASingleWorker) {
  Parker first(driver_);
  Parker second(driver_);
  EXPECT_EQ(first.BeginWait(), absl::Seconds(7));
  EXPECT_PANIC(second.BeginWait(), "another worker has the driver");
  first.EndWait();
}

TEST(ParkerOfAnotherDriver, CannotWaitElsewhere) {
  ThreadParker bottom;
  SharedDriver driver(std::make_unique<DriverRef<ThreadParker>>(bottom));
  Parker parker(driver);
  EXPECT_PANIC(parker.BeginWait(), "cannot wait in another event loop");
}

// Two threads take turns. A lost unpark would leave both asleep.
TEST(ParkerStress, PingPongLosesNoUnpark) {
  constexpr int kRounds = 20'000;
  ThreadParker bottom;
  SharedDriver driver(std::make_unique<DriverRef<ThreadParker>>(bottom));
  Parker ping(driver);
  Parker pong(driver);
  std::atomic<int> turn{0};
  const auto play = [&turn](int me, Parker& mine, Parker& other) {
    for (int i = 0; i < kRounds; ++i) {
      // Relaxed: the unparks give the order.
      while (turn.load(std::memory_order_relaxed) % 2 != me) mine.Park();
      turn.fetch_add(1, std::memory_order_relaxed);
      other.Unpark();
    }
  };
  std::thread thread([&] { play(1, pong, ping); });
  play(0, ping, pong);
  thread.join();
  EXPECT_EQ(turn.load(), 2 * kRounds);
}

}  // namespace
}  // namespace rouse::scheduler
