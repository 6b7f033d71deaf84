// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/adapters/flatten.h"

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/collect.h"
#include "rouse/future/iter.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Gen<int> Below(int end) {
  for (int i = 0; i < end; ++i) co_yield i;
}

TEST(Flatten, TakesOneStreamAfterAnother) {
  std::vector<Gen<int>> streams;
  streams.push_back(Below(2));
  streams.push_back(Below(0));
  streams.push_back(Below(3));
  auto all = Iter(std::move(streams)) | Flatten() | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(0, 1, 0, 1, 2));
}

TEST(Flatten, TakesTheNextStreamAtTheEndOfTheOneBefore) {
  CountingWaker task;
  Feed<int> inner[2];
  Feed<Feed<int>::Items> outer;
  auto stream = outer.stream() | Flatten();
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  outer.Push(inner[0].stream());
  outer.Push(inner[1].stream());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  inner[1].Push(7);
  EXPECT_EQ(outer.left(), 1);
  inner[0].Push(5);
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_EQ(task.PollNext(stream).value(), 5);
  inner[0].End();
  EXPECT_EQ(task.PollNext(stream).value(), 7);
  EXPECT_FALSE(inner[0].alive());
  inner[1].End();
  outer.End();
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(Flatten, TakesAUnitForEachStream) {
  CountingWaker task;
  auto stream = Iter(std::vector<int>(kBudgetPerPoll + 1)) |
                FlatMap([](int) { return Iter(std::vector<int>()); });
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(Flatten, TracesTheInnerStream) {
  Switch<int> gate;
  auto wait = [](Switch<int>& gate) -> Gen<int> {
    co_yield co_await gate.future();
  };
  auto stream = Iter(std::vector{1}) | FlatMap([&](int) { return wait(gate); });
  EXPECT_TRUE(PollNextOnce(stream).IsPending());
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_THAT(trace.ToString(), HasSubstr("Switch"));
}

TEST(FlatMap, MakesTheStreams) {
  auto all = Iter(std::vector{1, 2, 3}) | FlatMap(&Below) | Collect();
  EXPECT_THAT(PollOnce(all).value(), ElementsAre(0, 0, 1, 0, 1, 2));
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(FlatMap, ContinuesAfterAnException) {
  auto fail = [](int x) -> Gen<int> {
    if (x == 1) throw std::runtime_error("one");
    co_yield x;
  };
  auto stream = Iter(std::vector{1, 2}) | FlatMap(fail);
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_EQ(PollNextOnce(stream).value(), 2);
}
#endif

}  // namespace
}  // namespace rouse
