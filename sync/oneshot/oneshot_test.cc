// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/oneshot/oneshot.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/counted.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using oneshot::Channel;
using oneshot::Receiver;
using oneshot::Sender;

static_assert(Future<Receiver<int>>);
static_assert(Future<Sender<int>::ClosedFuture>);
static_assert(!std::is_copy_constructible_v<Sender<int>>);
static_assert(!std::is_copy_constructible_v<Receiver<int>>);

TEST(Oneshot, ReceivesAnEarlierValue) {
  auto [tx, rx] = Channel<int>();
  EXPECT_TRUE(tx.Send(7));
  PollResult<absl::StatusOr<int>> result = PollOnce(rx);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(**result, 7);
  EXPECT_TRUE(rx.IsTerminated());
}

TEST(Oneshot, ASendWakesTheReceiver) {
  auto [tx, rx] = Channel<std::string>();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    EXPECT_TRUE(PollOnce(rx, waker).IsPending());
    EXPECT_TRUE(PollOnce(rx, waker).IsPending());
    EXPECT_EQ(task.clones(), 1);
    EXPECT_TRUE(tx.Send("seven"));
    EXPECT_EQ(task.wakes_by_value(), 1);
    EXPECT_EQ(**PollOnce(rx, waker), "seven");
  }
}

TEST(Oneshot, WakesTheWakerOfTheLastPoll) {
  auto [tx, rx] = Channel<int>();
  CountingWaker first;
  CountingWaker second;
  for (CountingWaker* task : {&first, &second, &first, &second}) {
    EXPECT_TRUE(PollOnce(rx, task->NewWaker()).IsPending());
    EXPECT_EQ(first.live() + second.live(), 1);
  }
  tx.Send(1);
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(Oneshot, DestroyingTheSenderWakesTheReceiver) {
  auto [tx, rx] = Channel<int>();
  CountingWaker task;
  EXPECT_TRUE(PollOnce(rx, task.NewWaker()).IsPending());
  {
    const Sender<int> going = std::move(tx);
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(PollOnce(rx)->status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(rx.IsTerminated());
}

TEST(Oneshot, AFailedSendLeavesItsArgument) {
  auto [tx, rx] = Channel<std::string>();
  {
    const Receiver<std::string> going = std::move(rx);
  }
  std::string value(100, 'x');
  EXPECT_FALSE(tx.Send(std::move(value)));
  // NOLINTNEXTLINE(bugprone-use-after-move): it is what it was
  EXPECT_EQ(value, std::string(100, 'x'));
  EXPECT_TRUE(tx.IsClosed());
}

TEST(Oneshot, AMoveOnlyValueIsSent) {
  Counts counts;
  {
    auto [tx, rx] = Channel<Counted>();
    EXPECT_TRUE(tx.Send(Counted(counts, 3)));
    EXPECT_EQ(counts.live, 1);
    const absl::StatusOr<Counted> value = rx.TryReceive();
    EXPECT_EQ(value->value(), 3);
    EXPECT_EQ(counts.live, 1);
  }
  EXPECT_EQ(counts.live, 0);
}

// Trap C6.
TEST(Oneshot, AnUnreceivedValueIsDestroyedWithTheReceiver) {
  Counts counts;
  auto [tx, rx] = Channel<Counted>();
  EXPECT_TRUE(tx.Send(Counted(counts, 3)));
  rx.Close();
  EXPECT_EQ(counts.live, 1);
  {
    const Receiver<Counted> going = std::move(rx);
  }
  EXPECT_EQ(counts.live, 0);
}

TEST(Oneshot, AVoidChannelIsASignal) {
  auto [tx, rx] = Channel<void>();
  EXPECT_TRUE(PollOnce(rx).IsPending());
  EXPECT_TRUE(tx.Send());
  EXPECT_EQ(*PollOnce(rx), absl::OkStatus());
}

TEST(Oneshot, AStatusOrIsNotNested) {
  auto [tx, rx] = Channel<absl::StatusOr<int>>();
  tx.Send(absl::NotFoundError("no apples"));
  const absl::StatusOr<int> result = BlockOn(rx);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kNotFound);
}

TEST(Oneshot, AStatusIsTheResult) {
  auto [tx, rx] = Channel<absl::Status>();
  tx.Send(absl::NotFoundError("no apples"));
  const absl::Status result = rx.BlockingReceive();
  EXPECT_EQ(result.code(), absl::StatusCode::kNotFound);
}

struct alignas(64) Aligned {
  int value;
};

TEST(Oneshot, AValueCanBeOverAligned) {
  auto [tx, rx] = Channel<Aligned>();
  tx.Send(Aligned{5});
  EXPECT_EQ(rx.TryReceive()->value, 5);
}

TEST(Oneshot, TryReceiveDistinguishesEmptyFromClosed) {
  auto [tx, rx] = Channel<int>();
  EXPECT_EQ(rx.TryReceive().status().code(), absl::StatusCode::kUnavailable);
  {
    const Sender<int> going = std::move(tx);
  }
  EXPECT_EQ(rx.TryReceive().status().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(rx.IsTerminated());
  EXPECT_EQ(PollOnce(rx)->status().code(), absl::StatusCode::kCancelled);
}

TEST(Oneshot, TryReceiveReturnsTheValueOnce) {
  auto [tx, rx] = Channel<int>();
  EXPECT_TRUE(rx.IsEmpty());
  tx.Send(4);
  EXPECT_FALSE(rx.IsEmpty());
  EXPECT_EQ(*rx.TryReceive(), 4);
  EXPECT_TRUE(rx.IsEmpty());
  EXPECT_TRUE(rx.IsTerminated());
  EXPECT_EQ(rx.TryReceive().status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(Oneshot, NothingIsSentAfterAClose) {
  auto [tx, rx] = Channel<int>();
  EXPECT_FALSE(tx.IsClosed());
  rx.Close();
  rx.Close();
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_FALSE(tx.Send(4));
  EXPECT_FALSE(tx.Send(5));
  EXPECT_EQ(rx.TryReceive().status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(PollOnce(rx)->status().code(), absl::StatusCode::kCancelled);
}

TEST(Oneshot, AValueSentBeforeACloseIsReceived) {
  auto [tx, rx] = Channel<int>();
  tx.Send(4);
  rx.Close();
  EXPECT_EQ(**PollOnce(rx), 4);
}

// The part of the task that closes the receiver may differ from the part that
// awaits it.
TEST(Oneshot, ACloseWakesTheReceiver) {
  auto [tx, rx] = Channel<int>();
  CountingWaker task;
  EXPECT_TRUE(PollOnce(rx, task.NewWaker()).IsPending());
  rx.Close();
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(PollOnce(rx)->status().code(), absl::StatusCode::kCancelled);
}

TEST(Oneshot, ACloseWakesBothWaiters) {
  auto [tx, rx] = Channel<int>();
  CountingWaker sender, receiver;
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed, sender.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(rx, receiver.NewWaker()).IsPending());
  rx.Close();
  EXPECT_EQ(sender.wakes(), 1);
  EXPECT_EQ(receiver.wakes(), 1);
}

TEST(Oneshot, AnErrorOfTheChannelBecomesTheStatus) {
  auto [tx, rx] = Channel<absl::StatusOr<absl::Status>>();
  EXPECT_EQ(rx.TryReceive().status().code(), absl::StatusCode::kUnavailable);
  rx.Close();
  EXPECT_EQ(rx.TryReceive().status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(PollOnce(rx)->status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(rx.TryReceive().status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(Oneshot, ClosedIsReadyWhenTheReceiverIsDestroyed) {
  auto [tx, rx] = Channel<int>();
  CountingWaker task;
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed, task.NewWaker()).IsPending());
  {
    const Receiver<int> going = std::move(rx);
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed).IsReady());
}

TEST(Oneshot, ClosedIsReadyWhenTheReceiverCloses) {
  auto [tx, rx] = Channel<int>();
  CountingWaker task;
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed, task.NewWaker()).IsPending());
  rx.Close();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed).IsReady());
}

TEST(Oneshot, ClosedWakesTheWakerOfTheLastPoll) {
  auto [tx, rx] = Channel<int>();
  CountingWaker first;
  CountingWaker second;
  auto closed = tx.Closed();
  for (CountingWaker* task : {&first, &second, &second}) {
    EXPECT_TRUE(PollOnce(closed, task->NewWaker()).IsPending());
  }
  EXPECT_EQ(second.clones(), 1);
  rx.Close();
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(Oneshot, ACancelledClosedIsNotWoken) {
  auto [tx, rx] = Channel<int>();
  CountingWaker task;
  {
    auto closed = tx.Closed();
    EXPECT_TRUE(PollOnce(closed, task.NewWaker()).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  rx.Close();
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Oneshot, ASendDropsTheSendersWaker) {
  auto [tx, rx] = Channel<int>();
  CountingWaker sender;
  CountingWaker receiver;
  const Waker waker = sender.NewWaker();
  Context cx(waker);
  EXPECT_TRUE(tx.PollClosed(cx).IsPending());
  EXPECT_TRUE(PollOnce(rx, receiver.NewWaker()).IsPending());
  tx.Send(1);
  EXPECT_EQ(sender.live(), 1) << "the test's own";
  EXPECT_EQ(sender.wakes(), 0);
  EXPECT_EQ(receiver.wakes(), 1);
}

TEST(Oneshot, ADestroyedReceiverDropsItsWaker) {
  auto [tx, rx] = Channel<int>();
  CountingWaker sender;
  CountingWaker receiver;
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed, sender.NewWaker()).IsPending());
  {
    Receiver<int> going = std::move(rx);
    EXPECT_TRUE(PollOnce(going, receiver.NewWaker()).IsPending());
  }
  EXPECT_EQ(receiver.live(), 0);
  EXPECT_EQ(receiver.wakes(), 0);
  EXPECT_EQ(sender.wakes(), 1);
}

TEST(Oneshot, AReceiverCanMoveBetweenPolls) {
  auto [tx, rx] = Channel<int>();
  CountingWaker task;
  EXPECT_TRUE(PollOnce(rx, task.NewWaker()).IsPending());
  Receiver<int> moved = std::move(rx);
  tx.Send(2);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(**PollOnce(moved), 2);
}

TEST(Oneshot, AssignmentDestroysTheOldEnd) {
  auto [tx, rx] = Channel<int>();
  auto [other_tx, other_rx] = Channel<int>();
  rx = std::move(other_rx);
  EXPECT_TRUE(tx.IsClosed());
  tx = std::move(other_tx);
  tx.Send(3);
  EXPECT_EQ(*rx.TryReceive(), 3);
}

TEST(Oneshot, ACancelledAwaitLosesNoValue) {
  auto [tx, rx] = Channel<int>();
  auto await = [](Receiver<int>& rx) -> Co<int> {
    absl::StatusOr<int> value = co_await rx;
    co_return *value;
  };
  {
    Co<int> abandoned = await(rx);
    EXPECT_TRUE(PollOnce(abandoned).IsPending());
  }
  tx.Send(6);
  EXPECT_EQ(BlockOn(await(rx)), 6);
}

TEST(Oneshot, AReceiverTakesAUnitOfTheBudget) {
  const Waker waker;
  Context cx(waker);
  uint32_t ready = 0;
  for (;;) {
    auto [tx, rx] = Channel<int>();
    tx.Send(1);
    if (rx.Poll(cx).IsPending()) break;
    ++ready;
  }
  EXPECT_EQ(ready, kBudgetPerPoll);
}

TEST(Oneshot, ClosedTakesAUnitOfTheBudget) {
  auto [tx, rx] = Channel<int>();
  rx.Close();
  const Waker waker;
  Context cx(waker);
  uint32_t ready = 0;
  while (tx.PollClosed(cx).IsReady()) ++ready;
  EXPECT_EQ(ready, kBudgetPerPoll);
}

TEST(Oneshot, PollingACompleteReceiverPanics) {
  auto [tx, rx] = Channel<int>();
  tx.Send(1);
  EXPECT_TRUE(PollOnce(rx).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(rx)),
               "oneshot::Receiver or Closed was polled after");
}

TEST(Oneshot, PollingACompleteClosedPanics) {
  auto [tx, rx] = Channel<int>();
  rx.Close();
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(closed)),
               "oneshot::Receiver or Closed was polled after");
}

TEST(Oneshot, ASecondSendPanics) {
  auto [tx, rx] = Channel<int>();
  tx.Send(1);
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_PANIC(tx.Send(2), "oneshot::Sender was used after");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Oneshot, AThrowingWakerHasBeenCalled) {
  auto [tx, rx] = Channel<int>();
  CountingWaker task;
  task.OnWake([] { throw std::runtime_error("no"); });
  EXPECT_TRUE(PollOnce(rx, task.NewWaker()).IsPending());
  EXPECT_THROW(tx.Send(1), std::runtime_error);
  EXPECT_EQ(*rx.TryReceive(), 1);
}

TEST(Oneshot, AThrowingCloneChangesNothing) {
  auto [tx, rx] = Channel<int>();
  CountingWaker good;
  CountingWaker bad;
  bad.OnClone([] { throw std::runtime_error("no"); });
  EXPECT_TRUE(PollOnce(rx, good.NewWaker()).IsPending());
  {
    const Waker waker = bad.NewWaker();
    EXPECT_THROW(static_cast<void>(PollOnce(rx, waker)), std::runtime_error);
  }
  tx.Send(1);
  EXPECT_EQ(good.wakes(), 1);
}

// A type whose moves call a hook, and whose assignment may throw.
template <bool kMovesMayThrow>
class Moody {
 public:
  Moody(int* live, std::function<void()> on_move)
      : live_(live), on_move_(std::move(on_move)) {
    ++*live_;
  }
  Moody(Moody&& other) noexcept(!kMovesMayThrow)
      : live_(other.live_), on_move_(std::exchange(other.on_move_, nullptr)) {
    ++*live_;
    if (on_move_ != nullptr) on_move_();
  }
  Moody& operator=(Moody&&) noexcept(false) { throw std::runtime_error("no"); }
  ~Moody() { --*live_; }

 private:
  int* live_;
  std::function<void()> on_move_;
};

TEST(Oneshot, AReturnedValueIsNotAssignedIfAssignmentCanThrow) {
  int live = 0;
  {
    auto channel = Channel<Moody<false>>();
    Moody<false> value(&live, [&channel] { channel.second.Close(); });
    EXPECT_FALSE(channel.first.Send(std::move(value)));
    EXPECT_EQ(live, 1);
  }
  EXPECT_EQ(live, 0);
}

TEST(Oneshot, AValueThatCannotBeReturnedIsDestroyed) {
  int live = 0;
  {
    auto channel = Channel<Moody<true>>();
    Moody<true> value(&live, [&channel] { channel.second.Close(); });
    EXPECT_THROW(channel.first.Send(std::move(value)), std::runtime_error);
    EXPECT_EQ(live, 1);
  }
  EXPECT_EQ(live, 0);
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(Oneshot, AThreadWaitsWithoutARuntime) {
  auto [tx, rx] = Channel<std::unique_ptr<int>>();
  std::thread sending(
      [tx = std::move(tx)]() mutable { tx.Send(std::make_unique<int>(9)); });
  const absl::StatusOr<std::unique_ptr<int>> value = rx.BlockingReceive();
  EXPECT_EQ(**value, 9);
  sending.join();
}

}  // namespace
}  // namespace rouse
