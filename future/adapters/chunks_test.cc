// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the adapters that keep items: Chunks, ReadyChunks, Peekable.

#include "rouse/future/adapters/chunks.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/adapters/peekable.h"
#include "rouse/future/adapters/ready_chunks.h"
#include "rouse/future/collect.h"
#include "rouse/future/iter.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Chunks, CollectsItems) {
  auto all = Iter(std::vector{1, 2, 3, 4, 5}) | Chunks(2) | Collect();
  EXPECT_THAT(
      PollOnce(all).value(),
      ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4), ElementsAre(5)));
}

TEST(Chunks, HasNoEmptyChunk) {
  auto all = Iter(std::vector{1, 2}) | Chunks(2) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(ElementsAre(1, 2)));
}

TEST(Chunks, KeepsItemsBetweenPolls) {
  Feed<std::unique_ptr<int>> feed;
  auto stream = feed.stream() | Chunks(2);
  feed.Push(std::make_unique<int>(1));
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  feed.Push(std::make_unique<int>(2));
  EXPECT_THAT(PollNextOnce(stream).value(), testing::Optional(SizeIs(2)));
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  feed.End();
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Chunks, TakesAUnitForEachItem) {
  CountingWaker task;
  auto stream =
      Iter(std::vector<int>(kBudgetPerPoll + 2)) | Chunks(kBudgetPerPoll + 2);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_THAT(task.PollNext(stream).value(),
              testing::Optional(SizeIs(kBudgetPerPoll + 2)));
}

TEST(Chunks, OfNoItemsIsAPanic) {
  EXPECT_PANIC(static_cast<void>(Chunks(Iter(std::vector{1}), 0)),
               "Chunks: the size is 0, and no item fits; choose at least 1");
  EXPECT_PANIC(static_cast<void>(Chunks(0)), "Chunks: the size is 0");
  EXPECT_PANIC(static_cast<void>(ReadyChunks(0)), "ReadyChunks: the size is 0");
}

TEST(ReadyChunks, TakesWhatIsThere) {
  CountingWaker task;
  Feed<int> feed;
  auto stream = feed.stream() | ReadyChunks(3);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  for (int i = 1; i <= 4; ++i) feed.Push(i);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_THAT(*task.PollNext(stream).value(), ElementsAre(1, 2, 3));
  EXPECT_THAT(*task.PollNext(stream).value(), ElementsAre(4));
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  feed.Push(5);
  feed.End();
  EXPECT_THAT(*task.PollNext(stream).value(), ElementsAre(5));
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(ReadyChunks, EndsAChunkWithTheBudget) {
  CountingWaker task;
  auto stream = Iter(std::vector<int>(kBudgetPerPoll + 2)) |
                ReadyChunks(2 * kBudgetPerPoll);
  Context cx(task.waker());
  EXPECT_THAT(stream.PollNext(cx).value(),
              testing::Optional(SizeIs(kBudgetPerPoll)));
  EXPECT_TRUE(stream.PollNext(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_THAT(task.PollNext(stream).value(), testing::Optional(SizeIs(2)));
}

#ifdef ABSL_HAVE_EXCEPTIONS
int ThrowAtThree(int x) {
  if (x == 3) throw std::runtime_error("three");
  return x;
}

TEST(Chunks, KeepsTheChunkOverAnException) {
  auto stream = Iter(std::vector{1, 2, 3, 4}) | Map(&ThrowAtThree) | Chunks(3);
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_THAT(*PollNextOnce(stream).value(), ElementsAre(1, 2, 4));
}

TEST(ReadyChunks, KeepsTheChunkOverAnException) {
  auto stream =
      Iter(std::vector{1, 2, 3, 4}) | Map(&ThrowAtThree) | ReadyChunks(9);
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_THAT(*PollNextOnce(stream).value(), ElementsAre(1, 2, 4));
}

TEST(Peekable, KeepsTheItemOverAnException) {
  auto stream = Iter(std::vector{3}) | Peekable();
  auto next = stream.NextIf([](int x) { return ThrowAtThree(x) == 3; });
  EXPECT_THROW((void)PollOnce(next), std::runtime_error);
  EXPECT_EQ(PollNextOnce(stream).value(), 3);
}
#endif

TEST(Peekable, KeepsThePeekedItem) {
  CountingWaker task;
  Feed<int> feed;
  auto stream = feed.stream() | Peekable();
  {
    auto peek = stream.Peek();
    EXPECT_TRUE(task.Poll(peek).IsPending());
    feed.Push(1);
    EXPECT_EQ(task.wakes(), 1);
    int* const item = task.Poll(peek).value();
    ASSERT_NE(item, nullptr);
    EXPECT_EQ(std::exchange(*item, 10), 1);
    EXPECT_PANIC(static_cast<void>(task.Poll(peek)),
                 "Peek was polled after it completed");
  }
  EXPECT_EQ(*PollOnce(stream.Peek()).value(), 10);
  EXPECT_EQ(PollNextOnce(stream).value(), 10);
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
}

TEST(Peekable, PeeksAtTheEnd) {
  auto stream = Iter(std::vector<int>()) | Peekable();
  EXPECT_EQ(PollOnce(stream.Peek()).value(), nullptr);
  EXPECT_EQ(PollOnce(stream.Peek()).value(), nullptr);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Peekable, TakesAnItemThatIsWanted) {
  const auto is_odd = [](int x) { return x % 2 == 1; };
  auto stream = Iter(std::vector{1, 2}) | Peekable();
  EXPECT_EQ(PollOnce(stream.NextIf(is_odd)).value(), 1);
  auto next = stream.NextIf(is_odd);
  EXPECT_EQ(PollOnce(next).value(), std::nullopt);
  EXPECT_PANIC(static_cast<void>(PollOnce(next)),
               "NextIf was polled after it completed");
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
  EXPECT_EQ(PollOnce(stream.NextIf(is_odd)).value(), std::nullopt);
}

}  // namespace
}  // namespace rouse
