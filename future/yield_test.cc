// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/yield.h"

#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

static_assert(Future<YieldFuture>);

TEST(Yield, IsPendingOnceAndWakesItsTask) {
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  YieldFuture yield = Yield();
  EXPECT_TRUE(yield.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(yield.Poll(cx).IsReady());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.clones(), 0);
}

TEST(Yield, ACoroutineContinuesLater) {
  int steps = 0;
  auto body = [](int& steps) -> Co<> {
    ++steps;
    co_await Yield();
    ++steps;
  };
  Co<> co = body(steps);
  EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(steps, 1);
  EXPECT_TRUE(PollOnce(co).IsReady());
  EXPECT_EQ(steps, 2);
}

TEST(Yield, PollingACompleteYieldPanics) {
  YieldFuture yield = Yield();
  EXPECT_TRUE(PollOnce(yield).IsPending());
  EXPECT_TRUE(PollOnce(yield).IsReady());
  EXPECT_PANIC((void)PollOnce(yield), "Yield was polled after");
}

}  // namespace
}  // namespace rouse
