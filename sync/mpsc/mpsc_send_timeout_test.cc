// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/sync/mpsc/mpsc.h"
#include "rouse/sync/mpsc/send_timeout.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/testing/poll_once.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc {
namespace {

class SendTimeoutTest : public testing::Test {
 protected:
  void Pass(absl::Duration d) {
    driver_.clock().Advance(d);
    driver_.ParkFor(absl::ZeroDuration());
  }

  wheel::Driver<ThreadParker> driver_{{.clock = PausedClock()}};
  wheel::ScopedDefault current_{driver_.handle()};
};

TEST_F(SendTimeoutTest, SendsAtOnceIfThereIsRoom) {
  auto [tx, rx] = Channel<int>(1);
  auto send = SendTimeout(tx, 1, absl::Seconds(1));
  EXPECT_TRUE(PollOnce(send)->ok());
  EXPECT_EQ(*rx.TryReceive(), 1);
}

TEST_F(SendTimeoutTest, SendsIfRoomAppearsInTime) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(0).ok());
  auto send = SendTimeout(tx, 1, absl::Seconds(1));
  EXPECT_TRUE(PollOnce(send).IsPending());
  Pass(absl::Milliseconds(900));
  EXPECT_EQ(*rx.TryReceive(), 0);
  EXPECT_TRUE(PollOnce(send)->ok());
  EXPECT_EQ(*rx.TryReceive(), 1);
}

TEST_F(SendTimeoutTest, ReturnsTheValueAfterTheTimeout) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  EXPECT_TRUE(tx.TrySend(0).ok());
  auto send = SendTimeout(tx, 1, absl::Seconds(1));
  EXPECT_TRUE(PollOnce(send, waker).IsPending());
  Pass(absl::Milliseconds(1001));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(*PollOnce(send, waker)));
  EXPECT_EQ(send.TakeValue(), 1);
  EXPECT_EQ(*rx.TryReceive(), 0);
  EXPECT_EQ(tx.capacity(), 1u);
}

TEST_F(SendTimeoutTest, FailsWhenTheChannelIsClosed) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_TRUE(tx.TrySend(0).ok());
  auto send = SendTimeout(tx, 1, absl::Seconds(1));
  EXPECT_TRUE(PollOnce(send).IsPending());
  rx.Close();
  EXPECT_TRUE(absl::IsCancelled(*PollOnce(send)));
  EXPECT_EQ(send.TakeValue(), 1);
}

}  // namespace
}  // namespace rouse::mpsc
