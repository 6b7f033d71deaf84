// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/streams/try_collect.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/iter.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Numbers = std::vector<absl::StatusOr<int>>;

TEST(TryCollect, GivesTheValuesInOrder) {
  auto all = Iter(Numbers{1, 2, 3}) | TryCollect();
  EXPECT_THAT(PollOnce(all).value().value(), ElementsAre(1, 2, 3));
  EXPECT_PANIC(static_cast<void>(PollOnce(all)),
               "TryCollect was polled after it completed; keep the result");
  auto none = TryCollect(Iter(Numbers()));
  EXPECT_THAT(PollOnce(none).value().value(), IsEmpty());
}

TEST(TryCollect, EndsWithTheFirstError) {
  auto numbers =
      Iter(Numbers{1, absl::NotFoundError("two"), 3, absl::AbortedError("")});
  auto all = numbers | TryCollect();
  EXPECT_EQ(PollOnce(all).value().status(), absl::NotFoundError("two"));
  // The items after the error are left.
  EXPECT_EQ(PollNextOnce(numbers).value().value().value(), 3);
  EXPECT_PANIC(static_cast<void>(PollOnce(all)), "TryCollect was polled after");
}

TEST(TryCollect, AnErrorDestroysTheStreamAndTheValues) {
  auto alive = std::make_shared<int>(0);
  std::vector<absl::StatusOr<std::shared_ptr<int>>> items;
  items.emplace_back(alive);
  items.emplace_back(absl::NotFoundError("two"));
  items.emplace_back(alive);
  auto all = Iter(std::move(items)) | TryCollect();
  EXPECT_FALSE(PollOnce(all).value().ok());
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(TryCollect, MovesTheValues) {
  std::vector<absl::StatusOr<std::unique_ptr<int>>> items;
  items.emplace_back(std::make_unique<int>(1));
  auto all = Iter(std::move(items)) | TryCollect();
  EXPECT_EQ(*PollOnce(all).value().value().at(0), 1);
}

TEST(TryCollect, WaitsForEachItem) {
  CountingWaker task;
  Feed<absl::StatusOr<int>> feed;
  auto all = feed.stream() | TryCollect();
  EXPECT_TRUE(task.Poll(all).IsPending());
  feed.Push(1);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(task.Poll(all).IsPending());
  AwaitTrace trace;
  trace.Add(all);
  EXPECT_THAT(trace.ToString(), HasSubstr("Feed"));
  feed.End();
  EXPECT_THAT(task.Poll(all).value().value(), ElementsAre(1));
}

TEST(TryCollect, TakesAUnitForEachItem) {
  CountingWaker task;
  auto all = Iter(Numbers(kBudgetPerPoll + 2, 1)) | TryCollect();
  EXPECT_TRUE(task.Poll(all).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.Poll(all).value().value().size(),
            static_cast<size_t>(kBudgetPerPoll) + 2);
}

}  // namespace
}  // namespace rouse
