// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/broadcast/broadcast.h"

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/sync/broadcast/slot.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/broadcast_values.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::broadcast {
namespace {

using ::testing::ElementsAre;

static_assert(std::is_copy_constructible_v<Sender<int>>);
static_assert(!std::is_copy_constructible_v<Receiver<int>>);
static_assert(std::is_nothrow_move_constructible_v<Receiver<int>>);
static_assert(internal::kIsPlain<uint64_t>);
static_assert(!internal::kIsPlain<std::string>);

TEST(Broadcast, EveryReceiverGetsEveryValueInOrder) {
  auto [tx, rx1] = Channel<std::string>(4);
  Receiver<std::string> rx2 = tx.Subscribe();
  EXPECT_EQ(tx.Send("one").value(), 2);
  EXPECT_EQ(tx.Send("two").value(), 2);
  EXPECT_THAT(Drain(rx1), ElementsAre("one", "two"));
  EXPECT_THAT(Drain(rx2), ElementsAre("one", "two"));
}

TEST(Broadcast, ReceivesPlainValues) {
  struct Pair {
    uint64_t first;
    uint32_t second;
  };
  static_assert(internal::kIsPlain<Pair>);
  auto [tx, rx] = Channel<Pair>(2);
  ASSERT_TRUE(tx.Send({.first = 1, .second = 2}).ok());
  const Received<Pair> received = rx.TryReceive();
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->first, 1);
  EXPECT_EQ(received->second, 2);
}

TEST(Broadcast, AReceiverGetsOnlyValuesSentAfterItSubscribed) {
  auto [tx, rx1] = Channel<int>(4);
  ASSERT_TRUE(tx.Send(1).ok());
  Receiver<int> rx2 = tx.Subscribe();
  Receiver<int> rx3 = rx1.Resubscribe();
  ASSERT_TRUE(tx.Send(2).ok());
  EXPECT_THAT(Drain(rx1), ElementsAre(1, 2));
  EXPECT_THAT(Drain(rx2), ElementsAre(2));
  EXPECT_THAT(Drain(rx3), ElementsAre(2));
}

TEST(Broadcast, AChannelWithoutValuesIsEmpty) {
  auto [tx, rx] = Channel<int>(4);
  const Received<int> received = rx.TryReceive();
  EXPECT_TRUE(received.IsEmpty());
  EXPECT_FALSE(received.has_value());
  EXPECT_FALSE(received.IsClosed());
  EXPECT_EQ(received.lagged(), 0);
}

TEST(Broadcast, TheCapacityIsRoundedUpToAPowerOfTwo) {
  EXPECT_EQ(Channel<int>(1).first.capacity(), 1);
  EXPECT_EQ(Channel<int>(5).first.capacity(), 8);
  EXPECT_EQ(Channel<int>(8).second.capacity(), 8);
}

TEST(Broadcast, PanicsIfTheCapacityIsOutOfRange) {
  EXPECT_PANIC(Channel<int>(0), "broadcast::Channel: the capacity must be");
  EXPECT_PANIC(Channel<int>(kMaxCapacity + 1),
               "broadcast::Channel: the capacity must be");
}

TEST(Broadcast, ASlowReceiverLearnsHowManyValuesItHasMissed) {
  auto [tx, rx] = Channel<int>(4);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(tx.Send(i).ok());
  EXPECT_EQ(rx.size(), 10);
  const Received<int> received = rx.TryReceive();
  EXPECT_EQ(received.lagged(), 6);
  EXPECT_FALSE(received.has_value());
  EXPECT_FALSE(received.IsClosed());
  EXPECT_FALSE(received.IsEmpty());
  EXPECT_THAT(Drain(rx), ElementsAre(6, 7, 8, 9));
}

TEST(Broadcast, AReceiverThatIsBehindByTheWholeRingHasMissedNothing) {
  auto [tx, rx] = Channel<int>(4);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(tx.Send(i).ok());
  EXPECT_THAT(Drain(rx), ElementsAre(0, 1, 2, 3));
}

TEST(Broadcast, AReceiveFutureReportsALag) {
  auto [tx, rx] = Channel<std::string>(1);
  ReceiveFuture<std::string> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive).IsPending());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(tx.Send("x").ok());
  PollResult<Received<std::string>> result = PollOnce(receive);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(result->lagged(), 2);
}

TEST(Broadcast, AReceiverCanLagRepeatedly) {
  auto [tx, rx] = Channel<std::string>(2);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(tx.Send("x").ok());
    EXPECT_EQ(rx.TryReceive().lagged(), 3);
    EXPECT_THAT(Drain(rx), ElementsAre("x", "x"));
  }
}

// One more value is sent, and none is read, before the second lag.
TEST(Broadcast, MissedValuesAreCountedFromTheReceiversPosition) {
  auto [tx, rx] = Channel<int>(2);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(tx.Send(i).ok());
  EXPECT_EQ(rx.TryReceive().lagged(), 1);
  ASSERT_TRUE(tx.Send(3).ok());
  EXPECT_EQ(rx.TryReceive().lagged(), 1);
  EXPECT_THAT(Drain(rx), ElementsAre(2, 3));
}

TEST(Broadcast, ASendWithoutReceiversFailsAndLeavesTheValue) {
  auto [tx, rx] = Channel<std::string>(4);
  {
    const Receiver<std::string> dropped = std::move(rx);
  }
  std::string value = "a value that is not in the string itself";
  const std::string copy = value;
  EXPECT_EQ(tx.Send(std::move(value)).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(value, copy);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(tx.Send(copy).status().code(), absl::StatusCode::kCancelled);
}

// Trap C11 (#7629): a channel that begins without receivers behaves like a
// channel that has lost its receivers.
TEST(Broadcast, AChannelCanBeginWithoutReceivers) {
  const Sender<int> tx(4);
  ClosedFuture closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed).IsReady());
  EXPECT_FALSE(tx.Send(1).ok());
  Receiver<int> rx = tx.Subscribe();
  EXPECT_EQ(tx.Send(2).value(), 1);
  EXPECT_THAT(Drain(rx), ElementsAre(2));
}

// Trap C11 (#4814, #4867): receiving hung in a channel that had been without
// receivers for some time.
TEST(Broadcast, AChannelWithoutReceiversCanGetNewOnes) {
  auto [tx, first] = Channel<int>(2);
  ASSERT_TRUE(tx.Send(1).ok());
  {
    const Receiver<int> dropped = std::move(first);
  }
  EXPECT_FALSE(tx.Send(2).ok());
  std::optional<Sender<int>> sender(std::move(tx));
  Receiver<int> rx = sender->Subscribe();
  EXPECT_TRUE(rx.TryReceive().IsEmpty());
  EXPECT_FALSE(rx.IsClosed());

  CountingWaker task;
  const Waker waker = task.NewWaker();
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive, waker).IsPending());
  ASSERT_TRUE(sender->Send(3).ok());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*PollOnce(receive, waker).value(), 3);

  ReceiveFuture<int> last = rx.Receive();
  ASSERT_TRUE(PollOnce(last, waker).IsPending());
  sender.reset();
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_TRUE(PollOnce(last, waker)->IsClosed());
}

TEST(Broadcast, IsClosedWhenTheLastSenderIsDestroyed) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<Sender<int>> first(std::move(tx));
  std::optional<Sender<int>> second = first;
  EXPECT_EQ(rx.sender_count(), 2);
  first.reset();
  EXPECT_FALSE(rx.IsClosed());
  EXPECT_TRUE(rx.TryReceive().IsEmpty());
  second.reset();
  EXPECT_TRUE(rx.IsClosed());
  EXPECT_TRUE(rx.TryReceive().IsClosed());
  EXPECT_TRUE(rx.BlockingReceive().IsClosed());
}

// Trap C11 (#2448): the end takes no place in the ring. Therefore it overwrites
// no value, and receivers do not wait for it.
TEST(Broadcast, ClosingOverwritesNoValue) {
  auto [tx, rx] = Channel<std::string>(2);
  {
    const Sender<std::string> dropped = std::move(tx);
    ASSERT_TRUE(dropped.Send("one").ok());
    ASSERT_TRUE(dropped.Send("two").ok());
  }
  EXPECT_EQ(*rx.BlockingReceive(), "one");
  EXPECT_EQ(*rx.BlockingReceive(), "two");
  EXPECT_TRUE(rx.BlockingReceive().IsClosed());
}

TEST(Broadcast, AReceiverOfAClosedChannelSeesTheClose) {
  auto [tx, rx] = Channel<int>(2);
  ASSERT_TRUE(tx.Send(1).ok());
  {
    const Sender<int> dropped = std::move(tx);
  }
  Receiver<int> other = rx.Resubscribe();
  EXPECT_TRUE(other.TryReceive().IsClosed());
  EXPECT_EQ(*rx.TryReceive(), 1);
}

TEST(Broadcast, ASendersSizeIsThatOfTheSlowestReceiver) {
  auto [tx, rx1] = Channel<int>(4);
  Receiver<int> rx2 = tx.Subscribe();
  EXPECT_TRUE(tx.IsEmpty());
  for (int i = 1; i <= 6; ++i) {
    ASSERT_TRUE(tx.Send(i).ok());
    EXPECT_EQ(tx.size(), i < 4 ? i : 4);
  }
  EXPECT_EQ(rx1.TryReceive().lagged(), 2);
  EXPECT_EQ(*rx1.TryReceive(), 3);
  EXPECT_EQ(tx.size(), 4);
  EXPECT_EQ(rx2.TryReceive().lagged(), 2);
  EXPECT_EQ(*rx2.TryReceive(), 3);
  EXPECT_EQ(tx.size(), 3);
  EXPECT_EQ(rx1.size(), 3);
  EXPECT_FALSE(rx1.IsEmpty());
}

TEST(Broadcast, AWeakSenderDoesNotKeepTheChannelOpen) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<Sender<int>> sender(std::move(tx));
  const WeakSender<int> weak = sender->Downgrade();
  std::optional<Sender<int>> second = weak.Upgrade();
  ASSERT_TRUE(second.has_value());
  EXPECT_TRUE(second->SameChannel(*sender));
  sender.reset();
  ASSERT_TRUE(second->Send(1).ok());
  second.reset();
  EXPECT_FALSE(weak.Upgrade().has_value());
  EXPECT_EQ(*rx.TryReceive(), 1);
  EXPECT_TRUE(rx.TryReceive().IsClosed());
}

TEST(Broadcast, SameChannelComparesChannels) {
  auto [tx1, rx1] = Channel<int>(2);
  auto [tx2, rx2] = Channel<int>(2);
  EXPECT_TRUE(tx1.SameChannel(Sender<int>(tx1)));
  EXPECT_FALSE(tx1.SameChannel(tx2));
  EXPECT_TRUE(rx1.SameChannel(rx1.Resubscribe()));
  EXPECT_FALSE(rx1.SameChannel(rx2));
}

Co<int> Sum(Receiver<int> rx) {
  int sum = 0;
  for (;;) {
    const Received<int> received = co_await rx.Receive();
    if (received.IsClosed()) co_return sum;
    if (received.has_value()) sum += *received;
  }
}

TEST(Broadcast, ACoroutineReceives) {
  auto [tx, rx] = Channel<int>(8);
  for (int i = 1; i <= 4; ++i) ASSERT_TRUE(tx.Send(i).ok());
  Co<int> sum = Sum(std::move(rx));
  {
    const Sender<int> dropped = std::move(tx);
  }
  EXPECT_EQ(BlockOn(sum), 10);
}

TEST(Broadcast, AThreadWaitsForAValueOfAnotherThread) {
  auto [tx, rx] = Channel<std::string>(1);
  std::thread sending([tx = std::move(tx)] {
    static_cast<void>(tx.Send("one"));
    static_cast<void>(tx.Send("two"));
  });
  uint64_t received = 0;
  for (;;) {
    const Received<std::string> next = rx.BlockingReceive();
    if (next.IsClosed()) break;
    received += next.has_value() ? 1 : next.lagged();
  }
  sending.join();
  EXPECT_EQ(received, 2);
}

}  // namespace
}  // namespace rouse::broadcast
