// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/mpsc/mpsc.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc {
namespace {

using ::testing::ElementsAre;

static_assert(Stream<Receiver<Box>>);
static_assert(Stream<UnboundedReceiver<Box>>);
static_assert(Future<SendFuture<Box>>);
static_assert(!std::is_aggregate_v<SendFuture<Box>>);
static_assert(std::is_copy_constructible_v<Sender<Box>>);
static_assert(!std::is_copy_constructible_v<Receiver<Box>>);
static_assert(!std::is_copy_constructible_v<Permit<Box>>);

// ---- Sending and receiving.

TEST(Mpsc, MessagesAreReceivedInOrder) {
  auto [tx, rx] = Channel<Box>(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Take(tx.Send(MakeBox(i))).ok());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(**Take(rx.Receive()), i);
  EXPECT_TRUE(PollOnce(rx.Receive()).IsPending());
}

TEST(Mpsc, AnUnboundedChannelNeverRefuses) {
  auto [tx, rx] = UnboundedChannel<Box>();
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(MakeBox(i)).ok());
  EXPECT_EQ(rx.size(), size_t{kMany});
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(**Take(rx.Receive()), i);
  EXPECT_TRUE(rx.IsEmpty());
}

TEST(Mpsc, CopiesLvalues) {
  const int sent = 3;
  auto [unbounded, from_unbounded] = UnboundedChannel<int>();
  EXPECT_TRUE(unbounded.Send(sent).ok());
  EXPECT_EQ(*Take(from_unbounded.Receive()), 3);
  auto [bounded, from_bounded] = Channel<int>(3);
  EXPECT_TRUE(Take(bounded.Send(sent)).ok());
  EXPECT_TRUE(bounded.TrySend(sent).ok());
  EXPECT_TRUE(bounded.BlockingSend(sent).ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*Take(from_bounded.Receive()), 3);
}

TEST(Mpsc, ReusesItsBlocksManyTimes) {
  auto [tx, rx] = UnboundedChannel<int>();
  int sent = 0;
  int received = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < round % 70; ++i) EXPECT_TRUE(tx.Send(sent++).ok());
    while (received < sent) EXPECT_EQ(*Take(rx.Receive()), received++);
    EXPECT_TRUE(PollOnce(rx.Receive()).IsPending());
  }
}

TEST(Mpsc, AMessageWakesTheReceiver) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive, waker).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*Take(receive), 1);
}

TEST(Mpsc, OnlyTheFirstOfSeveralMessagesWakesTheReceiver) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto receive = rx.Receive();
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(int{i}).ok());
  EXPECT_EQ(*Take(receive), 0);
  for (int i = 1; i < kMany; ++i) EXPECT_EQ(*Take(rx.Receive()), i);
  auto second = rx.Receive();
  EXPECT_TRUE(PollOnce(second, waker).IsPending());
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(int{i}).ok());
  EXPECT_EQ(task.wakes(), 1);
}

TEST(Mpsc, TheWakerOfTheLastPollIsWoken) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker first;
  CountingWaker second;
  const Waker first_waker = first.NewWaker();
  const Waker second_waker = second.NewWaker();
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive, first_waker).IsPending());
  EXPECT_TRUE(PollOnce(receive, second_waker).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(Mpsc, ACancelledReceiveIsNotWoken) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  const Waker waker = task.NewWaker();
  {
    auto receive = rx.Receive();
    EXPECT_TRUE(PollOnce(receive, waker).IsPending());
    EXPECT_EQ(task.live(), 2);
  }
  EXPECT_EQ(task.live(), 1);
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(*Take(rx.Receive()), 1);
}

TEST(Mpsc, AReadyPollKeepsNoWaker) {
  auto channel = UnboundedChannel<int>();
  auto& [tx, rx] = channel;
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  // The message arrives during the poll, before a waker is registered for it.
  task.OnClone([&] { EXPECT_TRUE(channel.first.Send(1).ok()); });
  EXPECT_TRUE(rx.PollReceive(cx).IsReady());
  EXPECT_EQ(task.live(), 1);
  task.OnClone(nullptr);
  EXPECT_TRUE(rx.PollReceive(cx).IsPending());
  EXPECT_EQ(task.live(), 2);
  rx.Close();
  EXPECT_TRUE(rx.PollReceive(cx).IsReady());
  EXPECT_EQ(task.live(), 1);
}

TEST(Mpsc, AReceiverIsAStream) {
  auto [tx, rx] = UnboundedChannel<int>();
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(Take(Next(rx)), 1);
}

TEST(Mpsc, TryReceiveDistinguishesEmptyFromClosed) {
  auto channel = Channel<Box>(1);
  auto& rx = channel.second;
  std::optional<Sender<Box>> tx = std::move(channel.first);
  EXPECT_TRUE(absl::IsUnavailable(rx.TryReceive().status()));
  EXPECT_TRUE(tx->TrySend(MakeBox(1)).ok());
  tx.reset();
  EXPECT_EQ(**rx.TryReceive(), 1);
  EXPECT_TRUE(absl::IsCancelled(rx.TryReceive().status()));
}

// A `StatusOr` would take the error of the call for a value that was sent.
TEST(Mpsc, TryReceiveOfAStatusDistinguishesEmptyFromClosed) {
  auto [tx, rx] = UnboundedChannel<absl::Status>();
  absl::StatusOr<absl::Status> received = rx.TryReceive();
  EXPECT_TRUE(absl::IsUnavailable(received.status()));
  EXPECT_TRUE(tx.Send(absl::NotFoundError("sent")).ok());
  received = rx.TryReceive();
  ASSERT_TRUE(received.ok());
  EXPECT_TRUE(absl::IsNotFound(*received));
  rx.Close();
  EXPECT_TRUE(absl::IsCancelled(rx.TryReceive().status()));
}

TEST(Mpsc, ReceiveManyTakesAtMostItsLimit) {
  auto [tx, rx] = Channel<int>(100);
  std::vector<int> out = {-1};
  auto receive = rx.ReceiveMany(out, 3);
  EXPECT_TRUE(PollOnce(receive).IsPending());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(tx.TrySend(int{i}).ok());
  EXPECT_EQ(Take(receive), 3u);
  EXPECT_EQ(tx.capacity(), 98u);
  EXPECT_EQ(Take(rx.ReceiveMany(out, 10)), 2u);
  EXPECT_THAT(out, ElementsAre(-1, 0, 1, 2, 3, 4));
  EXPECT_EQ(tx.capacity(), 100u);
}

TEST(Mpsc, ReceiveManyCrossesBlocks) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::vector<int> out;
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(int{i}).ok());
  EXPECT_EQ(Take(rx.ReceiveMany(out, kMany + 1)), size_t{kMany});
  EXPECT_EQ(out.back(), kMany - 1);
}

TEST(Mpsc, ReceiveManyOfZeroIsReadyAtOnce) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::vector<int> out;
  EXPECT_EQ(Take(rx.ReceiveMany(out, 0)), 0u);
}

TEST(Mpsc, ReceiveManyReturnsZeroAtTheEnd) {
  auto channel = UnboundedChannel<int>();
  std::vector<int> out;
  {
    const auto tx = std::move(channel.first);
  }
  EXPECT_EQ(Take(channel.second.ReceiveMany(out, 5)), 0u);
}

// ---- Room.

TEST(Mpsc, ASendWaitsForRoom) {
  auto [tx, rx] = Channel<Box>(1);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  EXPECT_TRUE(Take(tx.Send(MakeBox(1))).ok());
  auto send = tx.Send(MakeBox(2));
  EXPECT_TRUE(PollOnce(send, waker).IsPending());
  EXPECT_EQ(**Take(rx.Receive()), 1);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(Take(send).ok());
  EXPECT_EQ(**Take(rx.Receive()), 2);
}

TEST(Mpsc, AWaitingSendIsNotOvertaken) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(0).ok());
  auto first = tx.Send(1);
  auto second = tx.Send(2);
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  EXPECT_EQ(*Take(rx.Receive()), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(tx.TrySend(3)));
  EXPECT_TRUE(PollOnce(second).IsPending());
  EXPECT_TRUE(Take(first).ok());
}

TEST(Mpsc, AFailedTrySendLeavesItsArgument) {
  auto channel = Channel<Box>(1);
  auto& tx = channel.first;
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  Box box = MakeBox(2);
  EXPECT_TRUE(absl::IsResourceExhausted(tx.TrySend(std::move(box))));
  EXPECT_EQ(*box, 2);  // NOLINT(bugprone-use-after-move)
  {
    const auto rx = std::move(channel.second);
  }
  EXPECT_TRUE(absl::IsCancelled(tx.TrySend(std::move(box))));
  EXPECT_EQ(*box, 2);  // NOLINT(bugprone-use-after-move)
}

TEST(Mpsc, ACancelledSendSendsNothingAndLosesNoRoom) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(0).ok());
  {
    auto send = tx.Send(1);
    EXPECT_TRUE(PollOnce(send).IsPending());
    EXPECT_EQ(*Take(rx.Receive()), 0);  // the room is given to `send`
    EXPECT_EQ(tx.capacity(), 0u);
  }
  EXPECT_EQ(tx.capacity(), 1u);
  EXPECT_TRUE(PollOnce(rx.Receive()).IsPending());
}

TEST(Mpsc, AFailedSendReturnsItsValue) {
  auto channel = Channel<Box>(1);
  {
    const auto rx = std::move(channel.second);
  }
  auto send = channel.first.Send(MakeBox(7));
  EXPECT_TRUE(absl::IsCancelled(Take(send)));
  EXPECT_EQ(*send.TakeValue(), 7);
}

TEST(Mpsc, APendingSendIsCancelledByTakingItsValue) {
  auto [tx, rx] = Channel<Box>(1);
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  auto send = tx.Send(MakeBox(2));
  EXPECT_TRUE(PollOnce(send).IsPending());
  EXPECT_EQ(*send.TakeValue(), 2);
  EXPECT_EQ(**Take(rx.Receive()), 1);
  EXPECT_EQ(tx.capacity(), 1u);
}

TEST(Mpsc, SendUntilGivesUpWhenTheOtherFutureIsReady) {
  auto [tx, rx] = Channel<Box>(1);
  auto [stop, stopped] = UnboundedChannel<int>();
  auto until = stopped.Receive();
  auto send = tx.SendUntil(MakeBox(1), until);
  EXPECT_TRUE(Take(send).ok());
  auto late = tx.SendUntil(MakeBox(2), until);
  EXPECT_TRUE(PollOnce(late).IsPending());
  EXPECT_TRUE(stop.Send(0).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(Take(late)));
  EXPECT_EQ(**Take(rx.Receive()), 1);
  EXPECT_EQ(tx.capacity(), 1u);
  EXPECT_EQ(*late.TakeValue(), 2);
}

TEST(Mpsc, SendUntilChecksForRoomWithoutBudget) {
  auto [tx, rx] = Channel<int>(1);
  const Waker waker;
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  auto until = Ready();
  auto send = tx.SendUntil(1, until);
  EXPECT_TRUE(send.Poll(cx).IsPending());
  EXPECT_TRUE(Take(send).ok());
}

TEST(Mpsc, SendUntilSendsWhenThereIsRoomFirst) {
  auto [tx, rx] = Channel<Box>(1);
  auto [stop, stopped] = UnboundedChannel<int>();
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  auto send = tx.SendUntil(MakeBox(2), stopped.Receive());
  EXPECT_TRUE(PollOnce(send).IsPending());
  EXPECT_EQ(**Take(rx.Receive()), 1);
  EXPECT_TRUE(Take(send).ok());
  EXPECT_EQ(**Take(rx.Receive()), 2);
}

TEST(Mpsc, CapacityIsTheFreeRoom) {
  auto [tx, rx] = Channel<int>(3);
  EXPECT_EQ(tx.max_capacity(), 3u);
  EXPECT_TRUE(tx.TrySend(1).ok());
  EXPECT_EQ(tx.capacity(), 2u);
  EXPECT_EQ(rx.capacity(), 2u);
  EXPECT_EQ(rx.max_capacity(), 3u);
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_EQ(tx.capacity(), 3u);
}

// ---- Sizes.

// Trap C3.
TEST(Mpsc, IsEmptyIsRightAtBlockBoundaries) {
  auto [tx, rx] = UnboundedChannel<int>();
  for (int i = 0; i < kMany; ++i) {
    EXPECT_TRUE(rx.IsEmpty());
    EXPECT_TRUE(tx.Send(int{i}).ok());
    EXPECT_FALSE(rx.IsEmpty());
    EXPECT_EQ(rx.size(), 1u);
    EXPECT_EQ(*Take(rx.Receive()), i);
  }
}

// Trap C4.
TEST(Mpsc, TheCloseDoesNotCountAsAMessage) {
  for (int sent = 0; sent < 70; ++sent) {
    auto channel = UnboundedChannel<int>();
    auto& rx = channel.second;
    for (int i = 0; i < sent; ++i) EXPECT_TRUE(channel.first.Send(i + 0).ok());
    {
      const auto tx = std::move(channel.first);
    }
    EXPECT_EQ(rx.size(), static_cast<size_t>(sent));
    for (int i = 0; i < sent; ++i) EXPECT_EQ(*Take(rx.Receive()), i);
    EXPECT_EQ(rx.size(), 0u);
    EXPECT_EQ(Take(rx.Receive()), std::nullopt);
    EXPECT_EQ(rx.size(), 0u);
  }
}

// Trap C4: failed sends are not counted.
TEST(Mpsc, ARefusedSendDoesNotCountAsAMessage) {
  auto [tx, rx] = UnboundedChannel<int>();
  EXPECT_TRUE(tx.Send(1).ok());
  rx.Close();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(tx.Send(2).ok());
  EXPECT_EQ(rx.size(), 1u);
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_TRUE(rx.IsEmpty());
}

// ---- Senders and weak senders.

TEST(Mpsc, SameChannelComparesChannels) {
  const auto first = Channel<int>(1);
  const auto second = Channel<int>(1);
  EXPECT_TRUE(first.first.SameChannel(Sender<int>(first.first)));
  EXPECT_FALSE(first.first.SameChannel(second.first));
}

TEST(Mpsc, AWeakSenderDoesNotKeepTheChannelOpen) {
  auto channel = Channel<int>(1);
  auto& rx = channel.second;
  std::optional<Sender<int>> tx = std::move(channel.first);
  const WeakSender<int> weak = tx->Downgrade();
  EXPECT_EQ(weak.weak_count(), 1u);
  EXPECT_EQ(rx.sender_weak_count(), 1u);
  std::optional<Sender<int>> upgraded = weak.Upgrade();
  ASSERT_TRUE(upgraded.has_value());
  EXPECT_TRUE(upgraded->SameChannel(*tx));
  EXPECT_EQ(weak.strong_count(), 2u);
  tx.reset();
  EXPECT_TRUE(PollOnce(rx.Receive()).IsPending());
  upgraded.reset();
  EXPECT_FALSE(weak.Upgrade().has_value());
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
}

TEST(Mpsc, AWeakSenderCanBeTheLastHandle) {
  std::optional<WeakUnboundedSender<int>> weak;
  {
    const auto channel = UnboundedChannel<int>();
    weak = channel.first.Downgrade();
    const WeakUnboundedSender<int> copy = *weak;
    EXPECT_EQ(copy.weak_count(), 2u);
  }
  EXPECT_FALSE(weak->Upgrade().has_value());
  EXPECT_EQ(weak->weak_count(), 1u);
}

// ---- Budget, threads, coroutines.

TEST(Mpsc, EachMessageTakesAUnitOfTheBudget) {
  auto [tx, rx] = UnboundedChannel<int>();
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(int{i}).ok());
  const Waker waker;
  Context cx(waker);
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(rx.PollReceive(cx).IsReady());
  }
  EXPECT_TRUE(rx.PollReceive(cx).IsPending());
}

// Trap C10.
TEST(Mpsc, ASendWithoutBudgetKeepsItsPlace) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(0).ok());
  const Waker waker;
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  auto first = tx.Send(1);
  EXPECT_TRUE(first.Poll(cx).IsPending());
  auto second = tx.Send(2);
  EXPECT_TRUE(PollOnce(second).IsPending());
  EXPECT_EQ(*Take(rx.Receive()), 0);
  EXPECT_TRUE(PollOnce(second).IsPending());
  EXPECT_TRUE(Take(first).ok());
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_TRUE(Take(second).ok());
}

TEST(Mpsc, BlockingCallsWorkBetweenThreads) {
  auto channel = Channel<int>(2);
  auto& rx = channel.second;
  std::thread sender([tx = std::move(channel.first)] {
    for (int i = 0; i < kMany; ++i) {
      EXPECT_TRUE(tx.BlockingSend(int{i}).ok());
    }
  });
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(rx.BlockingReceive(), i);
  EXPECT_EQ(rx.BlockingReceive(), std::nullopt);
  sender.join();
}

TEST(Mpsc, AFailedBlockingSendLeavesItsArgument) {
  auto [tx, rx] = Channel<Box>(1);
  rx.Close();
  Box box = MakeBox(1);
  EXPECT_TRUE(absl::IsCancelled(tx.BlockingSend(std::move(box))));
  EXPECT_EQ(*box, 1);  // NOLINT(bugprone-use-after-move)
}

TEST(Mpsc, BlockingReceiveManyFillsAVector) {
  auto [tx, rx] = UnboundedChannel<int>();
  EXPECT_TRUE(tx.Send(1).ok());
  std::vector<int> out;
  EXPECT_EQ(rx.BlockingReceiveMany(out, 8), 1u);
}

Co<> Count(Sender<Box> tx, int count) {
  for (int i = 0; i < count; ++i) {
    const absl::Status status = co_await tx.Send(MakeBox(i));
    EXPECT_TRUE(status.ok());
  }
}

Co<int> Sum(Receiver<Box> rx) {
  int sum = 0;
  while (std::optional<Box> box = co_await rx.Receive()) sum += **box;
  co_return sum;
}

TEST(Mpsc, WorksInCoroutines) {
  auto channel = Channel<Box>(3);
  std::thread sender([tx = std::move(channel.first)]() mutable {
    BlockOn(Count(std::move(tx), 100));
  });
  EXPECT_EQ(BlockOn(Sum(std::move(channel.second))), 4950);
  sender.join();
}

// ---- Misuse.

TEST(Mpsc, ACapacityOfZeroPanics) {
  EXPECT_PANIC(Channel<int>(0), "mpsc::Channel: the capacity is 0");
}

TEST(Mpsc, PollingACompleteReceivePanics) {
  auto [tx, rx] = UnboundedChannel<int>();
  EXPECT_TRUE(tx.Send(1).ok());
  auto receive = rx.Receive();
  EXPECT_EQ(*Take(receive), 1);
  EXPECT_PANIC(static_cast<void>(PollOnce(receive)),
               "mpsc::Receiver::Receive was polled after");
}

TEST(Mpsc, PollingACompleteSendPanics) {
  auto [tx, rx] = Channel<int>(2);
  auto send = tx.Send(1);
  EXPECT_TRUE(Take(send).ok());
  EXPECT_PANIC(static_cast<void>(PollOnce(send)),
               "mpsc::Sender::Send was polled after");
  EXPECT_PANIC(send.TakeValue(),
               "mpsc::SendFuture::TakeValue: the value was sent");
  auto taken = tx.Send(2);
  EXPECT_EQ(taken.TakeValue(), 2);
  EXPECT_PANIC(static_cast<void>(PollOnce(taken)),
               "mpsc::Sender::Send was polled after");
}

TEST(Mpsc, MovingAPendingFuturePanics) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(1).ok());
  auto send = tx.Send(1);
  EXPECT_TRUE(PollOnce(send).IsPending());
  EXPECT_PANIC(auto moved = std::move(send),
               "mpsc::Sender::Send was moved after");
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed).IsPending());
  EXPECT_PANIC(auto moved = std::move(closed),
               "mpsc::Sender::Closed was moved after");
}

}  // namespace
}  // namespace rouse::mpsc
