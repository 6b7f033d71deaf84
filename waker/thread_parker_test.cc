// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/thread_parker.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// Length of a wait that a second unpark, if there were one, would end at once.
// Otherwise the wait lasts this long, and the test asserts what it can.
constexpr absl::Duration kShort = absl::Milliseconds(1);

TEST(ThreadParker, AnUnparkBeforeTheParkIsKept) {
  ThreadParker parker;
  parker.unparker().Unpark();
  parker.Park();  // would block for ever
}

TEST(ThreadParker, AnUnparkDuringTheParkEndsIt) {
  ThreadParker parker;
  std::atomic<bool> unparked = false;
  std::thread other([&unparked, unparker = parker.unparker()] {
    unparked.store(true, std::memory_order_relaxed);
    unparker.Unpark();
  });
  parker.Park();
  // Park() returns only because of the unpark, and everything before the unpark
  // is visible.
  EXPECT_TRUE(unparked.load(std::memory_order_relaxed));
  other.join();
}

TEST(ThreadParker, TwoUnparksCountAsOne) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  unparker.Unpark();
  unparker.Unpark();
  parker.Park();

  // A second token would end this park before the other thread has run.
  std::atomic<bool> unparked = false;
  std::thread other([&] {
    unparked.store(true, std::memory_order_relaxed);
    unparker.Unpark();
  });
  parker.Park();
  EXPECT_TRUE(unparked.load(std::memory_order_relaxed));
  other.join();
}

TEST(ThreadParker, ASpinUsesAnUnparkUp) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  // The first calls do not block, and make the later calls spin.
  for (int i = 0; i < 3; ++i) {
    unparker.Unpark();
    parker.SpinThenPark();
  }

  std::atomic<bool> unparked = false;
  std::thread other([&] {
    unparked.store(true, std::memory_order_relaxed);
    unparker.Unpark();
  });
  parker.SpinThenPark();
  EXPECT_TRUE(unparked.load(std::memory_order_relaxed));
  other.join();
}

TEST(ThreadParker, ATimedParkReturnsWithoutAnUnpark) {
  ThreadParker parker;
  parker.ParkFor(kShort);
  // The parker is unchanged: this unpark is for the next park.
  parker.unparker().Unpark();
  parker.Park();
}

TEST(ThreadParker, ATimedParkUsesAnUnparkUp) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  unparker.Unpark();
  parker.ParkFor(absl::InfiniteDuration());  // returns at once

  std::atomic<bool> unparked = false;
  std::thread other([&] {
    unparked.store(true, std::memory_order_relaxed);
    unparker.Unpark();
  });
  parker.Park();
  EXPECT_TRUE(unparked.load(std::memory_order_relaxed));
  other.join();
}

TEST(ThreadParker, AnUnparkEndsATimedPark) {
  ThreadParker parker;
  std::atomic<bool> unparked = false;
  std::thread other([&unparked, unparker = parker.unparker()] {
    unparked.store(true, std::memory_order_release);
    unparker.Unpark();
  });
  // A timed park may end for no reason. Without the unpark, the park would last
  // a year.
  while (!unparked.load(std::memory_order_acquire)) {
    parker.ParkFor(absl::Hours(24 * 365));
  }
  other.join();
}

TEST(ThreadParker, AParkWithoutTimeReturnsAtOnce) {
  ThreadParker parker;
  parker.ParkFor(absl::ZeroDuration());
  parker.ParkFor(absl::Seconds(-1));
  parker.ParkFor(-absl::InfiniteDuration());
}

TEST(ThreadParker, AParkWithoutTimeUsesAnUnparkUp) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  unparker.Unpark();
  parker.ParkFor(absl::ZeroDuration());

  std::atomic<bool> unparked = false;
  std::thread other([&] {
    unparked.store(true, std::memory_order_relaxed);
    unparker.Unpark();
  });
  parker.Park();
  EXPECT_TRUE(unparked.load(std::memory_order_relaxed));
  other.join();
}

TEST(ThreadParker, TheSmallestTimeIsNotRoundedToZero) {
  ThreadParker parker;
  parker.ParkFor(absl::Nanoseconds(1) / 4);
  parker.unparker().Unpark();
  parker.Park();
}

TEST(ThreadParker, AnUnparkerOutlivesTheParker) {
  std::optional<ThreadParker> parker(std::in_place);
  const ThreadParker::Unparker unparker = parker->unparker();
  Waker waker = unparker.waker().Clone();
  parker.reset();
  unparker.Unpark();
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const ThreadParker::Unparker copy = unparker;
  copy.Unpark();
  std::move(waker).Wake();
}

TEST(ThreadParker, AnUnparkerCopiesAndMoves) {
  ThreadParker parker;
  ThreadParker other;
  ThreadParker::Unparker unparker = parker.unparker();
  ThreadParker::Unparker copy = unparker;
  ThreadParker::Unparker assigned = other.unparker();
  assigned = copy;
  copy = std::move(unparker);
  assigned.Unpark();
  parker.Park();
  copy.Unpark();
  parker.Park();
}

TEST(ThreadParker, AWakerUnparks) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  unparker.waker().WakeByRef();
  parker.Park();
  unparker.waker().Clone().Wake();
  parker.Park();
}

TEST(ThreadParker, AllWakersWakeTheSameTask) {
  ThreadParker parker;
  ThreadParker other;
  const ThreadParker::Unparker a = parker.unparker();
  const ThreadParker::Unparker b = parker.unparker();
  const ThreadParker::Unparker c = other.unparker();
  EXPECT_TRUE(a.waker().WillWake(b.waker()));
  EXPECT_TRUE(a.waker().WillWake(a.waker().Clone()));
  EXPECT_FALSE(a.waker().WillWake(c.waker()));
}

TEST(ThreadParker, ShutdownUnparks) {
  ThreadParker parker;
  std::thread other([&] { parker.Shutdown(); });
  parker.Park();
  other.join();
}

}  // namespace
}  // namespace rouse
