// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/streams/stream_map.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"

namespace rouse {
namespace {

using ::testing::Optional;
using ::testing::Pair;

using Items = Feed<int>::Items;

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

#ifdef ABSL_HAVE_EXCEPTIONS
Gen<int> ThrowAfter(int items) {
  for (int i = 0; i < items; ++i) co_yield i;
  throw std::runtime_error("end");
}

TEST(StreamMap, DropsAStreamThatThrows) {
  StreamMap<std::string, Gen<int>> map;
  map.Insert("a", ThrowAfter(0));
  EXPECT_THROW((void)PollNextOnce(map), std::runtime_error);
  EXPECT_FALSE(map.Contains("a"));
  EXPECT_EQ(PollNextOnce(map).value(), std::nullopt);
}
#endif

}  // namespace
}  // namespace rouse
