// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of a channel: senders and receivers that are destroyed or that close.

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/yield.h"
#include "rouse/sync/mpsc/mpsc.h"
#include "rouse/sync/oneshot/oneshot.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/counted.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc {
namespace {

TEST(MpscClose, DestroyingTheLastSenderClosesTheChannel) {
  auto channel = Channel<int>(2);
  auto& rx = channel.second;
  std::optional<Sender<int>> first = std::move(channel.first);
  std::optional<Sender<int>> second = first;
  EXPECT_EQ(first->strong_count(), 2u);
  first.reset();
  EXPECT_TRUE(second->TrySend(1).ok());
  EXPECT_FALSE(rx.IsClosed());
  second.reset();
  EXPECT_TRUE(rx.IsClosed());
  EXPECT_EQ(Take(rx.Receive()), 1);
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
}

// Trap C1.
TEST(MpscClose, DestroyingTheLastSenderWakesTheReceiver) {
  auto channel = UnboundedChannel<int>();
  auto& rx = channel.second;
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive, waker).IsPending());
  {
    const auto tx = std::move(channel.first);
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Take(receive), std::nullopt);
}

TEST(MpscClose, ClosingWakesTheReceiversOwnFuture) {
  for (const bool bounded : {true, false}) {
    CountingWaker task;
    const Waker waker = task.NewWaker();
    const auto check = [&](auto channel) {
      auto& [tx, rx] = channel;
      auto receive = rx.Receive();
      EXPECT_TRUE(PollOnce(receive, waker).IsPending());
      rx.Close();
      EXPECT_EQ(task.wakes(), 1);
      EXPECT_EQ(Take(receive), std::nullopt);
    };
    if (bounded) {
      check(Channel<int>(1));
    } else {
      check(UnboundedChannel<int>());
    }
  }
}

Co<int> CountAll(Receiver<int>& rx) {
  int received = 0;
  while (co_await rx.Receive()) ++received;
  co_return received;
}

Co<int> CloseLater(Receiver<int>& rx) {
  co_await Yield();
  rx.Close();
  co_return 0;
}

TEST(MpscClose, ABranchOfAJoinCanCloseForTheOther) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_EQ(BlockOn(Join(CloseLater(rx), CountAll(rx))), std::tuple(0, 0));
  auto [tx2, rx2] = Channel<int>(1);
  EXPECT_EQ(BlockOn(Join(CountAll(rx2), CloseLater(rx2))), std::tuple(0, 0));
}

// Two branches of a Select may wait for one receiver.
TEST(MpscClose, ADestroyedReceiveLeavesTheWakerOfAnother) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  std::optional first(rx.Receive());
  auto second = rx.Receive();
  EXPECT_TRUE(PollOnce(*first, waker).IsPending());
  EXPECT_TRUE(PollOnce(second, waker).IsPending());
  first.reset();
  EXPECT_TRUE(tx.TrySend(1).ok());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Take(second), 1);
}

TEST(MpscClose, TheDestroyedLatestReceiveLeavesItsTasksWaker) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker task;
  auto first = rx.Receive();
  std::optional second(rx.Receive());
  EXPECT_TRUE(PollOnce(first, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(*second, task.NewWaker()).IsPending());
  second.reset();
  EXPECT_TRUE(tx.TrySend(1).ok());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Take(first), 1);
  EXPECT_EQ(task.live(), 0);
}

// Trap C1.
TEST(MpscClose, ClosingWakesSendsThatWaitForRoom) {
  auto [tx, rx] = Channel<Box>(1);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  auto send = tx.Send(MakeBox(2));
  auto reserve = tx.Reserve();
  EXPECT_TRUE(PollOnce(send, waker).IsPending());
  EXPECT_TRUE(PollOnce(reserve, waker).IsPending());
  rx.Close();
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_TRUE(absl::IsCancelled(Take(send)));
  EXPECT_TRUE(absl::IsCancelled(Take(reserve).status()));
  EXPECT_EQ(*send.TakeValue(), 2);
}

TEST(MpscClose, MessagesSentBeforeACloseAreReceived) {
  auto [tx, rx] = Channel<int>(3);
  EXPECT_TRUE(tx.TrySend(1).ok());
  rx.Close();
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_TRUE(rx.IsClosed());
  EXPECT_TRUE(absl::IsCancelled(tx.TrySend(2)));
  EXPECT_EQ(Take(rx.Receive()), 1);
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
}

TEST(MpscClose, UnboundedMessagesSentBeforeACloseAreReceived) {
  auto [tx, rx] = UnboundedChannel<Box>();
  EXPECT_TRUE(tx.Send(MakeBox(1)).ok());
  rx.Close();
  Box box = MakeBox(2);
  EXPECT_TRUE(absl::IsCancelled(tx.Send(std::move(box))));
  EXPECT_EQ(*box, 2);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(rx.size(), 1u);
  EXPECT_EQ(**Take(rx.Receive()), 1);
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
  EXPECT_TRUE(absl::IsCancelled(rx.TryReceive().status()));
}

TEST(MpscClose, APermitCanSendAfterAClose) {
  auto [tx, rx] = Channel<int>(2);
  absl::StatusOr<Permit<int>> permit = tx.TryReserve();
  ASSERT_TRUE(permit.ok());
  rx.Close();
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive, waker).IsPending());
  std::move(*permit).Send(5);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Take(receive), 5);
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
}

// Trap C5.
TEST(MpscClose, AReturnedPermitWakesAClosingReceiver) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<absl::StatusOr<Permit<int>>> permit = tx.TryReserve();
  std::optional<absl::StatusOr<PermitBatch<int>>> batch = tx.TryReserveMany(1);
  rx.Close();
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive, waker).IsPending());
  permit.reset();
  EXPECT_EQ(task.wakes(), 0);
  batch.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Take(receive), std::nullopt);
}

// Trap C5: the place had been given to a send that was not polled since then.
TEST(MpscClose, ADestroyedSendWakesAClosingReceiver) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(1).ok());
  auto send = std::make_optional(tx.Send(2));
  EXPECT_TRUE(PollOnce(*send).IsPending());
  EXPECT_EQ(Take(rx.Receive()), 1);
  rx.Close();
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive, waker).IsPending());
  send.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Take(receive), std::nullopt);
}

TEST(MpscClose, ClosedIsReadyWhenTheReceiverCloses) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed, waker).IsPending());
  EXPECT_FALSE(tx.IsClosed());
  rx.Close();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed).IsReady());
  EXPECT_TRUE(PollOnce(tx.Closed()).IsReady());
}

TEST(MpscClose, ClosedIsReadyWhenTheReceiverIsDestroyed) {
  auto channel = UnboundedChannel<int>();
  const auto& tx = channel.first;
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed, waker).IsPending());
  {
    const auto rx = std::move(channel.second);
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed).IsReady());
  EXPECT_TRUE(absl::IsCancelled(tx.Send(1)));
}

TEST(MpscClose, ACompleteClosedKeepsNoWaker) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker first, second;
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed, first.NewWaker()).IsPending());
  rx.Close();
  EXPECT_TRUE(PollOnce(closed, second.NewWaker()).IsReady());
  EXPECT_EQ(first.live(), 0);
  EXPECT_EQ(second.live(), 0);
}

TEST(MpscClose, ADestroyedClosedIsNotWoken) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  {
    auto closed = tx.Closed();
    EXPECT_TRUE(PollOnce(closed, waker).IsPending());
  }
  rx.Close();
  EXPECT_EQ(task.wakes(), 0);
}

// Trap C2: the remaining messages are destroyed, each of them once.
TEST(MpscClose, ADestroyedReceiverDestroysItsMessages) {
  Counts counts;
  auto channel = UnboundedChannel<Counted>();
  auto& tx = channel.first;
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(Counted(counts)).ok());
  EXPECT_TRUE(Take(channel.second.Receive()).has_value());
  EXPECT_EQ(counts.live, kMany - 1);
  {
    const auto rx = std::move(channel.second);
  }
  EXPECT_EQ(counts.live, 0);
}

// Trap C2.
TEST(MpscClose, AMessageSentToADestroyedReceiverIsDestroyedAtOnce) {
  Counts counts;
  auto channel = Channel<Counted>(kMany);
  auto& tx = channel.first;
  absl::StatusOr<Permit<Counted>> permit = tx.TryReserve();
  absl::StatusOr<OwnedPermit<Counted>> owned = tx.TryReserveOwned();
  absl::StatusOr<PermitBatch<Counted>> batch = tx.TryReserveMany(kMany / 2);
  ASSERT_TRUE(permit.ok() && owned.ok() && batch.ok());
  EXPECT_TRUE(tx.TrySend(Counted(counts)).ok());
  {
    const auto rx = std::move(channel.second);
  }
  EXPECT_EQ(counts.live, 0);
  std::move(*permit).Send(Counted(counts));
  EXPECT_EQ(counts.live, 0);
  const Sender<Counted> again = std::move(*owned).Send(Counted(counts));
  EXPECT_EQ(counts.live, 0);
  while (!batch->IsEmpty()) {
    batch->Send(Counted(counts));
    EXPECT_EQ(counts.live, 0);
  }
}

// Trap C2: the send had its place, and was not polled since then.
TEST(MpscClose, ALateSendIsDestroyedAtOnce) {
  Counts counts;
  auto channel = Channel<Counted>(1);
  auto& tx = channel.first;
  EXPECT_TRUE(tx.TrySend(Counted(counts)).ok());
  auto send = tx.Send(Counted(counts));
  EXPECT_TRUE(PollOnce(send).IsPending());
  EXPECT_TRUE(Take(channel.second.Receive()).has_value());
  {
    const auto rx = std::move(channel.second);
  }
  EXPECT_TRUE(Take(send).ok());
  EXPECT_EQ(counts.live, 1);  // the moved-from value in the future
}

// Trap C2: otherwise no answer would ever arrive.
TEST(MpscClose, ALateRequestLearnsThatNoAnswerComes) {
  auto channel = Channel<oneshot::Sender<int>>(1);
  absl::StatusOr<Permit<oneshot::Sender<int>>> permit =
      channel.first.TryReserve();
  ASSERT_TRUE(permit.ok());
  {
    const auto server = std::move(channel.second);
  }
  auto [answer, rx] = oneshot::Channel<int>();
  std::move(*permit).Send(std::move(answer));
  EXPECT_TRUE(absl::IsCancelled(rx.TryReceive().status()));
}

// A message may hold a sender of its own channel.
struct Letter {
  std::optional<UnboundedSender<Letter>> reply_to;
};

// Handles of the channel through which the package is sent.
struct Package {
  std::shared_ptr<int> witness;
  std::optional<WeakSender<Package>> weak = std::nullopt;
  std::optional<Sender<Package>> tx = std::nullopt;
  std::optional<Permit<Package>> permit = std::nullopt;
};

// Trap C2: otherwise the message would keep the channel alive, and the channel
// would keep the message.
TEST(MpscClose, ALateMessageWithAWeakSenderIsNotKept) {
  auto witness = std::make_shared<int>(0);
  {
    auto [tx, rx] = Channel<Package>(2);
    absl::StatusOr<Permit<Package>> permit = tx.TryReserve();
    ASSERT_TRUE(permit.ok());
    {
      const auto dropped = std::move(rx);
    }
    std::move(*permit).Send(
        Package{.witness = witness, .weak = tx.Downgrade()});
    EXPECT_EQ(tx.weak_count(), 0u);
  }
  EXPECT_EQ(witness.use_count(), 1);
}

// Trap C2: the message then holds the only handle.
TEST(MpscClose, ALateMessageCanHoldTheLastSender) {
  auto witness = std::make_shared<int>(0);
  auto channel = Channel<Package>(3);
  std::optional<Sender<Package>> tx = std::move(channel.first);
  absl::StatusOr<PermitBatch<Package>> batch = tx->TryReserveMany(2);
  absl::StatusOr<Permit<Package>> permit = tx->TryReserve();
  ASSERT_TRUE(batch.ok() && permit.ok());
  {
    const auto dropped = std::move(channel.second);
  }
  batch->Send(Package{.witness = witness, .permit = std::move(*permit)});
  EXPECT_EQ(witness.use_count(), 1);
  Package last{.witness = witness};
  last.tx = std::exchange(tx, std::nullopt);
  batch->Send(std::move(last));
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(MpscClose, MessagesCanHoldSendersOfTheirChannel) {
  auto [tx, rx] = UnboundedChannel<Letter>();
  EXPECT_TRUE(tx.Send(Letter{tx}).ok());
  EXPECT_EQ(tx.strong_count(), 2u);
  {
    const auto dropped = std::move(rx);
  }
  EXPECT_EQ(tx.strong_count(), 1u);
}

}  // namespace
}  // namespace rouse::mpsc
