// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the ways to receive other than `Receive()`: several messages at once,
// as a stream, and without waiting.

#include <cstddef>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"

namespace rouse::mpmc {
namespace {

using mpsc::Box;
using mpsc::kMany;
using mpsc::MakeBox;
using mpsc::Take;
using ::testing::ElementsAre;

// ---- Many messages at once.

TEST(MpmcReceiver, ReceiveManyTakesAtMostItsLimit) {
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

TEST(MpmcReceiver, ReceiveManyCrossesBlocks) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::vector<int> out;
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(tx.Send(int{i}).ok());
  EXPECT_EQ(Take(rx.ReceiveMany(out, kMany + 1)), size_t{kMany});
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(out.at(i), i);
}

TEST(MpmcReceiver, ReceiveManyLeavesTheMessagesOfWaitingReceivers) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  std::vector<int> out;
  auto many = rx.ReceiveMany(out, 10);
  auto one = other.Receive();
  EXPECT_TRUE(PollOnce(many).IsPending());
  EXPECT_TRUE(PollOnce(one).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_TRUE(tx.Send(2).ok());
  EXPECT_TRUE(tx.Send(3).ok());
  EXPECT_EQ(Take(many), 2u);
  EXPECT_THAT(out, ElementsAre(1, 2));
  EXPECT_EQ(Take(one), 3);
}

TEST(MpmcReceiver, ReceiveManyOfZeroIsReadyAtOnce) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::vector<int> out;
  EXPECT_EQ(Take(rx.ReceiveMany(out, 0)), 0u);
}

TEST(MpmcReceiver, ReceiveManyReturnsZeroAtTheEnd) {
  auto channel = UnboundedChannel<int>();
  std::vector<int> out;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(channel.first.Send(int{i}).ok());
  {
    const auto tx = std::move(channel.first);
  }
  EXPECT_EQ(Take(channel.second.ReceiveMany(out, 5)), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Take(channel.second.ReceiveMany(out, 5)), 0u);
  }
  EXPECT_EQ(Take(channel.second.Receive()), std::nullopt);
}

// ---- Streams.

TEST(MpmcReceiver, AReceiverIsAStream) {
  auto [tx, rx] = UnboundedChannel<int>();
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(Take(Next(rx)), 1);
}

TEST(MpmcReceiver, APendingPollIsWoken) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task.wakes(), 1);
  auto message = task.PollNext(rx);
  ASSERT_TRUE(message.IsReady());
  EXPECT_EQ(*message, 1);
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  rx.Close();
  EXPECT_EQ(task.wakes(), 2);
  message = task.PollNext(rx);
  ASSERT_TRUE(message.IsReady());
  EXPECT_EQ(*message, std::nullopt);
}

TEST(MpmcReceiver, APendingPollStaysWithAReceiverThatIsMoved) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  UnboundedReceiver<int> moved(std::move(rx));
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*task.PollNext(moved), 1);
}

// Otherwise the message would wait for a poll that may never come.
TEST(MpmcReceiver, AnotherCallTakesOverFromAPendingPoll) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  std::vector<int> out;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(task.PollNext(rx).IsPending());
    EXPECT_TRUE(tx.Send(int{i}).ok());
    EXPECT_EQ(task.wakes(), i + 1);
    if (i == 0) {
      EXPECT_EQ(Take(rx.Receive()), 0);
    } else if (i == 1) {
      EXPECT_EQ(*rx.TryReceive(), 1);
    } else {
      EXPECT_EQ(Take(rx.ReceiveMany(out, 1)), 1u);
    }
  }
}

TEST(MpmcReceiver, ADestroyedReceiverPassesItsPendingPollOn) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::optional<UnboundedReceiver<int>> leaving = rx;
  CountingWaker first;
  CountingWaker second;
  EXPECT_TRUE(first.PollNext(*leaving).IsPending());
  auto receive = rx.Receive();
  EXPECT_TRUE(second.Poll(receive).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(first.wakes(), 1);
  leaving.reset();
  EXPECT_EQ(second.wakes(), 1);
  EXPECT_EQ(Take(receive), 1);
}

TEST(MpmcReceiver, ADestroyedNextPassesItsMessageOn) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  CountingWaker task;
  {
    auto next = Next(rx);
    EXPECT_TRUE(task.Poll(next).IsPending());
    EXPECT_TRUE(tx.Send(1).ok());
    EXPECT_TRUE(absl::IsUnavailable(other.TryReceive().status()));
  }
  EXPECT_EQ(*other.TryReceive(), 1);
}

// ---- TryReceive.

TEST(MpmcReceiver, TryReceiveDistinguishesEmptyFromClosed) {
  auto channel = Channel<Box>(1);
  auto& rx = channel.second;
  std::optional<Sender<Box>> tx = std::move(channel.first);
  EXPECT_TRUE(absl::IsUnavailable(rx.TryReceive().status()));
  EXPECT_TRUE(tx->TrySend(MakeBox(1)).ok());
  tx.reset();
  EXPECT_EQ(**rx.TryReceive(), 1);
  EXPECT_TRUE(absl::IsCancelled(rx.TryReceive().status()));
  EXPECT_TRUE(absl::IsCancelled(rx.TryReceive().status()));
}

// A `StatusOr` would take the error of the call for a value that was sent.
TEST(MpmcReceiver, TryReceiveOfAStatusDistinguishesEmptyFromClosed) {
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

// A message whose first move sends the numbers 1 to `count`, which are
// therefore in the queue before the message is.
class Overtaken {
 public:
  explicit Overtaken(int number) : number_(number) {}
  Overtaken(const UnboundedSender<Overtaken>& tx, int count)
      : tx_(&tx), count_(count) {}
  Overtaken(Overtaken&& other) noexcept : number_(other.number_) {
    const int count = std::exchange(other.count_, 0);
    for (int i = 1; i <= count; ++i) {
      EXPECT_TRUE(other.tx_->Send(Overtaken(i)).ok());
    }
  }
  Overtaken& operator=(Overtaken&&) = delete;

  int number() const { return number_; }

 private:
  int number_ = 0;
  const UnboundedSender<Overtaken>* tx_ = nullptr;
  int count_ = 0;
};

// A send that makes many messages ready wakes the receivers in batches. The
// waker of a receiver in the first batch must not wait for the others.
TEST(MpmcReceiver, TryReceiveInAWakerDoesNotWaitForItsCaller) {
  constexpr int kWaiting = 40;
  auto [tx, rx] = UnboundedChannel<Overtaken>();
  UnboundedReceiver<Overtaken> other = rx;
  CountingWaker task;
  task.OnWake(
      [&] { EXPECT_TRUE(absl::IsUnavailable(other.TryReceive().status())); });
  using Future = decltype(rx.Receive());
  std::list<Future> waiting;
  for (int i = 0; i < kWaiting; ++i) {
    waiting.push_back(rx.Receive());
    EXPECT_TRUE(task.Poll(waiting.back()).IsPending());
  }
  EXPECT_TRUE(tx.Send(Overtaken(tx, kWaiting - 1)).ok());
  EXPECT_EQ(task.wakes(), kWaiting);
  int expected = 0;
  for (Future& receive : waiting) {
    EXPECT_EQ(Take(receive)->number(), expected++);
  }
}

// The last of the messages is for the first waker that asks for it.
TEST(MpmcReceiver, TryReceiveInAWakerTakesWhatNobodyWaitsFor) {
  constexpr int kWaiting = 40;
  auto [tx, rx] = UnboundedChannel<Overtaken>();
  UnboundedReceiver<Overtaken> other = rx;
  CountingWaker task;
  int received = 0;
  task.OnWake([&] { received += other.TryReceive().ok(); });
  using Future = decltype(rx.Receive());
  std::list<Future> waiting;
  for (int i = 0; i < kWaiting; ++i) {
    waiting.push_back(rx.Receive());
    EXPECT_TRUE(task.Poll(waiting.back()).IsPending());
  }
  EXPECT_TRUE(tx.Send(Overtaken(tx, kWaiting)).ok());
  EXPECT_EQ(task.wakes(), kWaiting);
  EXPECT_EQ(received, 1);
  for (Future& receive : waiting) EXPECT_TRUE(Take(receive).has_value());
}

// A receive calls the waker of a sender, which polls the receiver again.
TEST(MpmcReceiver, AReceiverIsPolledInAWakerOfItsPoll) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker task;
  CountingWaker sending;
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  EXPECT_TRUE(tx.TrySend(1).ok());
  auto send = tx.Send(2);
  EXPECT_TRUE(sending.Poll(send).IsPending());
  sending.OnWake([&, &rx = rx] { EXPECT_TRUE(task.PollNext(rx).IsPending()); });
  EXPECT_EQ(*task.PollNext(rx), 1);
  EXPECT_EQ(sending.wakes(), 1);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(Take(send).ok());
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_EQ(*task.PollNext(rx), 2);
}

// At most 4,095 futures of a side have a promise. Therefore a send wakes the
// next sender, whose waker finds the message.
TEST(MpmcReceiver, ManySendersWait) {
  constexpr int kRoom = 4096;
  auto [tx, rx] = Channel<int>(kRoom);
  Receiver<int> other = rx;
  CountingWaker task;
  for (int i = 0; i < kRoom; ++i) EXPECT_TRUE(tx.TrySend(int{i}).ok());
  std::list<SendFuture<int>> waiting;
  for (int i = 0; i <= kRoom; ++i) {
    waiting.push_back(tx.Send(int{i}));
    EXPECT_TRUE(task.Poll(waiting.back()).IsPending());
  }
  std::vector<int> out;
  EXPECT_EQ(Take(rx.ReceiveMany(out, kRoom)), size_t{kRoom});
  EXPECT_EQ(task.wakes(), kRoom - 1);
  std::vector<int> received;
  task.OnWake([&] { received.push_back(*other.TryReceive()); });
  for (auto& send : waiting) EXPECT_TRUE(Take(send).ok());
  EXPECT_EQ(task.wakes(), kRoom + 1);
  EXPECT_THAT(received, ElementsAre(0, 1));
}

// At most 4,095 futures of a side have a promise.
TEST(MpmcReceiver, ManyReceiversWait) {
  constexpr int kWaiting = 4100;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> other = rx;
  using Future = decltype(rx.Receive());
  std::list<Future> waiting;
  for (int i = 0; i < kWaiting; ++i) {
    waiting.push_back(rx.Receive());
    EXPECT_TRUE(PollOnce(waiting.back()).IsPending());
  }
  for (int i = 0; i <= kWaiting; ++i) EXPECT_TRUE(tx.Send(int{i}).ok());
  EXPECT_EQ(*other.TryReceive(), 0);
  EXPECT_TRUE(absl::IsUnavailable(other.TryReceive().status()));
  int expected = 1;
  for (Future& receive : waiting) EXPECT_EQ(Take(receive), expected++);
  EXPECT_TRUE(rx.IsEmpty());
}

}  // namespace
}  // namespace rouse::mpmc
