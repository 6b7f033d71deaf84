// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/mpmc/mpmc.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/stream.h"
#include "rouse/sync/mpmc/positions.h"
#include "rouse/sync/semaphore/semaphore.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::mpmc {
namespace {

using mpsc::Box;
using mpsc::kMany;
using mpsc::MakeBox;
using mpsc::Take;

static_assert(Stream<Receiver<Box>>);
static_assert(Stream<UnboundedReceiver<Box>>);
static_assert(Future<SendFuture<Box>>);
static_assert(!std::is_aggregate_v<SendFuture<Box>>);
static_assert(std::is_copy_constructible_v<Sender<Box>>);
static_assert(std::is_copy_constructible_v<Receiver<Box>>);
static_assert(std::is_nothrow_move_constructible_v<Receiver<Box>>);

// Uses up the budget of a poll.
void SpendBudget(Context& cx) {
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
}

// ---- Sending and receiving.

TEST(Mpmc, MessagesAreReceivedInOrder) {
  auto [tx, rx] = Channel<Box>(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Take(tx.Send(MakeBox(i))).ok());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(**Take(rx.Receive()), i);
  EXPECT_TRUE(PollOnce(rx.Receive()).IsPending());
}

TEST(Mpmc, AnUnboundedChannelNeverRefuses) {
  auto [tx, rx] = UnboundedChannel<Box>();
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(MakeBox(i)).ok());
  EXPECT_EQ(rx.size(), size_t{kMany});
  EXPECT_EQ(tx.size(), size_t{kMany});
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(**Take(rx.Receive()), i);
  EXPECT_TRUE(rx.IsEmpty());
  EXPECT_TRUE(tx.IsEmpty());
}

TEST(Mpmc, EachMessageGoesToOneReceiver) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(int{i}).ok());
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(Take((i % 3 == 0 ? rx : other).Receive()), i);
  }
  EXPECT_TRUE(PollOnce(rx.Receive()).IsPending());
  EXPECT_TRUE(PollOnce(other.Receive()).IsPending());
}

TEST(Mpmc, CopiesLvalues) {
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

TEST(Mpmc, ReceiversAreWokenInTheOrderInWhichTheyWait) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  CountingWaker first;
  CountingWaker second;
  CountingWaker third;
  auto receive1 = rx.Receive();
  auto receive2 = other.Receive();
  auto receive3 = rx.Receive();
  EXPECT_TRUE(first.Poll(receive1).IsPending());
  EXPECT_TRUE(second.Poll(receive2).IsPending());
  EXPECT_TRUE(third.Poll(receive3).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(first.wakes(), 1);
  EXPECT_EQ(second.wakes(), 0);
  EXPECT_TRUE(tx.Send(2).ok());
  EXPECT_EQ(second.wakes(), 1);
  EXPECT_EQ(third.wakes(), 0);
  // The woken receiver that is polled first gets the first message.
  EXPECT_EQ(Take(receive2), 1);
  EXPECT_EQ(Take(receive1), 2);
  EXPECT_TRUE(third.Poll(receive3).IsPending());
}

TEST(Mpmc, AWaitingReceiverIsNotOvertaken) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(other.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(other.TryReceive().status()));
  auto late = other.Receive();
  EXPECT_TRUE(PollOnce(late).IsPending());
  EXPECT_EQ(Take(receive), 1);
  EXPECT_TRUE(PollOnce(late).IsPending());
}

TEST(Mpmc, TheWakerOfTheLastPollIsWoken) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker first;
  CountingWaker second;
  auto receive = rx.Receive();
  EXPECT_TRUE(first.Poll(receive).IsPending());
  EXPECT_TRUE(second.Poll(receive).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(Mpmc, ACancelledReceiveIsNotWoken) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  {
    auto receive = rx.Receive();
    EXPECT_TRUE(task.Poll(receive).IsPending());
    EXPECT_EQ(task.live(), 1);
  }
  EXPECT_EQ(task.live(), 0);
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(*Take(rx.Receive()), 1);
}

TEST(Mpmc, ACancelledWokenReceivePassesTheWakeOn) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  CountingWaker first;
  CountingWaker second;
  std::optional leaving(rx.Receive());
  auto receive = other.Receive();
  EXPECT_TRUE(first.Poll(*leaving).IsPending());
  EXPECT_TRUE(second.Poll(receive).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(first.wakes(), 1);
  leaving.reset();
  EXPECT_EQ(second.wakes(), 1);
  EXPECT_EQ(Take(receive), 1);
}

TEST(Mpmc, ACancelledWokenReceiveLeavesTheMessage) {
  auto [tx, rx] = UnboundedChannel<int>();
  {
    auto receive = rx.Receive();
    EXPECT_TRUE(PollOnce(receive).IsPending());
    EXPECT_TRUE(tx.Send(1).ok());
  }
  EXPECT_EQ(*rx.TryReceive(), 1);
}

// ---- Room.

TEST(Mpmc, ASendWaitsForRoom) {
  auto [tx, rx] = Channel<Box>(1);
  CountingWaker task;
  EXPECT_TRUE(Take(tx.Send(MakeBox(1))).ok());
  auto send = tx.Send(MakeBox(2));
  EXPECT_TRUE(task.Poll(send).IsPending());
  EXPECT_EQ(**Take(rx.Receive()), 1);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(Take(send).ok());
  EXPECT_EQ(**Take(rx.Receive()), 2);
}

TEST(Mpmc, AWaitingSendIsNotOvertaken) {
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

TEST(Mpmc, AFailedTrySendLeavesItsArgument) {
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

TEST(Mpmc, ACancelledSendSendsNothingAndLosesNoRoom) {
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

TEST(Mpmc, AFailedSendReturnsItsValue) {
  auto channel = Channel<Box>(1);
  {
    const auto rx = std::move(channel.second);
  }
  auto send = channel.first.Send(MakeBox(7));
  EXPECT_TRUE(absl::IsCancelled(Take(send)));
  EXPECT_EQ(*send.TakeValue(), 7);
}

TEST(Mpmc, APendingSendIsCancelledByTakingItsValue) {
  auto [tx, rx] = Channel<Box>(1);
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  auto send = tx.Send(MakeBox(2));
  EXPECT_TRUE(PollOnce(send).IsPending());
  EXPECT_EQ(*send.TakeValue(), 2);
  EXPECT_EQ(**Take(rx.Receive()), 1);
  EXPECT_EQ(tx.capacity(), 1u);
}

TEST(Mpmc, CapacityIsTheFreeRoom) {
  auto [tx, rx] = Channel<int>(3);
  EXPECT_EQ(tx.max_capacity(), 3u);
  EXPECT_TRUE(tx.TrySend(1).ok());
  EXPECT_EQ(tx.capacity(), 2u);
  EXPECT_EQ(rx.capacity(), 2u);
  EXPECT_EQ(rx.max_capacity(), 3u);
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_EQ(tx.capacity(), 3u);
}

// ---- Handles.

TEST(Mpmc, SameChannelComparesChannels) {
  const auto first = Channel<int>(1);
  const auto second = Channel<int>(1);
  EXPECT_TRUE(first.first.SameChannel(Sender<int>(first.first)));
  EXPECT_FALSE(first.first.SameChannel(second.first));
  EXPECT_TRUE(first.second.SameChannel(Receiver<int>(first.second)));
  EXPECT_FALSE(first.second.SameChannel(second.second));
}

TEST(Mpmc, HandlesAreCounted) {
  auto [tx, rx] = Channel<int>(1);
  {
    const Sender<int> sender = tx;
    Receiver<int> receiver = rx;
    EXPECT_EQ(tx.strong_count(), 2u);
    EXPECT_EQ(rx.sender_strong_count(), 2u);
    EXPECT_EQ(tx.receiver_count(), 2u);
    EXPECT_EQ(rx.receiver_count(), 2u);
    receiver = rx;
    EXPECT_EQ(rx.receiver_count(), 2u);
  }
  EXPECT_EQ(tx.strong_count(), 1u);
  EXPECT_EQ(tx.receiver_count(), 1u);
}

TEST(Mpmc, AWeakSenderDoesNotKeepTheChannelOpen) {
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

TEST(Mpmc, AWeakSenderCanBeTheLastHandle) {
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

TEST(Mpmc, EachMessageTakesAUnitOfTheBudget) {
  auto [tx, rx] = UnboundedChannel<int>();
  for (int i = 0; i < 2 * kMany; ++i) EXPECT_TRUE(tx.Send(int{i}).ok());
  const Waker waker;
  Context cx(waker);
  for (uint32_t i = 0; i < kBudgetPerPoll / 2; ++i) {
    EXPECT_TRUE(rx.PollReceive(cx).IsReady());
    auto receive = rx.Receive();
    EXPECT_TRUE(receive.Poll(cx).IsReady());
  }
  EXPECT_TRUE(rx.PollReceive(cx).IsPending());
  auto receive = rx.Receive();
  EXPECT_TRUE(receive.Poll(cx).IsPending());
}

// The message is not kept for the task that yields.
TEST(Mpmc, AReceiveWithoutBudgetTakesNothing) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  EXPECT_TRUE(tx.Send(1).ok());
  CountingWaker task;
  auto receive = rx.Receive();
  {
    Context cx(task.waker());
    SpendBudget(cx);
    EXPECT_TRUE(receive.Poll(cx).IsPending());
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*other.TryReceive(), 1);
  EXPECT_TRUE(PollOnce(receive).IsPending());
}

// A message that was assigned to a receiver stays with the receiver.
TEST(Mpmc, AWokenReceiveWithoutBudgetKeepsItsMessage) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  CountingWaker task;
  auto receive = rx.Receive();
  EXPECT_TRUE(task.Poll(receive).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  {
    Context cx(task.waker());
    SpendBudget(cx);
    EXPECT_TRUE(receive.Poll(cx).IsPending());
  }
  EXPECT_TRUE(absl::IsUnavailable(other.TryReceive().status()));
  EXPECT_EQ(Take(receive), 1);
}

TEST(Mpmc, ASendWithoutBudgetKeepsItsPlace) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(0).ok());
  const Waker waker;
  Context cx(waker);
  SpendBudget(cx);
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

TEST(Mpmc, BlockingCallsWorkBetweenThreads) {
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

TEST(Mpmc, AFailedBlockingSendLeavesItsArgument) {
  auto [tx, rx] = Channel<Box>(1);
  rx.Close();
  Box box = MakeBox(1);
  EXPECT_TRUE(absl::IsCancelled(tx.BlockingSend(std::move(box))));
  EXPECT_EQ(*box, 1);  // NOLINT(bugprone-use-after-move)
}

TEST(Mpmc, BlockingReceiveManyFillsAVector) {
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

TEST(Mpmc, WorksInCoroutines) {
  auto channel = Channel<Box>(3);
  std::thread sender([tx = std::move(channel.first)]() mutable {
    BlockOn(Count(std::move(tx), 100));
  });
  int there = 0;
  std::thread receiver([&there, rx = channel.second]() mutable {
    there = BlockOn(Sum(std::move(rx)));
  });
  const int here = BlockOn(Sum(std::move(channel.second)));
  sender.join();
  receiver.join();
  EXPECT_EQ(here + there, 4950);
}

// ---- Misuse.

TEST(Mpmc, ACapacityOfZeroPanics) {
  EXPECT_PANIC(Channel<int>(0), "mpmc::Channel: the capacity is 0");
}

TEST(Mpmc, TheCapacityIsLimited) {
  constexpr size_t kMost = internal::Positions::kMaxCapacity;
  static_assert(kMost == Semaphore::kMaxPermits);
  EXPECT_PANIC(Channel<int>(kMost + 1),
               "mpmc::Channel: the capacity exceeds Semaphore::kMaxPermits");
  auto [tx, rx] = Channel<int>(kMost);
  EXPECT_EQ(tx.max_capacity(), kMost);
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.TrySend(int{i}).ok());
  EXPECT_EQ(tx.capacity(), kMost - kMany);
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(*Take(rx.Receive()), i);
  EXPECT_EQ(tx.capacity(), kMost);
}

TEST(Mpmc, PollingACompleteReceivePanics) {
  auto [tx, rx] = UnboundedChannel<int>();
  EXPECT_TRUE(tx.Send(1).ok());
  auto receive = rx.Receive();
  EXPECT_EQ(*Take(receive), 1);
  EXPECT_PANIC(static_cast<void>(PollOnce(receive)),
               "mpmc::Receiver::Receive was polled after");
}

TEST(Mpmc, PollingACompleteSendPanics) {
  auto [tx, rx] = Channel<int>(2);
  auto send = tx.Send(1);
  EXPECT_TRUE(Take(send).ok());
  EXPECT_PANIC(static_cast<void>(PollOnce(send)),
               "mpmc::Sender::Send was polled after");
  EXPECT_PANIC(send.TakeValue(),
               "mpmc::SendFuture::TakeValue: the value was sent");
  auto taken = tx.Send(2);
  EXPECT_EQ(taken.TakeValue(), 2);
  EXPECT_PANIC(static_cast<void>(PollOnce(taken)),
               "mpmc::Sender::Send was polled after");
}

// A future that is over refers to nothing.
TEST(Mpmc, PollingACompleteFutureWithoutItsChannelPanics) {
  std::optional channel = Channel<int>(2);
  std::vector<int> out;
  auto send = channel->first.Send(1);
  auto receive = channel->second.Receive();
  auto receive_many = channel->second.ReceiveMany(out, 1);
  EXPECT_TRUE(channel->first.TrySend(2).ok());
  EXPECT_TRUE(Take(send).ok());
  EXPECT_EQ(Take(receive), 2);
  EXPECT_EQ(Take(receive_many), 1u);
  channel.reset();
  EXPECT_PANIC(static_cast<void>(PollOnce(send)),
               "mpmc::Sender::Send was polled after");
  EXPECT_PANIC(static_cast<void>(PollOnce(receive)),
               "mpmc::Receiver::Receive was polled after");
  EXPECT_PANIC(static_cast<void>(PollOnce(receive_many)),
               "mpmc::Receiver::ReceiveMany was polled after");
}

TEST(Mpmc, MovingAPendingFuturePanics) {
  auto [tx, rx] = Channel<int>(1);
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive).IsPending());
  EXPECT_PANIC(auto moved = std::move(receive),
               "mpmc::Receiver::Receive was moved after");
  EXPECT_TRUE(tx.TrySend(1).ok());
  auto send = tx.Send(1);
  EXPECT_TRUE(PollOnce(send).IsPending());
  EXPECT_PANIC(auto moved = std::move(send),
               "mpmc::Sender::Send was moved after");
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed).IsPending());
  EXPECT_PANIC(auto moved = std::move(closed),
               "mpmc::Sender::Closed was moved after");
}

TEST(Mpmc, AFutureCanBeMovedBeforeItsFirstPoll) {
  auto [tx, rx] = Channel<int>(1);
  auto receive = rx.Receive();
  auto moved = std::move(receive);
  auto send = tx.Send(1);
  auto moved_send = std::move(send);
  EXPECT_TRUE(Take(moved_send).ok());
  EXPECT_EQ(Take(moved), 1);
}

}  // namespace
}  // namespace rouse::mpmc
