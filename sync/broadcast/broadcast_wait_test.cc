// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waits for a value, and waits until there is no receiver.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/sync/broadcast/broadcast.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/broadcast_values.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::broadcast {
namespace {

using ::testing::ElementsAre;

TEST(BroadcastWait, ASendWakesAllWaiters) {
  auto [tx, rx1] = Channel<int>(2);
  Receiver<int> rx2 = tx.Subscribe();
  CountingWaker task1, task2;
  const Waker waker1 = task1.NewWaker();
  const Waker waker2 = task2.NewWaker();
  ReceiveFuture<int> receive1 = rx1.Receive();
  ReceiveFuture<int> receive2 = rx2.Receive();
  ASSERT_TRUE(PollOnce(receive1, waker1).IsPending());
  ASSERT_TRUE(PollOnce(receive2, waker2).IsPending());
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task1.wakes(), 1);
  EXPECT_EQ(task2.wakes(), 1);
  EXPECT_EQ(*PollOnce(receive1, waker1).value(), 1);
  EXPECT_EQ(*PollOnce(receive2, waker2).value(), 1);
}

TEST(BroadcastWait, AReadyReceiveIsNotWoken) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  ASSERT_TRUE(tx.Send(1).ok());
  ReceiveFuture<int> receive = rx.Receive();
  EXPECT_EQ(*PollOnce(receive, waker).value(), 1);
  EXPECT_EQ(task.clones(), 0);
  ASSERT_TRUE(tx.Send(2).ok());
  EXPECT_EQ(task.wakes(), 0);
}

// Trap C11 (#2135): a receiver that was woken, and then waits again or is
// dropped, is notified of the next value.
TEST(BroadcastWait, EachWaitIsNotifiedOfTheNextValue) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  for (int i = 1; i <= 3; ++i) {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    ASSERT_TRUE(tx.Send(i).ok());
    EXPECT_EQ(task.wakes(), i);
    EXPECT_EQ(*PollOnce(receive, waker).value(), i);
  }
}

TEST(BroadcastWait, TheWakerOfTheLastPollIsWoken) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker before, after;
  const Waker waker_before = before.NewWaker();
  const Waker waker_after = after.NewWaker();
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive, waker_before).IsPending());
  ASSERT_TRUE(PollOnce(receive, waker_after).IsPending());
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(before.wakes(), 0);
  EXPECT_EQ(after.wakes(), 1);
}

TEST(BroadcastWait, ACancelledReceiveTakesNoValue) {
  auto [tx, rx] = Channel<std::string>(2);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  {
    ReceiveFuture<std::string> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
  }
  EXPECT_EQ(task.live(), 1);
  {
    ReceiveFuture<std::string> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    ASSERT_TRUE(tx.Send("one").ok());
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_THAT(Drain(rx), ElementsAre("one"));
}

// A receive that was polled with the no-op waker is in the list as well.
TEST(BroadcastWait, ACancelledReceiveWithTheNoopWakerLeavesTheList) {
  auto [tx, rx] = Channel<int>(2);
  {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive).IsPending());
  }
  EXPECT_TRUE(tx.Send(1).ok());
}

TEST(BroadcastWait, AReceiveCanBeMovedBeforeItIsPolled) {
  auto [tx, rx] = Channel<int>(2);
  ASSERT_TRUE(tx.Send(1).ok());
  ReceiveFuture<int> receive = rx.Receive();
  ReceiveFuture<int> moved = std::move(receive);
  EXPECT_EQ(*PollOnce(moved).value(), 1);
}

TEST(BroadcastWait, MovingAPolledFuturePanics) {
  auto [tx, rx] = Channel<int>(2);
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive).IsPending());
  EXPECT_PANIC(ReceiveFuture<int> moved(std::move(receive)),
               "broadcast::Receiver::Receive was moved after");
  ClosedFuture closed = tx.Closed();
  ASSERT_TRUE(PollOnce(closed).IsPending());
  EXPECT_PANIC(ClosedFuture moved(std::move(closed)),
               "broadcast::Sender::Closed was moved after");
}

TEST(BroadcastWait, PollingACompleteFuturePanics) {
  auto [tx, rx] = Channel<int>(2);
  ASSERT_TRUE(tx.Send(1).ok());
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(receive)),
               "broadcast::Receiver::Receive was polled after");
  const Sender<int> without(1);
  ClosedFuture closed = without.Closed();
  ASSERT_TRUE(PollOnce(closed).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(closed)),
               "broadcast::Sender::Closed was polled after");
}

TEST(BroadcastWait, TakesAUnitOfTheBudgetForEachValue) {
  auto [tx, rx] = Channel<uint32_t>(size_t{2} * kBudgetPerPoll);
  for (uint32_t i = 0; i <= kBudgetPerPoll; ++i) ASSERT_TRUE(tx.Send(i).ok());
  CountingWaker task;
  const Waker waker = task.NewWaker();
  {
    Context cx(waker);
    for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
      ReceiveFuture<uint32_t> receive = rx.Receive();
      ASSERT_TRUE(receive.Poll(cx).IsReady());
    }
    ReceiveFuture<uint32_t> receive = rx.Receive();
    EXPECT_TRUE(receive.Poll(cx).IsPending());
    EXPECT_EQ(task.wakes(), 1);
    // The future does not wait for a value: there is a value.
    ReceiveFuture<uint32_t> moved = std::move(receive);
    EXPECT_EQ(*PollOnce(moved, waker).value(), kBudgetPerPoll);
  }
}

TEST(BroadcastWait, APendingReceiveTakesNoBudget) {
  auto [tx, rx] = Channel<int>(2);
  const Waker waker;
  Context cx(waker);
  for (uint32_t i = 0; i < 2 * kBudgetPerPoll; ++i) {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(receive.Poll(cx).IsPending());
  }
  EXPECT_TRUE(cx.HasBudget());
}

// Trap C11 (#5578): wakers are cloned, called and dropped without the lock.
TEST(BroadcastWait, AWakerCanUseTheChannel) {
  auto [tx, rx] = Channel<int>(2);
  const auto use = [&tx = tx] { static_cast<void>(tx.size()); };
  CountingWaker task;
  task.OnClone(use);
  task.OnWake(use);
  task.OnDrop(use);
  const Waker waker = task.NewWaker();
  CountingWaker other;
  const Waker other_waker = other.NewWaker();
  {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    // Drops the previous waker.
    ASSERT_TRUE(PollOnce(receive, other_waker).IsPending());
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    ASSERT_TRUE(tx.Send(1).ok());
    EXPECT_TRUE(PollOnce(receive, waker).IsReady());
  }
  {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
  }
  EXPECT_GE(task.drops(), 2);
  EXPECT_EQ(task.wakes(), 1);
}

// Wakers of futures that wait until there is no receiver are also called
// and dropped without the lock.
TEST(BroadcastWait, AWakerOfClosedCanUseTheChannel) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<Receiver<int>> receiver(std::move(rx));
  CountingWaker task;
  task.OnWake([&tx = tx] { EXPECT_EQ(tx.receiver_count(), 0); });
  const Waker waker = task.NewWaker();
  ClosedFuture closed = tx.Closed();
  ASSERT_TRUE(PollOnce(closed, waker).IsPending());
  receiver.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed, waker).IsReady());
}

// There are more waiters than are woken at once: a waiter whose turn has not
// come may be polled when there is a receiver again. It waits for the
// destruction of that receiver, as all others do.
TEST(BroadcastWait, AReceiverMaySubscribeWhileWaitersAreWoken) {
  constexpr size_t kMany = 40;
  auto [tx, rx] = Channel<int>(2);
  std::optional<Receiver<int>> receiver(std::move(rx));
  std::vector<std::unique_ptr<ClosedFuture>> closed;
  CountingWaker task, last_task;
  bool polled = false;
  task.OnWake([&, &tx = tx] {
    if (std::exchange(polled, true)) return;
    receiver.emplace(tx.Subscribe());
    EXPECT_TRUE(PollOnce(*closed.back(), last_task.NewWaker()).IsPending());
  });
  for (size_t i = 0; i < kMany; ++i) {
    closed.push_back(std::make_unique<ClosedFuture>(tx.Closed()));
    const Waker waker = (i + 1 < kMany ? task : last_task).NewWaker();
    ASSERT_TRUE(PollOnce(*closed.back(), waker).IsPending());
  }
  {
    const Receiver<int> last = *std::exchange(receiver, std::nullopt);
  }
  EXPECT_EQ(task.wakes(), kMany - 1);
  EXPECT_EQ(last_task.wakes(), 1);
  const Waker waker = task.NewWaker();
  for (auto& future : closed) {
    EXPECT_TRUE(PollOnce(*future, waker).IsPending());
  }
  receiver.reset();
  EXPECT_EQ(task.wakes(), 2 * kMany - 1);
  for (auto& future : closed) EXPECT_TRUE(PollOnce(*future).IsReady());
}

// Trap C11 (#5923, #5925): receivers that wait again, while a send wakes, wait
// for the next value; the send ignores them.
TEST(BroadcastWait, ASendWakesOnlyEarlierWaiters) {
  constexpr size_t kReceivers = 100;  // several batches
  const Sender<int> tx(2);
  std::vector<Receiver<int>> receivers;
  std::vector<CountingWaker> tasks(kReceivers);
  std::vector<Waker> wakers;
  std::vector<std::unique_ptr<ReceiveFuture<int>>> receive(kReceivers);
  int again = 0;
  for (size_t i = 0; i < kReceivers; ++i) {
    receivers.push_back(tx.Subscribe());
    wakers.push_back(tasks[i].NewWaker());
  }
  for (size_t i = 0; i < kReceivers; ++i) {
    // The woken receiver receives at once, and waits for the next value.
    tasks[i].OnWake([&, i] {
      EXPECT_TRUE(PollOnce(*receive[i], wakers[i]).IsReady());
      receive[i] = std::make_unique<ReceiveFuture<int>>(receivers[i].Receive());
      EXPECT_TRUE(PollOnce(*receive[i], wakers[i]).IsPending());
      ++again;
    });
    receive[i] = std::make_unique<ReceiveFuture<int>>(receivers[i].Receive());
    ASSERT_TRUE(PollOnce(*receive[i], wakers[i]).IsPending());
  }
  ASSERT_EQ(tx.Send(1).value(), kReceivers);
  EXPECT_EQ(again, kReceivers);
  for (const CountingWaker& task : tasks) EXPECT_EQ(task.wakes(), 1);
}

TEST(BroadcastWait, WaitersCanBeDestroyedWhileOthersAreWoken) {
  constexpr size_t kReceivers = 100;
  const Sender<int> tx(2);
  std::vector<Receiver<int>> receivers;
  std::vector<CountingWaker> tasks(kReceivers);
  std::vector<std::unique_ptr<ReceiveFuture<int>>> receive;
  for (size_t i = 0; i < kReceivers; ++i) receivers.push_back(tx.Subscribe());
  for (size_t i = 0; i < kReceivers; ++i) {
    const Waker waker = tasks[i].NewWaker();
    receive.push_back(
        std::make_unique<ReceiveFuture<int>>(receivers[i].Receive()));
    ASSERT_TRUE(PollOnce(*receive[i], waker).IsPending());
  }
  // The first woken waiter cancels the last waiter, which is in another batch.
  tasks.front().OnWake([&] { receive.back().reset(); });
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(tasks.back().wakes(), 0);
  EXPECT_EQ(tasks[kReceivers - 2].wakes(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(BroadcastWait, AThrowingWakerDoesNotStopTheOthers) {
  auto [tx, rx1] = Channel<std::string>(2);
  Receiver<std::string> rx2 = tx.Subscribe();
  CountingWaker bad, good;
  bad.OnWake([] { throw std::runtime_error("bad"); });
  const Waker bad_waker = bad.NewWaker();
  const Waker good_waker = good.NewWaker();
  ReceiveFuture<std::string> receive1 = rx1.Receive();
  ReceiveFuture<std::string> receive2 = rx2.Receive();
  ASSERT_TRUE(PollOnce(receive1, bad_waker).IsPending());
  ASSERT_TRUE(PollOnce(receive2, good_waker).IsPending());
  EXPECT_THROW(static_cast<void>(tx.Send("one")), std::runtime_error);
  EXPECT_EQ(good.wakes(), 1);
  EXPECT_EQ(*PollOnce(receive2, good_waker).value(), "one");
}

TEST(BroadcastWait, AThrowingCloneLeavesTheFutureUnchanged) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task;
  task.OnClone([] { throw std::runtime_error("bad"); });
  const Waker waker = task.NewWaker();
  ReceiveFuture<int> receive = rx.Receive();
  EXPECT_THROW(static_cast<void>(PollOnce(receive, waker)), std::runtime_error);
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(*PollOnce(receive, waker).value(), 1);
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(BroadcastWait, ClosedIsReadyWhenNoReceiverIsLeft) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<Receiver<int>> receiver(std::move(rx));
  CountingWaker task;
  const Waker waker = task.NewWaker();
  ClosedFuture closed = tx.Closed();
  ASSERT_TRUE(PollOnce(closed, waker).IsPending());
  receiver.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed, waker).IsReady());
}

// As for a watch channel: a poll decides, and a moment without receivers
// between two polls does not count.
TEST(BroadcastWait, ClosedWaitsAgainForANewReceiver) {
  const Sender<int> tx(2);
  ClosedFuture before = tx.Closed();
  std::optional<Receiver<int>> receiver(tx.Subscribe());
  EXPECT_TRUE(PollOnce(before).IsPending());
  CountingWaker task, other_task;
  const Waker waker = task.NewWaker();
  ClosedFuture closed = tx.Closed();
  ClosedFuture moved = tx.Closed();
  ASSERT_TRUE(PollOnce(closed, waker).IsPending());
  ASSERT_TRUE(PollOnce(moved, waker).IsPending());
  for (int round = 1; round <= 2; ++round) {
    receiver.reset();
    EXPECT_EQ(task.wakes(), round == 1 ? 2 : 3);
    EXPECT_EQ(other_task.wakes(), round - 1);
    receiver.emplace(tx.Subscribe());
    // The future was notified and must wait again, with the same waker or with
    // another waker.
    EXPECT_TRUE(PollOnce(closed, waker).IsPending());
    EXPECT_TRUE(PollOnce(moved, other_task.NewWaker()).IsPending());
  }
  receiver.reset();
  EXPECT_EQ(task.wakes(), 4);
  EXPECT_EQ(other_task.wakes(), 2);
  EXPECT_TRUE(PollOnce(before).IsReady());
  EXPECT_TRUE(PollOnce(closed, waker).IsReady());
  EXPECT_TRUE(PollOnce(moved, waker).IsReady());
}

TEST(BroadcastWait, ClosedIsReadyWithoutAReceiverOnlyWithBudget) {
  const Sender<int> tx(2);
  ClosedFuture closed = tx.Closed();
  const Waker waker;
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  EXPECT_TRUE(closed.Poll(cx).IsPending());
  EXPECT_TRUE(PollOnce(closed).IsReady());
}

TEST(BroadcastWait, ACompleteFutureKeepsNoWaker) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task, other_task;
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive, task.NewWaker()).IsPending());
  EXPECT_EQ(task.live(), 1);
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_TRUE(PollOnce(receive, other_task.NewWaker()).IsReady());
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(other_task.live(), 0);

  ClosedFuture closed = tx.Closed();
  ASSERT_TRUE(PollOnce(closed, task.NewWaker()).IsPending());
  EXPECT_EQ(task.live(), 1);
  {
    const Receiver<int> dropped = std::move(rx);
  }
  EXPECT_TRUE(PollOnce(closed, other_task.NewWaker()).IsReady());
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(other_task.live(), 0);
}

TEST(BroadcastWait, ACancelledClosedIsNotWoken) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<Receiver<int>> receiver(std::move(rx));
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    ClosedFuture closed = tx.Closed();
    ASSERT_TRUE(PollOnce(closed, waker).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  receiver.reset();
  EXPECT_EQ(task.wakes(), 0);
}

}  // namespace
}  // namespace rouse::broadcast
