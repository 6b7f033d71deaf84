// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/streams/merge_all.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/stream.h"
#include "rouse/future/streams/repeat.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Items = Feed<int>::Items;

TEST(MergeAll, PollsOnlyTheStreamsThatWereWoken) {
  constexpr int kStreams = 100;
  std::deque<Feed<int>> feeds;
  std::vector<Items> streams;
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(feeds.emplace_back().stream());
  }
  CountingWaker task;
  auto merged = MergeAll(std::move(streams));
  EXPECT_EQ(merged.size(), kStreams);
  EXPECT_TRUE(task.PollNext(merged).IsPending());
  feeds[7].Push(70);
  feeds[9].Push(90);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(merged).value(), 70);
  EXPECT_EQ(task.PollNext(merged).value(), 90);
  EXPECT_TRUE(task.PollNext(merged).IsPending());
  for (int i = 0; i < kStreams; ++i) {
    // A stream that had an item is polled again.
    EXPECT_EQ(feeds[i].polls(), i == 7 || i == 9 ? 3 : 1) << i;
  }
}

TEST(MergeAll, PollsAStreamAgainAfterAnItem) {
  CountingWaker task;
  Feed<int> feed;
  MergeAllStream<Items> merged;
  merged.Push(feed.stream());
  feed.Push(1);
  feed.Push(2);
  EXPECT_EQ(task.PollNext(merged).value(), 1);
  EXPECT_EQ(task.PollNext(merged).value(), 2);
  EXPECT_TRUE(task.PollNext(merged).IsPending());
  feed.Push(3);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(merged).value(), 3);
}

TEST(MergeAll, DestroysAStreamAtItsEnd) {
  CountingWaker task;
  Feed<int> feeds[2];
  std::vector<Items> streams;
  streams.push_back(feeds[0].stream());
  streams.push_back(feeds[1].stream());
  auto merged = MergeAll(std::move(streams));
  feeds[0].End();
  EXPECT_TRUE(task.PollNext(merged).IsPending());
  EXPECT_FALSE(feeds[0].alive());
  EXPECT_EQ(merged.size(), 1);
  feeds[1].End();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(merged).value(), std::nullopt);
  EXPECT_TRUE(merged.empty());
  EXPECT_EQ(task.PollNext(merged).value(), std::nullopt);
}

TEST(MergeAll, LetsTheStreamsTakeTurns) {
  CountingWaker task;
  std::vector<RepeatStream<int>> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(Repeat(i));
  auto merged = MergeAll(std::move(streams));
  std::vector<int> items;
  for (int i = 0; i < 6; ++i) items.push_back(*task.PollNext(merged).value());
  EXPECT_THAT(items, ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(MergeAll, TakesAUnitForEachItem) {
  CountingWaker task;
  Feed<int> feed;
  for (uint32_t i = 0; i <= kBudgetPerPoll; ++i) feed.Push(1);
  MergeAllStream<Items> merged;
  merged.Push(feed.stream());
  Context cx(task.waker());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(merged.PollNext(cx).IsReady());
  }
  EXPECT_TRUE(merged.PollNext(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(merged).value(), 1);
}

TEST(MergeAll, WakesTheTaskForAStreamThatIsAdded) {
  CountingWaker task;
  Feed<int> feeds[2];
  MergeAllStream<Items> merged;
  EXPECT_EQ(task.PollNext(merged).value(), std::nullopt);
  merged.Push(feeds[0].stream());
  EXPECT_TRUE(task.PollNext(merged).IsPending());
  feeds[1].Push(2);
  merged.Push(feeds[1].stream());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(merged).value(), 2);
}

TEST(MergeAll, DestroysTheStreams) {
  Feed<int> feed;
  {
    MergeAllStream<Items> merged;
    merged.Push(feed.stream());
    auto moved = std::move(merged);
    EXPECT_TRUE(feed.alive());
    EXPECT_EQ(moved.size(), 1);
  }
  EXPECT_FALSE(feed.alive());
}

TEST(MergeAll, TracesEachStream) {
  Feed<int> feeds[2];
  MergeAllStream<Items> merged;
  merged.Push(feeds[0].stream());
  merged.Push(feeds[1].stream());
  AwaitTrace trace;
  trace.Add(merged);
  EXPECT_THAT(trace.ToString(), HasSubstr("MergeAll"));
  EXPECT_EQ(trace.steps().size(), 3);
}

#ifdef ABSL_HAVE_EXCEPTIONS
Gen<int> ThrowAfter(int items) {
  for (int i = 0; i < items; ++i) co_yield i;
  throw std::runtime_error("end");
}

TEST(MergeAll, DropsAStreamThatThrows) {
  MergeAllStream<Gen<int>> merged;
  merged.Push(ThrowAfter(0));
  merged.Push(ThrowAfter(1));
  EXPECT_THROW((void)PollNextOnce(merged), std::runtime_error);
  EXPECT_EQ(merged.size(), 1);
  EXPECT_EQ(PollNextOnce(merged).value(), 0);
  EXPECT_THROW((void)PollNextOnce(merged), std::runtime_error);
  EXPECT_EQ(PollNextOnce(merged).value(), std::nullopt);
}
#endif

}  // namespace
}  // namespace rouse
