// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests a channel while allocations fail.

#include <cstddef>
#include <new>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse::mpmc {
namespace {

using mpsc::Take;
using ::testing::ElementsAre;

TEST(MpmcMemory, MessagesWithoutRoomStayInTheChannel) {
  for (const size_t room : {0, 2}) {
    auto [tx, rx] = Channel<int>(8);
    std::vector<int> out;
    out.reserve(room);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(tx.TrySend(int{i}).ok());
    {
      auto receive = rx.ReceiveMany(out, 5);
      const FailingAllocation failing(0);
      EXPECT_THROW((void)PollOnce(receive), std::bad_alloc);
      EXPECT_TRUE(failing.has_failed());
    }
    EXPECT_EQ(out.size(), room);
    EXPECT_EQ(rx.size(), 5 - room);
    EXPECT_EQ(tx.capacity(), 3 + room);
    EXPECT_EQ(Take(rx.ReceiveMany(out, 8)), 5 - room);
    EXPECT_THAT(out, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(tx.capacity(), 8u);
  }
}

// The waker of a sender finds them.
TEST(MpmcMemory, MessagesWithoutRoomCanBeReceivedInAWaker) {
  auto [tx, rx] = Channel<int>(3);
  Receiver<int> other = rx;
  std::vector<int> out;
  out.reserve(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(tx.TrySend(int{i}).ok());
  CountingWaker sender;
  sender.OnWake([&] { EXPECT_EQ(*other.TryReceive(), 1); });
  auto send = tx.Send(3);
  EXPECT_TRUE(sender.Poll(send).IsPending());
  {
    auto receive = rx.ReceiveMany(out, 3);
    const FailingAllocation failing(0);
    EXPECT_THROW((void)PollOnce(receive), std::bad_alloc);
  }
  EXPECT_EQ(sender.wakes(), 1);
  EXPECT_THAT(out, ElementsAre(0));
  EXPECT_EQ(*other.TryReceive(), 2);
}

// A message that could not be taken goes to the next waiting receiver.
TEST(MpmcMemory, AMessageWithoutRoomWakesAnother) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker first;
  CountingWaker second;
  std::vector<int> out;
  auto many = rx.ReceiveMany(out, 5);
  auto one = rx.Receive();
  EXPECT_TRUE(first.Poll(many).IsPending());
  EXPECT_TRUE(second.Poll(one).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  {
    const FailingAllocation failing(0);
    EXPECT_THROW((void)first.Poll(many), std::bad_alloc);
  }
  EXPECT_EQ(second.wakes(), 1);
  EXPECT_EQ(Take(one), 1);
}

// Room for the messages of others is not needed.
TEST(MpmcMemory, ReceiveManyMakesRoomForItsOwnMessages) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::vector<int> out;
  out.reserve(1);
  auto many = rx.ReceiveMany(out, 5);
  auto one = rx.Receive();
  EXPECT_TRUE(PollOnce(many).IsPending());
  EXPECT_TRUE(PollOnce(one).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_TRUE(tx.Send(2).ok());
  {
    const FailingAllocation failing(0);
    EXPECT_EQ(Take(many), 1u);
  }
  EXPECT_EQ(Take(one), 2);
}

TEST(MpmcMemory, TheEndNeedsNoMemory) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::vector<int> out;
  auto many = rx.ReceiveMany(out, 5);
  EXPECT_TRUE(PollOnce(many).IsPending());
  CountingWaker task;
  rx.Close();
  const FailingAllocation failing(0);
  EXPECT_EQ(Take(many), 0u);
  EXPECT_EQ(Take(rx.ReceiveMany(out, 5)), 0u);
  EXPECT_EQ(*task.PollNext(rx), std::nullopt);
  EXPECT_FALSE(failing.has_failed());
}

TEST(MpmcMemory, AStreamThatCannotWaitTakesNothing) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  {
    const FailingAllocation failing(0);
    EXPECT_THROW((void)task.PollNext(rx), std::bad_alloc);
  }
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  EXPECT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*task.PollNext(rx), 1);
}

}  // namespace
}  // namespace rouse::mpmc

#endif  // ROUSE_CAN_FAIL_ALLOCATIONS
