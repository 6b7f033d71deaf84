// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the streams whose items wait for the time: ChunksTimeout, Throttle,
// Debounce.

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/chunks_timeout.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/debounce.h"
#include "rouse/timer/throttle.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::SizeIs;

class StreamPaceTest : public testing::Test {
 protected:
  void Pass(absl::Duration d) {
    driver_->clock().Advance(d);
    driver_->ParkFor(absl::ZeroDuration());
  }

  CountingWaker task_;
  Feed<int> feed_;
  std::optional<wheel::Driver<ThreadParker>> driver_{
      std::in_place, wheel::Options{.clock = PausedClock()}};
  wheel::ScopedDefault current_{driver_->handle()};
};

using ChunksTimeoutTest = StreamPaceTest;
using ThrottleTest = StreamPaceTest;
using DebounceTest = StreamPaceTest;

TEST_F(ChunksTimeoutTest, GivesAFullChunkAtOnce) {
  auto stream = feed_.stream() | ChunksTimeout(2, absl::Milliseconds(10));
  for (int i = 1; i <= 5; ++i) feed_.Push(i);
  EXPECT_THAT(*task_.PollNext(stream).value(), ElementsAre(1, 2));
  EXPECT_THAT(*task_.PollNext(stream).value(), ElementsAre(3, 4));
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  feed_.End();
  EXPECT_THAT(*task_.PollNext(stream).value(), ElementsAre(5));
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
}

TEST_F(ChunksTimeoutTest, MeasuresTheTimeFromTheFirstItem) {
  auto stream = feed_.stream() | ChunksTimeout(9, absl::Milliseconds(10));
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  // No time runs for an empty chunk.
  Pass(absl::Milliseconds(50));
  EXPECT_EQ(task_.wakes(), 0);
  feed_.Push(1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(6));
  feed_.Push(2);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  EXPECT_EQ(task_.wakes(), 2);
  Pass(absl::Milliseconds(5));
  EXPECT_EQ(task_.wakes(), 3);
  EXPECT_THAT(*task_.PollNext(stream).value(), ElementsAre(1, 2));

  // The next chunk has the whole time again.
  feed_.Push(3);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(9));
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(2));
  EXPECT_THAT(*task_.PollNext(stream).value(), ElementsAre(3));
}

TEST_F(ChunksTimeoutTest, TakesAUnitForEachItem) {
  const uint32_t count = kBudgetPerPoll + 5;
  auto stream = feed_.stream() | ChunksTimeout(count, absl::Hours(1));
  for (uint32_t i = 0; i < count; ++i) feed_.Push(1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(task_.PollNext(stream).value(), Optional(SizeIs(count)));
}

TEST_F(ChunksTimeoutTest, OfNoItemsIsAPanic) {
  EXPECT_PANIC(static_cast<void>(ChunksTimeout(0, absl::Seconds(1))),
               "ChunksTimeout: the size is 0");
}

TEST_F(ChunksTimeoutTest, EndsWithTheDriver) {
  auto stream = feed_.stream() | ChunksTimeout(9, absl::Milliseconds(10));
  feed_.Push(1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  driver_->Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(*task_.PollNext(stream).value(), ElementsAre(1));
  EXPECT_FALSE(feed_.alive());
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
}

TEST_F(ThrottleTest, GivesAnItemInEachPeriod) {
  auto stream = feed_.stream() | Throttle(absl::Milliseconds(10));
  for (int i = 1; i <= 3; ++i) feed_.Push(i);
  EXPECT_EQ(task_.PollNext(stream).value(), 1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  // The stream is not polled, and the producer waits.
  EXPECT_EQ(feed_.left(), 2);
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_THAT(trace.ToString(), HasSubstr("Sleep"));
  Pass(absl::Milliseconds(11));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(task_.PollNext(stream).value(), 2);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(11));
  EXPECT_EQ(task_.PollNext(stream).value(), 3);
}

TEST_F(ThrottleTest, CountsTheTimeOfTheCaller) {
  auto stream = feed_.stream() | Throttle(absl::Milliseconds(10));
  feed_.Push(1);
  feed_.Push(2);
  EXPECT_EQ(task_.PollNext(stream).value(), 1);
  Pass(absl::Milliseconds(11));
  EXPECT_EQ(task_.PollNext(stream).value(), 2);
}

TEST_F(ThrottleTest, DelaysNoItemThatComesLater) {
  auto stream = feed_.stream() | Throttle(absl::Milliseconds(10));
  feed_.Push(1);
  EXPECT_EQ(task_.PollNext(stream).value(), 1);
  Pass(absl::Milliseconds(11));
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  feed_.Push(2);
  EXPECT_EQ(task_.PollNext(stream).value(), 2);
  feed_.End();
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(11));
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
}

TEST_F(ThrottleTest, EndsWithTheDriver) {
  auto items = feed_.stream();
  auto stream = items | Throttle(absl::Milliseconds(10));
  feed_.Push(1);
  feed_.Push(2);
  EXPECT_EQ(task_.PollNext(stream).value(), 1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  driver_->Shutdown();
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
  EXPECT_EQ(feed_.left(), 1);
}

TEST_F(DebounceTest, GivesTheItemBeforeAPause) {
  auto stream = feed_.stream() | Debounce(absl::Milliseconds(10));
  feed_.Push(1);
  feed_.Push(2);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(6));
  feed_.Push(3);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(6));
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(6));
  EXPECT_EQ(task_.PollNext(stream).value(), 3);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(50));
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
}

TEST_F(DebounceTest, GivesAnItemFollowedByAPauseInWhichNobodyPolled) {
  auto stream = feed_.stream() | Debounce(absl::Milliseconds(10));
  feed_.Push(1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(50));
  feed_.Push(2);
  EXPECT_EQ(task_.PollNext(stream).value(), 1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  Pass(absl::Milliseconds(11));
  EXPECT_EQ(task_.PollNext(stream).value(), 2);
}

TEST_F(DebounceTest, GivesTheLatestItemAtTheEnd) {
  auto stream = feed_.stream() | Debounce(absl::Milliseconds(10));
  feed_.Push(1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  feed_.Push(2);
  feed_.End();
  EXPECT_EQ(task_.PollNext(stream).value(), 2);
  EXPECT_FALSE(feed_.alive());
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
}

TEST_F(DebounceTest, TakesAUnitForEachItem) {
  auto stream = feed_.stream() | Debounce(absl::Milliseconds(10));
  for (uint32_t i = 0; i <= kBudgetPerPoll; ++i) feed_.Push(1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(feed_.left(), 0);
}

TEST_F(DebounceTest, EndsWithTheDriver) {
  auto stream = feed_.stream() | Debounce(absl::Milliseconds(10));
  feed_.Push(1);
  EXPECT_TRUE(task_.PollNext(stream).IsPending());
  driver_->Shutdown();
  EXPECT_EQ(task_.PollNext(stream).value(), 1);
  EXPECT_EQ(task_.PollNext(stream).value(), std::nullopt);
}

}  // namespace
}  // namespace rouse
