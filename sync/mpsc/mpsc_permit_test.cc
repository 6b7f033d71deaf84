// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/sync/mpsc/mpsc.h"
#include "rouse/sync/mpsc/permit.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc {
namespace {

TEST(MpscPermit, APermitKeepsItsPlace) {
  auto [tx, rx] = Channel<Box>(1);
  absl::StatusOr<Permit<Box>> permit = Take(tx.Reserve());
  ASSERT_TRUE(permit.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(tx.TrySend(MakeBox(1))));
  std::move(*permit).Send(MakeBox(2));
  EXPECT_EQ(**Take(rx.Receive()), 2);
}

TEST(MpscPermit, ADestroyedPermitGivesItsPlaceBack) {
  auto [tx, rx] = Channel<int>(1);
  {
    const absl::StatusOr<Permit<int>> permit = tx.TryReserve();
  }
  EXPECT_EQ(tx.capacity(), 1u);
  absl::StatusOr<Permit<int>> permit = tx.TryReserve();
  EXPECT_TRUE(absl::IsResourceExhausted(tx.TryReserve().status()));
  absl::StatusOr<Permit<int>> moved = std::move(permit);
  EXPECT_EQ(tx.capacity(), 0u);
}

TEST(MpscPermit, ABatchOfPermitsIsUsedInParts) {
  auto [tx, rx] = Channel<int>(5);
  {
    absl::StatusOr<PermitBatch<int>> batch = Take(tx.ReserveMany(4));
    ASSERT_TRUE(batch.ok());
    EXPECT_EQ(tx.capacity(), 1u);
    batch->Send(1);
    batch->Send(2);
    EXPECT_EQ(batch->size(), 2u);
  }
  EXPECT_EQ(tx.capacity(), 3u);
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_EQ(*Take(rx.Receive()), 2);
}

TEST(MpscPermit, ALargeBatchIsNotStarved) {
  auto [tx, rx] = Channel<int>(2);
  EXPECT_TRUE(tx.TrySend(1).ok());
  auto reserve = tx.ReserveMany(2);
  EXPECT_TRUE(PollOnce(reserve).IsPending());
  EXPECT_TRUE(absl::IsResourceExhausted(tx.TrySend(2)));
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_TRUE(Take(reserve).ok());
}

TEST(MpscPermit, ABatchBeyondTheCapacityIsRefused) {
  auto [tx, rx] = Channel<int>(2);
  EXPECT_TRUE(absl::IsInvalidArgument(Take(tx.ReserveMany(3)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(tx.TryReserveMany(3).status()));
  EXPECT_EQ(tx.capacity(), 2u);
}

TEST(MpscPermit, ABatchOfZeroPermitsIsReadyAtOnce) {
  auto [tx, rx] = Channel<int>(1);
  const absl::StatusOr<Permit<int>> permit = tx.TryReserve();
  const absl::StatusOr<PermitBatch<int>> none = Take(tx.ReserveMany(0));
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->IsEmpty());
}

TEST(MpscPermit, AnOwnedPermitKeepsTheChannelOpen) {
  auto channel = Channel<int>(1);
  auto& rx = channel.second;
  std::optional<Sender<int>> tx = std::move(channel.first);
  absl::StatusOr<OwnedPermit<int>> permit = Take(tx->ReserveOwned());
  tx.reset();
  ASSERT_TRUE(permit.ok());
  EXPECT_TRUE(PollOnce(rx.Receive()).IsPending());
  tx = std::move(*permit).Send(3);
  EXPECT_EQ(*Take(rx.Receive()), 3);
  EXPECT_TRUE(tx->TrySend(4).ok());
}

TEST(MpscPermit, AnOwnedPermitGivesItsPlaceBack) {
  auto [tx, rx] = Channel<int>(1);
  {
    const absl::StatusOr<OwnedPermit<int>> permit = tx.TryReserveOwned();
  }
  EXPECT_EQ(tx.capacity(), 1u);
  absl::StatusOr<OwnedPermit<int>> permit = tx.TryReserveOwned();
  ASSERT_TRUE(permit.ok());
  const Sender<int> again = std::move(*permit).Release();
  EXPECT_EQ(again.capacity(), 1u);
}

// Neither poll leaves a trace that the destructor of the future would follow.
TEST(MpscPermit, AReserveOwnedMayOutliveTheChannelAfterAPollWithoutBudget) {
  std::optional channel(Channel<int>(1));
  auto reserve = channel->first.ReserveOwned();
  {
    const Waker waker;
    Context cx(waker);
    while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
    EXPECT_TRUE(reserve.Poll(cx).IsPending());
  }
  {
    absl::StatusOr<OwnedPermit<int>> permit = Take(reserve);
    ASSERT_TRUE(permit.ok());
    channel.reset();
  }
}

// A future that is over refers to nothing.
TEST(MpscPermit, PollingACompleteFutureWithoutItsChannelPanics) {
  std::optional channel(Channel<int>(3));
  const Sender<int>& tx = channel->first;
  auto send = tx.Send(1);
  auto reserve = tx.Reserve();
  auto reserve_many = tx.ReserveMany(2);
  auto reserve_owned = tx.ReserveOwned();
  EXPECT_TRUE(Take(send).ok());
  EXPECT_TRUE(Take(reserve).ok());
  EXPECT_TRUE(Take(reserve_many).ok());
  EXPECT_TRUE(Take(reserve_owned).ok());
  channel.reset();
  EXPECT_PANIC(static_cast<void>(PollOnce(send)),
               "mpsc::Sender::Send was polled after");
  EXPECT_PANIC(static_cast<void>(PollOnce(reserve)),
               "mpsc::Sender::Reserve was polled after");
  EXPECT_PANIC(static_cast<void>(PollOnce(reserve_many)),
               "mpsc::Sender::ReserveMany was polled after");
  EXPECT_PANIC(static_cast<void>(PollOnce(reserve_owned)),
               "mpsc::Sender::ReserveOwned was polled after");
}

TEST(MpscPermit, AReserveOwnedMovesAfterAPollWithoutBudget) {
  std::optional channel = Channel<int>(1);
  const Waker waker;
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  auto reserve = channel->first.ReserveOwned();
  EXPECT_TRUE(reserve.Poll(cx).IsPending());
  {
    auto moved = std::move(reserve);
    channel.reset();
    EXPECT_TRUE(absl::IsCancelled(Take(moved).status()));
  }
  // The objects that were moved from do not access the destroyed channel.
}

// Trap C14 (tokio #4214): a hand-written sink, which may be polled by another
// future. The sink is ready only when there is room for the next value, not as
// soon as the previous value was accepted.
class Sink {
 public:
  explicit Sink(Sender<int> tx) : tx_(std::move(tx)) {}

  PollResult<absl::Status> PollReady(Context& cx) {
    if (permit_.has_value()) return absl::OkStatus();
    if (!reserve_.has_value()) reserve_.emplace(tx_.ReserveOwned());
    PollResult<absl::StatusOr<OwnedPermit<int>>> permit = reserve_->Poll(cx);
    if (permit.IsPending()) return kPending;
    reserve_.reset();
    if (!permit->ok()) return permit->status();
    permit_ = **std::move(permit);
    return absl::OkStatus();
  }

  // REQUIRES: the sink was ready.
  void Send(int value) {
    std::move(*permit_).Send(value);
    permit_.reset();
  }

  // Returns whether there was something to abort.
  bool Abort() {
    const bool aborts = reserve_.has_value() || permit_.has_value();
    reserve_.reset();
    permit_.reset();
    return aborts;
  }

 private:
  Sender<int> tx_;
  std::optional<ReserveOwnedFuture<int>> reserve_;
  std::optional<OwnedPermit<int>> permit_;
};

TEST(MpscPermit, ASinkIsReadyOnlyWhenThereIsRoom) {
  auto [tx, rx] = Channel<int>(1);
  Sink sink(tx);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  ASSERT_TRUE(sink.PollReady(cx).IsReady());
  ASSERT_TRUE(sink.PollReady(cx).IsReady()) << "also when it is asked again";
  sink.Send(1);
  EXPECT_TRUE(sink.PollReady(cx).IsPending());
  EXPECT_TRUE(sink.PollReady(cx).IsPending());
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_EQ(task.wakes(), 1);
  ASSERT_TRUE(sink.PollReady(cx).IsReady());
  sink.Send(2);
  EXPECT_EQ(*Take(rx.Receive()), 2);
}

TEST(MpscPermit, AnAbortedSinkGivesItsRoomBack) {
  auto [tx, rx] = Channel<int>(1);
  Sink sink(tx);
  const Waker waker;
  Context cx(waker);
  EXPECT_FALSE(sink.Abort());
  ASSERT_TRUE(sink.PollReady(cx).IsReady());
  EXPECT_FALSE(tx.TrySend(0).ok());
  EXPECT_TRUE(sink.Abort());
  EXPECT_TRUE(tx.TrySend(1).ok());
  EXPECT_TRUE(sink.PollReady(cx).IsPending());
  EXPECT_TRUE(sink.Abort());
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_TRUE(tx.TrySend(2).ok()) << "nobody else waits";
}

TEST(MpscPermit, ASinkOfAClosedChannelFails) {
  auto [tx, rx] = Channel<int>(1);
  Sink sink(tx);
  const Waker waker;
  Context cx(waker);
  ASSERT_TRUE(sink.PollReady(cx).IsReady());
  rx.Close();
  sink.Send(1);
  EXPECT_EQ(*Take(rx.Receive()), 1) << "it had its room before";
  EXPECT_TRUE(absl::IsCancelled(*sink.PollReady(cx)));
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(MpscPermit, MovingAPendingReserveOwnedPanics) {
  auto channel = Channel<int>(1);
  std::optional<Sender<int>> tx = std::move(channel.first);
  EXPECT_TRUE(tx->TrySend(1).ok());
  auto reserve = tx->ReserveOwned();
  EXPECT_TRUE(PollOnce(reserve).IsPending());
  tx.reset();
  EXPECT_PANIC(auto moved = std::move(reserve),
               "mpsc::Sender::ReserveOwned was moved after");
  EXPECT_EQ(channel.second.sender_strong_count(), 1u);
  EXPECT_EQ(Take(channel.second.Receive()), 1);
  EXPECT_TRUE(Take(reserve).ok());
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(MpscPermit, PollingACompleteReserveOwnedPanics) {
  std::optional channel = Channel<int>(1);
  auto reserve = channel->first.ReserveOwned();
  EXPECT_TRUE(Take(reserve).ok());
  channel.reset();
  EXPECT_PANIC(static_cast<void>(PollOnce(reserve)),
               "mpsc::Sender::ReserveOwned was polled after");
}

TEST(MpscPermit, AnExhaustedBatchPanics) {
  auto [tx, rx] = Channel<int>(1);
  absl::StatusOr<PermitBatch<int>> batch = tx.TryReserveMany(1);
  ASSERT_TRUE(batch.ok());
  batch->Send(1);
  EXPECT_PANIC(batch->Send(2), "mpsc::PermitBatch::Send: no permit is left");
}

}  // namespace
}  // namespace rouse::mpsc
