// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/notify/notify.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/select.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

static_assert(Future<Notify::NotifiedFuture>);
static_assert(Future<Notify::OwnedNotifiedFuture>);

// Enough for two batches and a half.
constexpr int kMany = 80;

constinit Notify global_notify;

TEST(Notify, CanBeAGlobalConstant) {
  global_notify.NotifyOne();
  EXPECT_TRUE(PollOnce(global_notify.Notified()).IsReady());
}

TEST(Notify, APermitIsKeptForALaterWaiter) {
  Notify notify;
  notify.NotifyOne();
  EXPECT_TRUE(PollOnce(notify.Notified()).IsReady());
  EXPECT_TRUE(PollOnce(notify.Notified()).IsPending());
}

TEST(Notify, KeepsAtMostOnePermit) {
  Notify notify;
  notify.NotifyOne();
  notify.NotifyLast();
  EXPECT_TRUE(PollOnce(notify.Notified()).IsReady());
  EXPECT_TRUE(PollOnce(notify.Notified()).IsPending());
}

TEST(Notify, NotifyOneNotifiesTheOldestWaiter) {
  Notify notify;
  CountingWaker first, second;
  auto one = notify.Notified();
  auto two = notify.Notified();
  EXPECT_TRUE(PollOnce(two, second.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(one, first.NewWaker()).IsPending());
  notify.NotifyOne();
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
  EXPECT_TRUE(PollOnce(one).IsPending());
  EXPECT_TRUE(PollOnce(two).IsReady());
  notify.NotifyOne();
  EXPECT_TRUE(PollOnce(one).IsReady());
}

TEST(Notify, NotifyLastNotifiesTheNewestWaiter) {
  Notify notify;
  auto one = notify.Notified();
  auto two = notify.Notified();
  EXPECT_TRUE(PollOnce(one).IsPending());
  EXPECT_TRUE(PollOnce(two).IsPending());
  notify.NotifyLast();
  EXPECT_TRUE(PollOnce(one).IsPending());
  EXPECT_TRUE(PollOnce(two).IsReady());
}

TEST(Notify, ACompleteWaitLeavesNoPermit) {
  Notify notify;
  auto one = notify.Notified();
  EXPECT_TRUE(PollOnce(one).IsPending());
  notify.NotifyOne();
  EXPECT_TRUE(PollOnce(one).IsReady());
  EXPECT_TRUE(PollOnce(notify.Notified()).IsPending());
}

TEST(Notify, TheWakerOfTheLastPollIsWoken) {
  Notify notify;
  CountingWaker before, after;
  {
    auto one = notify.Notified();
    EXPECT_TRUE(PollOnce(one, before.NewWaker()).IsPending());
    EXPECT_TRUE(PollOnce(one, after.NewWaker()).IsPending());
    notify.NotifyOne();
  }
  EXPECT_EQ(before.wakes(), 0);
  EXPECT_EQ(after.wakes(), 1);
}

TEST(Notify, TheSameWakerIsClonedOnce) {
  Notify notify;
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto one = notify.Notified();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(PollOnce(one, waker).IsPending());
  EXPECT_EQ(task.clones(), 1);
}

TEST(Notify, NotifyWaitersNotifiesAllWaiters) {
  Notify notify;
  CountingWaker task;
  std::vector<std::unique_ptr<Notify::NotifiedFuture>> futures;
  for (int i = 0; i < kMany; ++i) {
    futures.push_back(
        std::make_unique<Notify::NotifiedFuture>(notify.Notified()));
    EXPECT_TRUE(PollOnce(*futures.back(), task.NewWaker()).IsPending());
  }
  notify.NotifyWaiters();
  EXPECT_EQ(task.wakes(), kMany);
  for (auto& future : futures) EXPECT_TRUE(PollOnce(*future).IsReady());
}

TEST(Notify, NotifyWaitersNotifiesUnpolledFutures) {
  Notify notify;
  auto before = notify.Notified();
  notify.NotifyWaiters();
  auto after = notify.Notified();
  EXPECT_TRUE(PollOnce(before).IsReady());
  EXPECT_TRUE(PollOnce(after).IsPending());
}

TEST(Notify, NotifyWaitersLeavesNoPermit) {
  Notify notify;
  notify.NotifyWaiters();
  EXPECT_TRUE(PollOnce(notify.Notified()).IsPending());
}

TEST(Notify, NotifyWaitersKeepsAnExistingPermit) {
  Notify notify;
  notify.NotifyOne();
  notify.NotifyWaiters();
  EXPECT_TRUE(PollOnce(notify.Notified()).IsReady());
}

// Trap C7: tokio #7965, #7996.
TEST(Notify, AWaiterOfNotifyWaitersLeavesThePermitToOthers) {
  Notify notify;
  auto before = notify.Notified();
  notify.NotifyWaiters();
  notify.NotifyOne();
  EXPECT_TRUE(PollOnce(before).IsReady());
  EXPECT_TRUE(PollOnce(notify.Notified()).IsReady());
}

// Trap C7: tokio #3660.
TEST(Notify, NotifyWaitersDoesNotNotifyLaterFutures) {
  Notify notify;
  std::optional<Notify::NotifiedFuture> late;
  CountingWaker task;
  task.OnWake([&] {
    if (late.has_value()) return;
    late.emplace(notify.Notified());
    EXPECT_TRUE(PollOnce(*late).IsPending());
  });
  std::vector<std::unique_ptr<Notify::NotifiedFuture>> futures;
  for (int i = 0; i < kMany; ++i) {
    futures.push_back(
        std::make_unique<Notify::NotifiedFuture>(notify.Notified()));
    EXPECT_TRUE(PollOnce(*futures.back(), task.NewWaker()).IsPending());
  }
  notify.NotifyWaiters();
  EXPECT_EQ(task.wakes(), kMany);
  EXPECT_TRUE(PollOnce(*late).IsPending());
}

// Trap C7: tokio #5396. All are notified before the first is woken, and a
// NotifyOne in between is for another future.
TEST(Notify, NotifyWaitersNotifiesAllBeforeItWakesAny) {
  Notify notify;
  std::vector<std::unique_ptr<Notify::NotifiedFuture>> futures;
  std::optional<Notify::NotifiedFuture> late;
  CountingWaker task;
  task.OnWake([&] {
    if (late.has_value()) return;
    late.emplace(notify.Notified());
    EXPECT_TRUE(PollOnce(*late).IsPending());
    notify.NotifyOne();
    EXPECT_TRUE(PollOnce(*futures.back()).IsReady());
    EXPECT_TRUE(PollOnce(*late).IsReady());
  });
  for (int i = 0; i < kMany; ++i) {
    futures.push_back(
        std::make_unique<Notify::NotifiedFuture>(notify.Notified()));
    EXPECT_TRUE(PollOnce(*futures.back(), task.NewWaker()).IsPending());
  }
  notify.NotifyWaiters();
  EXPECT_EQ(task.wakes(), kMany - 1) << "the last one has left before";
}

// Trap C7: tokio #3652.
TEST(Notify, ACancelledWaiterOfNotifyWaitersKeepsALaterPermit) {
  Notify notify;
  std::optional<Notify::NotifiedFuture> one(notify.Notified());
  EXPECT_TRUE(PollOnce(*one).IsPending());
  notify.NotifyWaiters();
  notify.NotifyOne();
  one.reset();
  EXPECT_TRUE(PollOnce(notify.Notified()).IsReady());
}

TEST(Notify, ACancelledWaiterOfNotifyWaitersPassesNothingOn) {
  Notify notify;
  std::optional<Notify::NotifiedFuture> one(notify.Notified());
  EXPECT_TRUE(PollOnce(*one).IsPending());
  notify.NotifyWaiters();
  one.reset();
  EXPECT_TRUE(PollOnce(notify.Notified()).IsPending());
}

TEST(Notify, ACancelledNotifiedWaiterPassesItsNotificationOn) {
  for (const bool last : {false, true}) {
    Notify notify;
    std::optional<Notify::NotifiedFuture> futures[4];
    CountingWaker tasks[4];
    for (int i = 0; i < 4; ++i) {
      futures[i].emplace(notify.Notified());
      EXPECT_TRUE(PollOnce(*futures[i], tasks[i].NewWaker()).IsPending());
    }
    last ? notify.NotifyLast() : notify.NotifyOne();
    futures[last ? 3 : 0].reset();
    for (int i = 0; i < 4; ++i) {
      const bool notified = last ? i >= 2 : i <= 1;
      EXPECT_EQ(tasks[i].wakes(), notified ? 1 : 0) << i;
    }
    EXPECT_TRUE(PollOnce(*futures[last ? 2 : 1]).IsReady());
    for (auto& future : futures) future.reset();
  }
}

TEST(Notify, ACancelledNotifiedOnlyWaiterLeavesAPermit) {
  Notify notify;
  std::optional<Notify::NotifiedFuture> one(notify.Notified());
  EXPECT_TRUE(PollOnce(*one).IsPending());
  notify.NotifyOne();
  one.reset();
  EXPECT_TRUE(PollOnce(notify.Notified()).IsReady());
}

TEST(Notify, ADestroyedCompleteFuturePassesNothingOn) {
  Notify notify;
  {
    auto one = notify.Notified();
    EXPECT_TRUE(PollOnce(one).IsPending());
    notify.NotifyOne();
    EXPECT_TRUE(PollOnce(one).IsReady());
  }
  EXPECT_TRUE(PollOnce(notify.Notified()).IsPending());
}

TEST(Notify, ACancelledWaiterIsNotWoken) {
  Notify notify;
  CountingWaker task;
  {
    auto one = notify.Notified();
    EXPECT_TRUE(PollOnce(one, task.NewWaker()).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  notify.NotifyOne();
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Notify, EnableTakesAPlaceInTheQueue) {
  Notify notify;
  auto one = notify.Notified();
  auto two = notify.Notified();
  EXPECT_FALSE(one.Enable());
  EXPECT_FALSE(one.Enable());
  EXPECT_TRUE(PollOnce(two).IsPending());
  notify.NotifyOne();
  EXPECT_TRUE(PollOnce(two).IsPending());
  EXPECT_TRUE(one.Enable());
  EXPECT_TRUE(one.Enable());
  EXPECT_TRUE(PollOnce(one).IsReady());
}

TEST(Notify, EnableTakesThePermit) {
  Notify notify;
  notify.NotifyOne();
  auto one = notify.Notified();
  EXPECT_TRUE(one.Enable());
  EXPECT_TRUE(PollOnce(notify.Notified()).IsPending());
  EXPECT_TRUE(PollOnce(one).IsReady());
}

TEST(Notify, EnableReturnsTrueAfterNotifyWaiters) {
  Notify notify;
  auto one = notify.Notified();
  notify.NotifyWaiters();
  EXPECT_TRUE(one.Enable());
}

TEST(Notify, AnEnabledFutureIsWokenOnceItIsPolled) {
  Notify notify;
  CountingWaker task;
  auto one = notify.Notified();
  EXPECT_FALSE(one.Enable());
  EXPECT_TRUE(PollOnce(one, task.NewWaker()).IsPending());
  EXPECT_FALSE(one.Enable()) << "which leaves the waker";
  notify.NotifyOne();
  EXPECT_EQ(task.wakes(), 1);
}

TEST(Notify, ACancelledEnabledFuturePassesItsNotificationOn) {
  Notify notify;
  {
    auto one = notify.Notified();
    EXPECT_FALSE(one.Enable());
    notify.NotifyOne();
  }
  EXPECT_TRUE(PollOnce(notify.Notified()).IsReady());
}

TEST(Notify, AnOwnedFutureKeepsItsNotify) {
  auto notify = std::make_shared<Notify>();
  const std::weak_ptr<Notify> weak = notify;
  {
    auto one = Notify::NotifiedOwned(notify);
    EXPECT_TRUE(PollOnce(one).IsPending());
    notify->NotifyOne();
    notify.reset();
    EXPECT_FALSE(weak.expired());
    EXPECT_TRUE(PollOnce(one).IsReady());
  }
  EXPECT_TRUE(weak.expired());
}

TEST(Notify, AFutureCanBeMovedBeforeItIsPolled) {
  Notify notify;
  auto one = notify.Notified();
  notify.NotifyWaiters();
  auto two = std::move(one);
  EXPECT_TRUE(PollOnce(two).IsReady()) << "it was made before";
}

// Trap C7: tokio #4129 and similar issues: the list is not locked while a waker
// is cloned, called or dropped.
TEST(Notify, WakersCanUseTheNotify) {
  Notify notify;
  CountingWaker task;
  const auto use_notify = [&] {
    auto waiting = notify.Notified();
    waiting.Enable();
    notify.NotifyOne();
    waiting.Enable();
  };
  task.OnClone(use_notify);
  task.OnWake(use_notify);
  task.OnDrop(use_notify);
  {
    auto one = notify.Notified();
    auto two = notify.Notified();
    static_cast<void>(PollOnce(one, task.NewWaker()));
    static_cast<void>(PollOnce(two, task.NewWaker()));
    notify.NotifyWaiters();
  }
  EXPECT_GT(task.clones(), 0);
  EXPECT_GT(task.wakes(), 0);
  EXPECT_GT(task.drops(), 0);
}

TEST(Notify, ATaskThatIsAlwaysNotifiedYields) {
  Notify notify;
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    notify.NotifyOne();
    EXPECT_TRUE(notify.Notified().Poll(cx).IsReady());
  }
  notify.NotifyOne();
  auto one = notify.Notified();
  EXPECT_TRUE(one.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(one).IsReady());
}

TEST(Notify, APendingPollTakesNoBudget) {
  Notify notify;
  const Waker waker;
  Context cx(waker);
  auto one = notify.Notified();
  for (uint32_t i = 0; i < 2 * kBudgetPerPoll; ++i) {
    EXPECT_TRUE(one.Poll(cx).IsPending());
  }
  EXPECT_TRUE(cx.HasBudget());
}

// Trap C10: tokio #8365. A future notified without budget keeps its
// notification.
TEST(Notify, AFutureNotifiedWithoutBudgetStaysNotified) {
  Notify notify;
  const Waker waker;
  Context cx(waker);
  auto one = notify.Notified();
  auto two = notify.Notified();
  EXPECT_TRUE(one.Poll(cx).IsPending());
  EXPECT_TRUE(two.Poll(cx).IsPending());
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  notify.NotifyOne();
  EXPECT_TRUE(one.Poll(cx).IsPending());
  EXPECT_TRUE(PollOnce(two).IsPending());
  EXPECT_TRUE(PollOnce(one).IsReady());
}

TEST(Notify, AFirstPollWithoutBudgetTakesAPlaceInTheQueue) {
  Notify notify;
  const Waker waker;
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  auto one = notify.Notified();
  auto two = notify.Notified();
  EXPECT_TRUE(one.Poll(cx).IsPending());
  EXPECT_TRUE(PollOnce(two).IsPending());
  notify.NotifyOne();
  EXPECT_TRUE(PollOnce(two).IsPending());
  EXPECT_TRUE(PollOnce(one).IsReady());
}

TEST(Notify, APollWithoutBudgetDoesNotTakeThePermit) {
  Notify notify;
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  notify.NotifyOne();
  auto yields = notify.Notified();
  EXPECT_TRUE(yields.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  auto other = notify.Notified();
  EXPECT_TRUE(PollOnce(other).IsReady());
  EXPECT_TRUE(PollOnce(yields).IsPending());
  notify.NotifyWaiters();
  EXPECT_TRUE(yields.Poll(cx).IsPending());
  EXPECT_TRUE(PollOnce(yields).IsReady());
}

TEST(Notify, WorksInASelect) {
  Notify first, second;
  second.NotifyOne();
  auto both = Select(first.Notified(), second.Notified());
  EXPECT_EQ(BlockOn(both).index(), 1u);
}

TEST(Notify, PassesMessagesBetweenThreads) {
  constexpr int kRounds = 1000;
  Notify ping, pong;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      BlockOn(ping.Notified());
      pong.NotifyOne();
    }
  });
  const auto rally = [&]() -> Co<int> {
    int rounds = 0;
    for (; rounds < kRounds; ++rounds) {
      ping.NotifyOne();
      co_await pong.Notified();
    }
    co_return rounds;
  };
  EXPECT_EQ(BlockOn(rally()), kRounds);
  other.join();
}

TEST(Notify, PollingACompleteFuturePanics) {
  Notify notify;
  notify.NotifyOne();
  auto one = notify.Notified();
  EXPECT_TRUE(PollOnce(one).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(one)),
               "Notify::Notified was polled after");
  EXPECT_PANIC(one.Enable(), "enabled after");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Notify, MovingAPolledFuturePanics) {
  Notify notify;
  auto one = notify.Notified();
  EXPECT_TRUE(PollOnce(one).IsPending());
  EXPECT_PANIC(Notify::NotifiedFuture two(std::move(one)),
               "Notify::Notified was moved after");
  notify.NotifyOne();
  EXPECT_TRUE(PollOnce(one).IsReady());
}

TEST(Notify, AFailedMoveOfAnOwnedFutureKeepsItsNotify) {
  auto one = Notify::NotifiedOwned(std::make_shared<Notify>());
  EXPECT_TRUE(PollOnce(one).IsPending());
  EXPECT_PANIC(Notify::OwnedNotifiedFuture two(std::move(one)),
               "Notify::Notified was moved after");
  EXPECT_TRUE(PollOnce(one).IsPending());
}

TEST(Notify, AThrowingWakerLosesNoNotification) {
  Notify notify;
  CountingWaker bad, good;
  bad.OnWake([] { throw 1; });
  auto one = notify.Notified();
  auto two = notify.Notified();
  EXPECT_TRUE(PollOnce(one, bad.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(two, good.NewWaker()).IsPending());
  EXPECT_THROW(notify.NotifyWaiters(), int);
  EXPECT_EQ(good.wakes(), 1);
  EXPECT_TRUE(PollOnce(one).IsReady());
  EXPECT_TRUE(PollOnce(two).IsReady());
}

TEST(Notify, AThrowingCloneTakesNoPlaceInTheQueue) {
  Notify notify;
  CountingWaker bad;
  bad.OnClone([] { throw 1; });
  auto one = notify.Notified();
  EXPECT_THROW(static_cast<void>(PollOnce(one, bad.NewWaker())), int);
  notify.NotifyOne();
  EXPECT_TRUE(PollOnce(notify.Notified()).IsReady());
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
