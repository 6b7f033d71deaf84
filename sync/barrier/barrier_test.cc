// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/barrier/barrier.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/future.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

static_assert(Future<Barrier::WaitFuture>);

TEST(Barrier, TheLastToArriveIsTheLeader) {
  Barrier barrier(2);
  CountingWaker task;
  auto first = barrier.Wait();
  EXPECT_TRUE(PollOnce(first, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(first, task.NewWaker()).IsPending());
  auto second = barrier.Wait();
  EXPECT_TRUE(PollOnce(second)->is_leader());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_FALSE(PollOnce(first)->is_leader());
}

TEST(Barrier, OfOneNeverWaits) {
  Barrier none(0), one(1);
  EXPECT_TRUE(PollOnce(none.Wait())->is_leader());
  EXPECT_TRUE(PollOnce(one.Wait())->is_leader());
  EXPECT_TRUE(PollOnce(one.Wait())->is_leader());
}

TEST(Barrier, CanBeUsedAgain) {
  Barrier barrier(2);
  for (int round = 0; round < 3; ++round) {
    auto first = barrier.Wait();
    auto second = barrier.Wait();
    EXPECT_TRUE(PollOnce(first).IsPending());
    EXPECT_TRUE(PollOnce(second).IsReady());
    EXPECT_TRUE(PollOnce(first).IsReady());
  }
}

TEST(Barrier, ARoundCanBeginBeforeAllHaveSeenTheEndOfTheLast) {
  Barrier barrier(2);
  auto slow = barrier.Wait();
  EXPECT_TRUE(PollOnce(slow).IsPending());
  EXPECT_TRUE(PollOnce(barrier.Wait()).IsReady());
  auto next = barrier.Wait();
  EXPECT_TRUE(PollOnce(next).IsPending());
  EXPECT_TRUE(PollOnce(slow).IsReady());
  EXPECT_TRUE(PollOnce(next).IsPending());
}

TEST(Barrier, ACancelledWaitHasNotArrived) {
  Barrier barrier(2);
  CountingWaker task;
  {
    auto leaving = barrier.Wait();
    EXPECT_TRUE(PollOnce(leaving, task.NewWaker()).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  auto first = barrier.Wait();
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(barrier.Wait()).IsReady());
  EXPECT_TRUE(PollOnce(first).IsReady());
}

TEST(Barrier, AWaitCancelledAfterTheRoundHasArrived) {
  Barrier barrier(2);
  {
    auto leaving = barrier.Wait();
    EXPECT_TRUE(PollOnce(leaving).IsPending());
    EXPECT_TRUE(PollOnce(barrier.Wait()).IsReady());
  }
  EXPECT_TRUE(PollOnce(barrier.Wait()).IsPending()) << "the next round";
}

// More waiters than are woken at once. Meanwhile one leaves, and another
// arrives.
TEST(Barrier, WakesMoreThanABatch) {
  constexpr int kMany = 80;
  Barrier barrier(kMany);
  CountingWaker task;
  std::vector<std::unique_ptr<Barrier::WaitFuture>> waits;
  std::optional<Barrier::WaitFuture> next;
  task.OnWake([&] {
    if (next.has_value()) return;
    next.emplace(barrier.Wait());
    EXPECT_TRUE(PollOnce(*next).IsPending());
    waits.pop_back();
  });
  for (int i = 1; i < kMany; ++i) {
    waits.push_back(std::make_unique<Barrier::WaitFuture>(barrier.Wait()));
    EXPECT_TRUE(PollOnce(*waits.back(), task.NewWaker()).IsPending());
  }
  EXPECT_TRUE(PollOnce(barrier.Wait())->is_leader());
  EXPECT_EQ(task.wakes(), kMany - 2);
  for (auto& wait : waits) EXPECT_TRUE(PollOnce(*wait).IsReady());
  EXPECT_TRUE(PollOnce(*next).IsPending());
}

TEST(Barrier, AWaitWithoutBudgetHasNotArrived) {
  Barrier barrier(1);
  const Waker waker;
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  auto wait = barrier.Wait();
  EXPECT_TRUE(wait.Poll(cx).IsPending());
  EXPECT_TRUE(PollOnce(wait).IsReady());
}

TEST(Barrier, AWaitThatMustWaitArrivesEvenWithoutBudget) {
  Barrier barrier(2);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  auto first = barrier.Wait();
  EXPECT_TRUE(first.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 0) << "it waits for another";
  auto second = barrier.Wait();
  EXPECT_TRUE(second.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1) << "it has yielded";
  EXPECT_TRUE(PollOnce(second)->is_leader());
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_TRUE(first.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 3) << "it has yielded";
  EXPECT_FALSE(PollOnce(first)->is_leader());
}

TEST(Barrier, TakesAUnitOfTheBudget) {
  Barrier barrier(1);
  const Waker waker;
  Context cx(waker);
  uint32_t ready = 0;
  while (barrier.Wait().Poll(cx).IsReady()) ++ready;
  EXPECT_EQ(ready, kBudgetPerPoll);
}

TEST(Barrier, ACompleteWaitKeepsNoWaker) {
  Barrier barrier(2);
  CountingWaker task, other_task;
  auto first = barrier.Wait();
  auto second = barrier.Wait();
  EXPECT_TRUE(PollOnce(first, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, other_task.NewWaker()).IsReady());
  EXPECT_TRUE(PollOnce(first, other_task.NewWaker()).IsReady());
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(other_task.live(), 0);
}

TEST(Barrier, ThreadsContinueTogether) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  Barrier barrier(kThreads);
  int round = 0;  // the leader's, between two waits
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int r = 0; r < kRounds; ++r) {
        EXPECT_EQ(round, r);
        if (BlockOn(barrier.Wait()).is_leader()) ++round;
        BlockOn(barrier.Wait());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(round, kRounds);
}

TEST(Barrier, PollingACompleteWaitPanics) {
  Barrier barrier(1);
  auto wait = barrier.Wait();
  EXPECT_TRUE(PollOnce(wait).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(wait)),
               "Barrier::Wait was polled after");
}

TEST(Barrier, MovingAPolledWaitPanics) {
  Barrier barrier(2);
  auto one = barrier.Wait();
  auto two = std::move(one);
  EXPECT_TRUE(PollOnce(two).IsPending());
  EXPECT_PANIC(Barrier::WaitFuture three(std::move(two)),
               "Barrier::Wait was moved after");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Barrier, AThrowingWakerDoesNotStopTheOthers) {
  Barrier barrier(3);
  CountingWaker bad, good;
  bad.OnWake([] { throw 1; });
  auto first = barrier.Wait();
  auto second = barrier.Wait();
  auto last = barrier.Wait();
  EXPECT_TRUE(PollOnce(first, bad.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, good.NewWaker()).IsPending());
  EXPECT_THROW(static_cast<void>(PollOnce(last)), int);
  EXPECT_EQ(good.wakes(), 1);
  EXPECT_TRUE(PollOnce(first).IsReady());
  EXPECT_TRUE(PollOnce(second).IsReady());
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
