// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the adapters that leave out the beginning or the end of a stream,
// except TakeUntil: Skip, SkipWhile, TakeWhile, MapWhile, Fuse.

#include <optional>
#include <stdexcept>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/adapters/fuse.h"
#include "rouse/future/adapters/map_while.h"
#include "rouse/future/adapters/skip.h"
#include "rouse/future/adapters/skip_while.h"
#include "rouse/future/adapters/take_while.h"
#include "rouse/future/collect.h"
#include "rouse/future/iter.h"
#include "rouse/future/many/futures_unordered.h"
#include "rouse/future/ready.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool IsSmall(int x) { return x < 3; }
std::optional<int> TenfoldOfSmall(int x) {
  if (!IsSmall(x)) return std::nullopt;
  return 10 * x;
}

TEST(Skip, LeavesOutTheFirstItems) {
  auto some = Iter(std::vector{1, 2, 3, 4}) | Skip(2) | Collect();
  EXPECT_THAT(PollOnce(some).value(), ElementsAre(3, 4));
  auto all = Iter(std::vector{1, 2}) | Skip(0) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(1, 2));
  auto none = Iter(std::vector{1, 2}) | Skip(5) | Collect();
  EXPECT_THAT(PollOnce(none).value(), IsEmpty());
}

TEST(Skip, TakesAUnitForEachDroppedItem) {
  CountingWaker task;
  auto stream =
      Iter(std::vector<int>(kBudgetPerPoll + 2, 7)) | Skip(kBudgetPerPoll + 1);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), 7);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(SkipWhile, SkipsOnlyAtTheBeginning) {
  auto all = Iter(std::vector{1, 2, 3, 1}) | SkipWhile(&IsSmall) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(3, 1));
}

TEST(SkipWhile, TakesAUnitForEachDroppedItem) {
  CountingWaker task;
  auto stream =
      Iter(std::vector<int>(kBudgetPerPoll + 1, 1)) | SkipWhile(&IsSmall);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(TakeWhile, EndsAndDestroysTheStream) {
  Feed<int> feed;
  auto stream = feed.stream() | TakeWhile(&IsSmall);
  feed.Push(1);
  feed.Push(3);
  feed.Push(2);
  EXPECT_EQ(PollNextOnce(stream).value(), 1);
  EXPECT_TRUE(feed.alive());
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_FALSE(feed.alive());
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(TakeWhile, LeavesTheRestOfAnLvalue) {
  auto numbers = Iter(std::vector{1, 3, 4});
  auto small = numbers | TakeWhile(&IsSmall) | Collect();
  EXPECT_THAT(PollOnce(small).value(), ElementsAre(1));
  EXPECT_EQ(PollNextOnce(numbers).value(), 4);
}

TEST(MapWhile, EndsAtTheFirstItemWithoutAValue) {
  Feed<int> feed;
  auto stream = feed.stream() | MapWhile(&TenfoldOfSmall);
  feed.Push(2);
  feed.Push(5);
  EXPECT_EQ(PollNextOnce(stream).value(), 20);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_FALSE(feed.alive());
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Fuse, EndsPermanently) {
  FuturesUnordered<ReadyFuture<int>> futures;
  futures.Push(Ready(1));
  auto fused = futures | Fuse();
  EXPECT_EQ(PollNextOnce(fused).value(), 1);
  EXPECT_FALSE(fused.HasEnded());
  EXPECT_EQ(PollNextOnce(fused).value(), std::nullopt);
  EXPECT_TRUE(fused.HasEnded());
  futures.Push(Ready(2));
  EXPECT_EQ(PollNextOnce(fused).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(futures).value(), 2);
}

TEST(Fuse, DestroysTheStreamAtItsEnd) {
  Feed<int> feed;
  auto fused = feed.stream() | Fuse();
  feed.End();
  EXPECT_EQ(PollNextOnce(fused).value(), std::nullopt);
  EXPECT_FALSE(feed.alive());
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(TakeWhile, ContinuesAfterAnException) {
  auto stream = Iter(std::vector{1, 2}) | TakeWhile([](int x) {
                  if (x == 1) throw std::runtime_error("one");
                  return true;
                });
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
}
#endif

}  // namespace
}  // namespace rouse
