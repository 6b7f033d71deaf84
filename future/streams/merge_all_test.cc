// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests MergeAll and StreamMap.

#include "rouse/future/streams/merge_all.h"

#include <deque>
#include <memory>
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
#include "rouse/future/streams/stream_map.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::Pair;

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

TEST(StreamMap, DropsAStreamThatThrows) {
  StreamMap<std::string, Gen<int>> map;
  map.Insert("a", ThrowAfter(0));
  EXPECT_THROW((void)PollNextOnce(map), std::runtime_error);
  EXPECT_FALSE(map.Contains("a"));
  EXPECT_EQ(PollNextOnce(map).value(), std::nullopt);
}
#endif

TEST(StreamMap, NamesTheStreamOfAnItem) {
  CountingWaker task;
  Feed<int> a;
  Feed<int> b;
  StreamMap<std::string, Items> map;
  EXPECT_EQ(task.PollNext(map).value(), std::nullopt);
  EXPECT_TRUE(map.Insert("a", a.stream()));
  EXPECT_TRUE(map.Insert("b", b.stream()));
  EXPECT_EQ(map.size(), 2);
  EXPECT_TRUE(task.PollNext(map).IsPending());
  b.Push(2);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_THAT(task.PollNext(map).value(), Optional(Pair("b", 2)));
  EXPECT_TRUE(task.PollNext(map).IsPending());
  EXPECT_EQ(a.polls(), 1);
  b.End();
  EXPECT_TRUE(task.PollNext(map).IsPending());
  EXPECT_FALSE(b.alive());
  EXPECT_FALSE(map.Contains("b"));
  a.End();
  EXPECT_EQ(task.PollNext(map).value(), std::nullopt);
  EXPECT_TRUE(map.empty());
}

TEST(StreamMap, ReplacesAStream) {
  Feed<int> first;
  Feed<int> second;
  StreamMap<int, Items> map;
  EXPECT_TRUE(map.Insert(1, first.stream()));
  EXPECT_FALSE(map.Insert(1, second.stream()));
  EXPECT_FALSE(first.alive());
  EXPECT_EQ(map.size(), 1);
  second.Push(2);
  EXPECT_THAT(PollNextOnce(map).value(), Optional(Pair(1, 2)));
}

TEST(StreamMap, RemovesAStream) {
  CountingWaker task;
  Feed<int> a;
  Feed<int> b;
  StreamMap<char, Items> map;
  map.Insert('a', a.stream());
  map.Insert('b', b.stream());
  EXPECT_TRUE(task.PollNext(map).IsPending());
  a.Push(1);
  b.Push(2);
  EXPECT_EQ(task.wakes(), 1);
  // Woken, but removed before it is polled.
  EXPECT_TRUE(map.Remove('a'));
  EXPECT_FALSE(a.alive());
  EXPECT_FALSE(map.Remove('a'));
  EXPECT_THAT(task.PollNext(map).value(), Optional(Pair('b', 2)));
  EXPECT_TRUE(task.PollNext(map).IsPending());
  // The task may have nothing to wait for any more.
  EXPECT_TRUE(map.Remove('b'));
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_EQ(task.PollNext(map).value(), std::nullopt);
  EXPECT_TRUE(map.Insert('a', b.stream()));
}

TEST(StreamMap, RemovesTheKeyOfAnItem) {
  Feed<int> feed;
  StreamMap<std::string, Items> map;
  map.Insert("long enough to be allocated", feed.stream());
  feed.Push(1);
  const auto item = *PollNextOnce(map).value();
  EXPECT_TRUE(map.Remove(item.first));
  EXPECT_TRUE(map.empty());
}

TEST(StreamMap, GivesAStreamBack) {
  Feed<int> feed;
  StreamMap<int, Items> map;
  map.Insert(1, feed.stream());
  EXPECT_TRUE(PollNextOnce(map).IsPending());
  EXPECT_FALSE(map.Extract(2).has_value());
  std::optional<Items> stream = map.Extract(1);
  ASSERT_TRUE(stream.has_value());
  EXPECT_TRUE(feed.alive());
  EXPECT_TRUE(map.empty());
  feed.Push(4);
  EXPECT_EQ(PollNextOnce(*stream).value(), 4);
}

TEST(StreamMap, MovesWithItsStreams) {
  Feed<int> feed;
  StreamMap<int, Items> map;
  map.Insert(5, feed.stream());
  StreamMap<int, Items> moved = std::move(map);
  feed.Push(1);
  EXPECT_THAT(PollNextOnce(moved).value(), Optional(Pair(5, 1)));
  feed.End();
  EXPECT_EQ(PollNextOnce(moved).value(), std::nullopt);
}

}  // namespace
}  // namespace rouse
