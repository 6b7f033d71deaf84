// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/ready.h"

#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

static_assert(Future<ReadyFuture<void>>);
static_assert(Future<ReadyFuture<int>>);
static_assert(Future<PendingFuture<void>>);

TEST(Ready, ReturnsTheValueAtOnce) {
  auto ready = Ready(std::make_unique<int>(5));
  EXPECT_EQ(*PollOnce(ready).value(), 5);
}

TEST(Ready, CopiesAnLvalue) {
  const std::string text = "a";
  auto ready = Ready(text);
  EXPECT_EQ(PollOnce(ready).value(), "a");
  EXPECT_EQ(text, "a");
}

TEST(Ready, OfVoidIsReady) {
  auto ready = Ready();
  EXPECT_TRUE(PollOnce(ready).IsReady());
}

PollResult<int> PollInt() { return Ready(5); }
PollResult<double> PollDouble() { return Ready(5); }
PollResult<void> PollVoid() { return Ready(); }
PollResult<std::unique_ptr<int>> PollUnique() {
  return Ready(std::make_unique<int>(5));
}
PollResult<std::optional<int>> PollNone() {
  return Ready(std::optional<int>());
}

TEST(Ready, ConvertsToAPollResult) {
  EXPECT_EQ(PollInt().value(), 5);
  EXPECT_EQ(PollDouble().value(), 5.0);
  EXPECT_TRUE(PollVoid().IsReady());
  EXPECT_EQ(*PollUnique().value(), 5);
  EXPECT_EQ(PollNone().value(), std::nullopt);
}

TEST(Pending, IsNeverReady) {
  auto pending = Pending<int>();
  EXPECT_TRUE(PollOnce(pending).IsPending());
  EXPECT_TRUE(PollOnce(pending).IsPending());
  auto nothing = Pending();
  EXPECT_TRUE(PollOnce(nothing).IsPending());
}

TEST(Ready, PolledTwicePanics) {
  auto ready = Ready(5);
  EXPECT_EQ(PollOnce(ready).value(), 5);
  EXPECT_PANIC((void)PollOnce(ready), "Ready was polled after");
  auto nothing = Ready();
  EXPECT_TRUE(PollOnce(nothing).IsReady());
  EXPECT_PANIC((void)PollOnce(nothing), "Ready was polled after");
}

}  // namespace
}  // namespace rouse
