// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Wakers that throw: nothing is lost. (A message whose move
// constructor may throw does not compile: see mpmc_nc_test.cc.)

#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"

namespace rouse::mpmc {
namespace {

#ifdef ABSL_HAVE_EXCEPTIONS

using mpsc::Box;
using mpsc::MakeBox;
using mpsc::Take;

// The wakers of a task that throw when they are called.
class ThrowingTask : public CountingWaker {
 public:
  ThrowingTask() {
    OnWake([] { throw std::runtime_error("no"); });
  }
};

TEST(MpmcThrow, AMessageIsSentIfAReceiversWakerThrows) {
  auto [tx, rx] = Channel<Box>(2);
  ThrowingTask task;
  auto receive = rx.Receive();
  EXPECT_TRUE(task.Poll(receive).IsPending());
  EXPECT_THROW((void)tx.TrySend(MakeBox(1)), std::runtime_error);
  EXPECT_EQ(**Take(receive), 1);

  auto again = rx.Receive();
  EXPECT_TRUE(task.Poll(again).IsPending());
  auto send = tx.Send(MakeBox(2));
  EXPECT_THROW((void)PollOnce(send), std::runtime_error);
  EXPECT_EQ(**Take(again), 2);
  EXPECT_EQ(tx.capacity(), 2u);
}

TEST(MpmcThrow, NothingIsLostIfASendersWakerThrows) {
  auto [tx, rx] = Channel<Box>(2);
  ThrowingTask task;
  EXPECT_TRUE(tx.TrySend(MakeBox(0)).ok());
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  auto first = tx.Send(MakeBox(2));
  auto second = tx.Send(MakeBox(3));
  auto third = tx.Send(MakeBox(4));
  EXPECT_TRUE(task.Poll(first).IsPending());
  EXPECT_TRUE(task.Poll(second).IsPending());
  EXPECT_TRUE(task.Poll(third).IsPending());
  EXPECT_EQ(**Take(rx.Receive()), 0);
  EXPECT_TRUE(Take(first).ok());
  EXPECT_EQ(**rx.TryReceive(), 1);
  EXPECT_TRUE(Take(second).ok());
  std::vector<Box> out;
  EXPECT_EQ(Take(rx.ReceiveMany(out, 1)), 1u);
  EXPECT_EQ(*out.at(0), 2);
  EXPECT_TRUE(Take(third).ok());
  EXPECT_EQ(task.wakes(), 3);
  EXPECT_EQ(Take(rx.ReceiveMany(out, 2)), 2u);
  EXPECT_EQ(tx.capacity(), 2u);
}

TEST(MpmcThrow, ACloseSucceedsIfWakersThrow) {
  auto [tx, rx] = Channel<int>(1);
  Receiver<int> other = rx;
  ThrowingTask bad;
  CountingWaker good;
  auto receive = other.Receive();
  EXPECT_TRUE(good.Poll(receive).IsPending());
  auto first = tx.Closed();
  auto second = tx.Closed();
  EXPECT_TRUE(bad.Poll(first).IsPending());
  EXPECT_TRUE(good.Poll(second).IsPending());
  EXPECT_THROW(rx.Close(), std::runtime_error);
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_EQ(bad.wakes(), 1);
  EXPECT_EQ(good.wakes(), 2);
  EXPECT_EQ(Take(receive), std::nullopt);
}

TEST(MpmcThrow, AWaitThatCannotCloneItsWakerTakesNothing) {
  auto [tx, rx] = UnboundedChannel<int>();
  CountingWaker task;
  task.OnClone([] { throw std::runtime_error("no"); });
  {
    auto receive = rx.Receive();
    EXPECT_THROW((void)task.Poll(receive), std::runtime_error);
    EXPECT_TRUE(tx.Send(1).ok());
  }
  EXPECT_EQ(*rx.TryReceive(), 1);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse::mpmc
