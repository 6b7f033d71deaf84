// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of a channel: senders and receivers that are destroyed or that close.

#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/counted.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"

namespace rouse::mpmc {
namespace {

using mpsc::Box;
using mpsc::kMany;
using mpsc::MakeBox;
using mpsc::Take;

TEST(MpmcClose, DestroyingTheLastSenderClosesTheChannel) {
  auto channel = Channel<int>(2);
  auto& rx = channel.second;
  std::optional<Sender<int>> first = std::move(channel.first);
  std::optional<Sender<int>> second = first;
  first.reset();
  EXPECT_TRUE(second->TrySend(1).ok());
  EXPECT_FALSE(rx.IsClosed());
  second.reset();
  EXPECT_TRUE(rx.IsClosed());
  EXPECT_EQ(Take(rx.Receive()), 1);
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
}

TEST(MpmcClose, DestroyingTheLastSenderWakesAllReceivers) {
  auto channel = UnboundedChannel<int>();
  auto& rx = channel.second;
  UnboundedReceiver<int> other = rx;
  CountingWaker first;
  CountingWaker second;
  auto receive1 = rx.Receive();
  auto receive2 = other.Receive();
  EXPECT_TRUE(first.Poll(receive1).IsPending());
  EXPECT_TRUE(second.Poll(receive2).IsPending());
  {
    const auto tx = std::move(channel.first);
  }
  EXPECT_EQ(first.wakes(), 1);
  EXPECT_EQ(second.wakes(), 1);
  EXPECT_EQ(Take(receive1), std::nullopt);
  EXPECT_EQ(Take(receive2), std::nullopt);
}

TEST(MpmcClose, AChannelWithAReceiverIsOpen) {
  auto channel = Channel<int>(1);
  auto& tx = channel.first;
  std::optional<Receiver<int>> first = std::move(channel.second);
  std::optional<Receiver<int>> second = first;
  first.reset();
  EXPECT_FALSE(tx.IsClosed());
  EXPECT_TRUE(tx.TrySend(1).ok());
  EXPECT_EQ(*second->TryReceive(), 1);
  second.reset();
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_TRUE(absl::IsCancelled(tx.TrySend(1)));
}

TEST(MpmcClose, ClosingWakesAllReceivers) {
  for (const bool bounded : {true, false}) {
    CountingWaker task;
    const auto check = [&](auto channel) {
      auto& [tx, rx] = channel;
      auto other = rx;
      auto receive = rx.Receive();
      auto receive2 = other.Receive();
      EXPECT_TRUE(task.Poll(receive).IsPending());
      EXPECT_TRUE(task.Poll(receive2).IsPending());
      rx.Close();
      EXPECT_EQ(task.wakes(), 2);
      EXPECT_EQ(Take(receive), std::nullopt);
      EXPECT_EQ(Take(receive2), std::nullopt);
      EXPECT_TRUE(other.IsClosed());
      EXPECT_EQ(Take(other.Receive()), std::nullopt);
    };
    if (bounded) {
      check(Channel<int>(1));
    } else {
      check(UnboundedChannel<int>());
    }
    EXPECT_EQ(task.live(), 0);
  }
}

TEST(MpmcClose, ClosingWakesSendsThatWaitForRoom) {
  auto [tx, rx] = Channel<Box>(1);
  CountingWaker task;
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  auto send = tx.Send(MakeBox(2));
  EXPECT_TRUE(task.Poll(send).IsPending());
  rx.Close();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(absl::IsCancelled(Take(send)));
  EXPECT_EQ(*send.TakeValue(), 2);
}

// The send had its place, and was not polled since then.
TEST(MpmcClose, ASendWithAPlaceFailsAfterAClose) {
  auto [tx, rx] = Channel<Box>(1);
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  auto send = tx.Send(MakeBox(2));
  EXPECT_TRUE(PollOnce(send).IsPending());
  EXPECT_EQ(**Take(rx.Receive()), 1);
  rx.Close();
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
  EXPECT_TRUE(absl::IsCancelled(Take(send)));
  EXPECT_EQ(*send.TakeValue(), 2);
  EXPECT_EQ(tx.capacity(), 1u);
}

TEST(MpmcClose, MessagesSentBeforeACloseAreReceived) {
  auto [tx, rx] = Channel<int>(3);
  Receiver<int> other = rx;
  EXPECT_TRUE(tx.TrySend(1).ok());
  EXPECT_TRUE(tx.TrySend(2).ok());
  rx.Close();
  rx.Close();
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_TRUE(rx.IsClosed());
  EXPECT_TRUE(absl::IsCancelled(tx.TrySend(3)));
  EXPECT_EQ(Take(other.Receive()), 1);
  EXPECT_EQ(Take(rx.Receive()), 2);
  EXPECT_EQ(Take(rx.Receive()), std::nullopt);
  EXPECT_EQ(Take(other.Receive()), std::nullopt);
}

TEST(MpmcClose, UnboundedMessagesSentBeforeACloseAreReceived) {
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

TEST(MpmcClose, ClosedIsReadyWhenAReceiverCloses) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker task;
  auto closed = tx.Closed();
  EXPECT_TRUE(task.Poll(closed).IsPending());
  EXPECT_FALSE(tx.IsClosed());
  Receiver<int>(rx).Close();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed).IsReady());
  EXPECT_TRUE(PollOnce(tx.Closed()).IsReady());
}

TEST(MpmcClose, ClosedIsReadyWhenTheLastReceiverIsDestroyed) {
  auto channel = UnboundedChannel<int>();
  const auto& tx = channel.first;
  CountingWaker task;
  auto closed = tx.Closed();
  {
    const UnboundedReceiver<int> copy = channel.second;
  }
  EXPECT_TRUE(task.Poll(closed).IsPending());
  {
    const auto rx = std::move(channel.second);
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed).IsReady());
  EXPECT_TRUE(absl::IsCancelled(tx.Send(1)));
}

// The waker is called before the waiting receivers have learned of the end.
TEST(MpmcClose, AWakerOfClosedFindsTheEnd) {
  auto channel = UnboundedChannel<int>();
  auto& [tx, rx] = channel;
  CountingWaker task;
  task.OnWake([&] {
    EXPECT_TRUE(absl::IsCancelled(channel.second.TryReceive().status()));
  });
  auto closed = tx.Closed();
  EXPECT_TRUE(task.Poll(closed).IsPending());
  rx.Close();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed).IsReady());
}

// The end wakes waiting futures in batches. A waker polls a future that was not
// woken yet.
TEST(MpmcClose, AWaitingReceiveIsPolledBeforeItIsWokenForTheEnd) {
  auto channel = UnboundedChannel<int>();
  auto& rx = channel.second;
  CountingWaker task;
  CountingWaker other;
  auto first = rx.Receive();
  auto second = rx.Receive();
  task.OnWake([&] { EXPECT_EQ(Take(first), std::nullopt); });
  auto closed = channel.first.Closed();
  EXPECT_TRUE(task.Poll(closed).IsPending());
  EXPECT_TRUE(other.Poll(first).IsPending());
  EXPECT_TRUE(other.Poll(second).IsPending());
  rx.Close();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(other.wakes(), 1);
  EXPECT_EQ(Take(second), std::nullopt);
}

TEST(MpmcClose, AWaitingSendIsPolledBeforeItIsWokenForTheEnd) {
  constexpr int kWaiting = 40;
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(0).ok());
  CountingWaker task;
  std::list<SendFuture<int>> waiting;
  for (int i = 0; i < kWaiting; ++i) {
    waiting.push_back(tx.Send(1));
    EXPECT_TRUE(task.Poll(waiting.back()).IsPending());
  }
  task.OnWake([&] {
    if (waiting.size() < kWaiting) return;
    EXPECT_TRUE(absl::IsCancelled(Take(waiting.back())));
    waiting.pop_back();
  });
  rx.Close();
  EXPECT_EQ(task.wakes(), kWaiting - 1);
  for (auto& send : waiting) EXPECT_TRUE(absl::IsCancelled(Take(send)));
}

TEST(MpmcClose, TheLastReceiverDestroysTheMessages) {
  Counts counts;
  auto channel = UnboundedChannel<Counted>();
  auto& tx = channel.first;
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(Counted(counts)).ok());
  {
    const UnboundedReceiver<Counted> copy = channel.second;
  }
  EXPECT_EQ(counts.live, kMany);
  EXPECT_TRUE(Take(channel.second.Receive()).has_value());
  EXPECT_EQ(counts.live, kMany - 1);
  {
    const auto rx = std::move(channel.second);
  }
  EXPECT_EQ(counts.live, 0);
}

TEST(MpmcClose, TheLastReceiverDestroysTheMessagesAfterTheSenders) {
  Counts counts;
  {
    auto channel = Channel<Counted>(kMany);
    for (int i = 0; i < kMany; ++i) {
      EXPECT_TRUE(channel.first.TrySend(Counted(counts)).ok());
    }
    const auto tx = std::move(channel.first);
  }
  EXPECT_EQ(counts.live, 0);
}

// A message may hold a sender of its own channel.
struct Letter {
  std::optional<UnboundedSender<Letter>> reply_to;
};

TEST(MpmcClose, MessagesCanHoldSendersOfTheirChannel) {
  auto [tx, rx] = UnboundedChannel<Letter>();
  EXPECT_TRUE(tx.Send(Letter{tx}).ok());
  EXPECT_EQ(tx.strong_count(), 2u);
  {
    const auto dropped = std::move(rx);
  }
  EXPECT_EQ(tx.strong_count(), 1u);
}

TEST(MpmcClose, AMessageCanHoldTheLastSender) {
  auto channel = UnboundedChannel<Letter>();
  {
    const UnboundedSender<Letter> tx = channel.first;
    EXPECT_TRUE(tx.Send(Letter{std::move(channel.first)}).ok());
  }
  EXPECT_FALSE(channel.second.IsClosed());
  EXPECT_TRUE(Take(channel.second.Receive()).has_value());
  EXPECT_EQ(Take(channel.second.Receive())->reply_to, std::nullopt);
}

}  // namespace
}  // namespace rouse::mpmc
