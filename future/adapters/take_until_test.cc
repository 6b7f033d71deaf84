// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/adapters/take_until.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/co.h"
#include "rouse/future/iter.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/testing/internal/switch.h"

namespace rouse {
namespace {

using ::testing::HasSubstr;

TEST(TakeUntil, EndsWhenTheFutureIsReady) {
  CountingWaker task;
  Switch<int> stop;
  Feed<int> feed;
  auto stream = feed.stream() | TakeUntil(stop.future());
  feed.Push(1);
  EXPECT_EQ(task.PollNext(stream).value(), 1);
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  stop.Set(0);
  EXPECT_EQ(task.wakes(), 1);
  feed.Push(2);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
  EXPECT_FALSE(feed.alive());
  EXPECT_FALSE(stop.alive());
  // The item stays in the stream.
  EXPECT_EQ(feed.left(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
}

TEST(TakeUntil, EndsWithTheStream) {
  Switch<int> stop;
  Feed<int> feed;
  auto stream = TakeUntil(feed.stream(), stop.future());
  feed.End();
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_FALSE(stop.alive());
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(TakeUntil, PollsAFutureInPlace) {
  Switch<int> stop;
  auto future = stop.future();
  {
    auto stream = Iter(std::vector{1}) | TakeUntil(future);
    EXPECT_EQ(PollNextOnce(stream).value(), 1);
  }
  EXPECT_TRUE(stop.alive());
  stop.Set(4);
  EXPECT_EQ(PollOnce(future).value(), 4);
}

TEST(TakeUntil, CallsACallable) {
  auto end = []() -> Co<> { co_return; };
  auto stream = Iter(std::vector{1}) | TakeUntil(end);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(TakeUntil, TracesBoth) {
  Switch<int> stop;
  Feed<int> feed;
  auto stream = feed.stream() | TakeUntil(stop.future());
  AwaitTrace trace;
  trace.Add(stream);
  EXPECT_THAT(trace.ToString(), HasSubstr("TakeUntil"));
  EXPECT_THAT(trace.ToString(), HasSubstr("Feed"));
  EXPECT_THAT(trace.ToString(), HasSubstr("Switch"));
  feed.End();
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  AwaitTrace after;
  after.Add(stream);
  EXPECT_EQ(after.steps().size(), 1);
}

}  // namespace
}  // namespace rouse
