// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Wakers that throw: they have been called, and everything else is done.

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/sync/mpsc/mpsc.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc {
namespace {

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(MpscThrow, AnOwnedPermitIsUsedOnceIfAWakerThrows) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task;
  task.OnWake([] { throw std::runtime_error("no"); });
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive, task.NewWaker()).IsPending());
  {
    absl::StatusOr<OwnedPermit<int>> permit = tx.TryReserveOwned();
    ASSERT_TRUE(permit.ok());
    EXPECT_THROW(std::move(*permit).Send(3), std::runtime_error);
  }
  EXPECT_EQ(tx.capacity(), 1u);
  EXPECT_EQ(Take(receive), 3);
  EXPECT_EQ(tx.capacity(), 2u);
}

TEST(MpscThrow, AnOwnedPermitIsReleasedOnceIfAWakerThrows) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker task;
  task.OnWake([] { throw std::runtime_error("no"); });
  auto reserve = std::make_optional(tx.Reserve());
  {
    absl::StatusOr<OwnedPermit<int>> permit = tx.TryReserveOwned();
    ASSERT_TRUE(permit.ok());
    EXPECT_TRUE(PollOnce(*reserve, task.NewWaker()).IsPending());
    EXPECT_THROW(std::move(*permit).Release(), std::runtime_error);
  }
  EXPECT_EQ(tx.capacity(), 0u);
  EXPECT_EQ(tx.strong_count(), 1u);
  EXPECT_TRUE(Take(*reserve).ok());
  EXPECT_EQ(tx.capacity(), 1u);
}

TEST(MpscThrow, NothingIsLostIfASendersWakerThrows) {
  auto [tx, rx] = Channel<Box>(2);
  CountingWaker task;
  task.OnWake([] { throw std::runtime_error("no"); });
  EXPECT_TRUE(tx.TrySend(MakeBox(0)).ok());
  EXPECT_TRUE(tx.TrySend(MakeBox(1)).ok());
  auto first = tx.Send(MakeBox(2));
  auto second = tx.Send(MakeBox(3));
  auto third = tx.Send(MakeBox(4));
  EXPECT_TRUE(PollOnce(first, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(third, task.NewWaker()).IsPending());
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

TEST(MpscThrow, ACloseSucceedsIfWakersThrow) {
  auto [tx, rx] = Channel<int>(1);
  CountingWaker bad;
  bad.OnWake([] { throw std::runtime_error("no"); });
  CountingWaker good;
  EXPECT_TRUE(tx.TrySend(1).ok());
  auto send = tx.Send(2);
  EXPECT_TRUE(PollOnce(send, bad.NewWaker()).IsPending());
  auto first = tx.Closed();
  auto second = tx.Closed();
  EXPECT_TRUE(PollOnce(first, bad.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, good.NewWaker()).IsPending());
  EXPECT_THROW(rx.Close(), std::runtime_error);
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_EQ(bad.wakes(), 2);
  EXPECT_EQ(good.wakes(), 1);
  EXPECT_TRUE(absl::IsCancelled(Take(send)));
}

// The place arrives while the send is polled, and then the send's yield throws.
TEST(MpscThrow, AThrowingSendWakesAClosingReceiver) {
  auto channel = Channel<int>(1);
  auto& [tx, rx] = channel;
  EXPECT_TRUE(tx.TrySend(1).ok());
  CountingWaker bad;
  bad.OnClone([&] { EXPECT_TRUE(channel.second.TryReceive().ok()); });
  bad.OnWake([] { throw std::runtime_error("no"); });
  auto send = std::make_optional(tx.Send(2));
  {
    const Waker waker = bad.NewWaker();
    Context cx(waker);
    while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
    EXPECT_THROW(static_cast<void>(send->Poll(cx)), std::runtime_error);
  }
  EXPECT_EQ(tx.capacity(), 0u);
  rx.Close();
  CountingWaker task;
  auto receive = rx.Receive();
  EXPECT_TRUE(PollOnce(receive, task.NewWaker()).IsPending());
  send.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Take(receive), std::nullopt);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse::mpsc
