#include "rouse/sync/broadcast.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_once.h"
#include "rouse/sync/broadcast_slot.h"
#include "rouse/waker/context.h"
#include "rouse/waker/counting_waker.h"
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

// What there is now, as far as it is values.
template <class T>
std::vector<T> Drain(Receiver<T>& rx) {
  std::vector<T> values;
  for (;;) {
    Received<T> received = rx.TryReceive();
    if (!received.has_value()) return values;
    values.push_back(*std::move(received));
  }
}

// Counts what it does, in whatever the test wants it counted.
struct Counts {
  std::atomic<int> live{0};
  std::atomic<int> copies{0};
};
class Counted {
 public:
  Counted(Counts& counts, int value) : counts_(&counts), value_(value) {
    ++counts_->live;
  }
  Counted(const Counted& other) : counts_(other.counts_), value_(other.value_) {
    ++counts_->live;
    ++counts_->copies;
  }
  Counted(Counted&& other) noexcept
      : counts_(other.counts_), value_(std::exchange(other.value_, -1)) {
    ++counts_->live;
  }
  Counted& operator=(Counted&& other) noexcept {
    value_ = std::exchange(other.value_, -1);
    return *this;
  }
  ~Counted() { --counts_->live; }

  int value() const { return value_; }

 private:
  Counts* counts_;
  int value_;
};

TEST(Broadcast, EveryReceiverGetsEveryValueInOrder) {
  auto [tx, rx1] = Channel<std::string>(4);
  Receiver<std::string> rx2 = tx.Subscribe();
  EXPECT_EQ(tx.Send("one").value(), 2);
  EXPECT_EQ(tx.Send("two").value(), 2);
  EXPECT_THAT(Drain(rx1), ElementsAre("one", "two"));
  EXPECT_THAT(Drain(rx2), ElementsAre("one", "two"));
}

TEST(Broadcast, PlainValuesGoThroughTheRing) {
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

TEST(Broadcast, AValueThatNeedNotBeDefaultConstructible) {
  class Number {
   public:
    explicit Number(int value) : value_(value) {}
    int value() const { return value_; }

   private:
    int value_;
  };
  auto [tx, rx] = Channel<Number>(2);
  ASSERT_TRUE(tx.Send(Number(3)).ok());
  EXPECT_EQ(rx.TryReceive()->value(), 3);
}

TEST(Broadcast, AValueOfLargeAlignmentIsAligned) {
  struct alignas(64) Line {
    std::array<uint64_t, 8> words;
  };
  auto [tx, rx] = Channel<Line>(2);
  ASSERT_TRUE(tx.Send(Line{{7}}).ok());
  EXPECT_EQ(rx.TryReceive()->words[0], 7);
}

TEST(Broadcast, AReceiverGetsOnlyWhatIsSentAfterItSubscribed) {
  auto [tx, rx1] = Channel<int>(4);
  ASSERT_TRUE(tx.Send(1).ok());
  Receiver<int> rx2 = tx.Subscribe();
  Receiver<int> rx3 = rx1.Resubscribe();
  ASSERT_TRUE(tx.Send(2).ok());
  EXPECT_THAT(Drain(rx1), ElementsAre(1, 2));
  EXPECT_THAT(Drain(rx2), ElementsAre(2));
  EXPECT_THAT(Drain(rx3), ElementsAre(2));
}

TEST(Broadcast, ThereIsNothingYet) {
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

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(Broadcast, PanicsIfTheCapacityIsOutOfRange) {
  EXPECT_THROW(Channel<int>(0), PanicError);
  EXPECT_THROW(Channel<int>(kMaxCapacity + 1), PanicError);
}
#endif

TEST(Broadcast, ASlowReceiverIsToldHowManyItHasMissed) {
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

TEST(Broadcast, AFutureTellsOfALagToo) {
  auto [tx, rx] = Channel<std::string>(1);
  ReceiveFuture<std::string> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive).IsPending());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(tx.Send("x").ok());
  PollResult<Received<std::string>> result = PollOnce(receive);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(result->lagged(), 2);
}

TEST(Broadcast, AReceiverMayLagAgainAndAgain) {
  auto [tx, rx] = Channel<std::string>(2);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(tx.Send("x").ok());
    EXPECT_EQ(rx.TryReceive().lagged(), 3);
    EXPECT_THAT(Drain(rx), ElementsAre("x", "x"));
  }
}

// Of a value that was sent, and not read, before another lag.
TEST(Broadcast, WhatIsMissedIsCountedFromThePositionOfTheReceiver) {
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
    const Receiver<std::string> gone = std::move(rx);
  }
  std::string value = "a value that is not in the string itself";
  const std::string copy = value;
  EXPECT_EQ(tx.Send(std::move(value)).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(value, copy);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(tx.Send(copy).status().code(), absl::StatusCode::kUnavailable);
}

// The value is moved before the lock is taken, and then the last receiver goes:
// here because moving it is what makes it go.
TEST(Broadcast, AValueIsGivenBackIfTheLastReceiverGoesMeanwhile) {
  class Value {
   public:
    Value(std::optional<Receiver<Value>>* rx, int value)
        : rx_(rx), value_(value) {}
    Value(const Value&) = default;
    Value(Value&& other) noexcept
        : rx_(other.rx_), value_(std::exchange(other.value_, 0)) {
      if (rx_ != nullptr) rx_->reset();
    }
    Value& operator=(const Value&) = default;
    Value& operator=(Value&& other) noexcept {
      value_ = std::exchange(other.value_, 0);
      return *this;
    }
    ~Value() = default;
    int value() const { return value_; }

   private:
    std::optional<Receiver<Value>>* rx_;
    int value_;
  };
  std::optional<Receiver<Value>> rx;
  const Sender<Value> tx(4);
  rx.emplace(tx.Subscribe());
  Value value(&rx, 5);
  EXPECT_EQ(tx.Send(std::move(value)).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(value.value(), 5);  // NOLINT(bugprone-use-after-move)
}

TEST(Broadcast, AValueThatCannotBeAssignedIsCopied) {
  struct Constant {
    const std::string text;
  };
  auto [tx, rx] = Channel<Constant>(4);
  Constant value{"text"};
  ASSERT_TRUE(tx.Send(std::move(value)).ok());
  EXPECT_EQ(value.text, "text");  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(rx.TryReceive()->text, "text");
}

TEST(Broadcast, APlainValueThatCannotBeAssigned) {
  struct Constant {
    const int number;
  };
  static_assert(internal::kIsPlain<Constant>);
  auto [tx, rx] = Channel<Constant>(4);
  for (int i = 1; i <= 4; ++i) ASSERT_TRUE(tx.Send(Constant{i}).ok());
  EXPECT_EQ(rx.TryReceive()->number, 1);
  EXPECT_EQ(PollOnce(rx.Receive()).value()->number, 2);
  EXPECT_EQ(rx.BlockingReceive()->number, 3);
  EXPECT_EQ(rx.TryReceive()->number, 4);
  ReceiveFuture<Constant> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive).IsPending());
  ASSERT_TRUE(tx.Send(Constant{5}).ok());
  EXPECT_EQ(PollOnce(receive).value()->number, 5);
}

// Trap C11 (#7629): a channel that begins without receivers is as one that has
// lost them.
TEST(Broadcast, AChannelThatBeginsWithoutReceivers) {
  const Sender<int> tx(4);
  ClosedFuture closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed).IsReady());
  EXPECT_FALSE(tx.Send(1).ok());
  Receiver<int> rx = tx.Subscribe();
  EXPECT_EQ(tx.Send(2).value(), 1);
  EXPECT_THAT(Drain(rx), ElementsAre(2));
}

// Trap C11 (#4814, #4867): receiving hung in a channel that had been without
// receivers for a time.
TEST(Broadcast, AChannelThatLostItsReceiversGetsNewOnes) {
  auto [tx, first] = Channel<int>(2);
  ASSERT_TRUE(tx.Send(1).ok());
  {
    const Receiver<int> gone = std::move(first);
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

TEST(Broadcast, IsClosedWhenTheLastSenderHasGone) {
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

// Trap C11 (#2448): the end takes no place in the ring, so that it overwrites
// nothing and is not waited for.
TEST(Broadcast, TheEndOverwritesNothing) {
  auto [tx, rx] = Channel<std::string>(2);
  {
    const Sender<std::string> gone = std::move(tx);
    ASSERT_TRUE(gone.Send("one").ok());
    ASSERT_TRUE(gone.Send("two").ok());
  }
  EXPECT_EQ(*rx.BlockingReceive(), "one");
  EXPECT_EQ(*rx.BlockingReceive(), "two");
  EXPECT_TRUE(rx.BlockingReceive().IsClosed());
}

TEST(Broadcast, WhoSubscribesToAClosedChannelGetsItsEnd) {
  auto [tx, rx] = Channel<int>(2);
  ASSERT_TRUE(tx.Send(1).ok());
  {
    const Sender<int> gone = std::move(tx);
  }
  Receiver<int> other = rx.Resubscribe();
  EXPECT_TRUE(other.TryReceive().IsClosed());
  EXPECT_EQ(*rx.TryReceive(), 1);
}

TEST(Broadcast, ASendWakesAllWhoWait) {
  auto [tx, rx1] = Channel<int>(2);
  Receiver<int> rx2 = tx.Subscribe();
  CountingWaker task1, task2;
  const Waker waker1 = task1.NewWaker();
  const Waker waker2 = task2.NewWaker();
  ReceiveFuture<int> receive1 = rx1.Receive();
  ReceiveFuture<int> receive2 = rx2.Receive();
  ASSERT_TRUE(PollOnce(receive1, waker1).IsPending());
  ASSERT_TRUE(PollOnce(receive2, waker2).IsPending());
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task1.wakes(), 1);
  EXPECT_EQ(task2.wakes(), 1);
  EXPECT_EQ(*PollOnce(receive1, waker1).value(), 1);
  EXPECT_EQ(*PollOnce(receive2, waker2).value(), 1);
}

TEST(Broadcast, WhoDoesNotWaitIsNotWoken) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  ASSERT_TRUE(tx.Send(1).ok());
  ReceiveFuture<int> receive = rx.Receive();
  EXPECT_EQ(*PollOnce(receive, waker).value(), 1);
  EXPECT_EQ(task.clones(), 0);
  ASSERT_TRUE(tx.Send(2).ok());
  EXPECT_EQ(task.wakes(), 0);
}

// Trap C11 (#2135): a receiver that was woken, and then told to wait again or
// dropped, is told of the next value.
TEST(Broadcast, EachWaitIsToldOfTheNextValue) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  for (int i = 1; i <= 3; ++i) {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    ASSERT_TRUE(tx.Send(i).ok());
    EXPECT_EQ(task.wakes(), i);
    EXPECT_EQ(*PollOnce(receive, waker).value(), i);
  }
}

TEST(Broadcast, TheWakerOfTheLastPollIsWoken) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker before, after;
  const Waker waker_before = before.NewWaker();
  const Waker waker_after = after.NewWaker();
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive, waker_before).IsPending());
  ASSERT_TRUE(PollOnce(receive, waker_after).IsPending());
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(before.wakes(), 0);
  EXPECT_EQ(after.wakes(), 1);
}

TEST(Broadcast, ACancelledReceiveHasTakenNothing) {
  auto [tx, rx] = Channel<std::string>(2);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  {
    ReceiveFuture<std::string> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
  }
  EXPECT_EQ(task.live(), 1);
  {
    ReceiveFuture<std::string> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    ASSERT_TRUE(tx.Send("one").ok());
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_THAT(Drain(rx), ElementsAre("one"));
}

// One that was polled with a waker that does nothing is in the list as well.
TEST(Broadcast, ACancelledReceiveOfNoTaskLeavesTheList) {
  auto [tx, rx] = Channel<int>(2);
  {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive).IsPending());
  }
  EXPECT_TRUE(tx.Send(1).ok());
}

TEST(Broadcast, AReceiveMayBeMovedBeforeItIsPolled) {
  auto [tx, rx] = Channel<int>(2);
  ASSERT_TRUE(tx.Send(1).ok());
  ReceiveFuture<int> receive = rx.Receive();
  ReceiveFuture<int> moved = std::move(receive);
  EXPECT_EQ(*PollOnce(moved).value(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(Broadcast, PanicsIfAFutureIsMovedAfterItWasPolled) {
  auto [tx, rx] = Channel<int>(2);
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive).IsPending());
  EXPECT_THROW(ReceiveFuture<int> moved(std::move(receive)), PanicError);
  ClosedFuture closed = tx.Closed();
  ASSERT_TRUE(PollOnce(closed).IsPending());
  EXPECT_THROW(ClosedFuture moved(std::move(closed)), PanicError);
}

TEST(Broadcast, PanicsIfAFutureIsPolledAfterItHasFinished) {
  auto [tx, rx] = Channel<int>(2);
  ASSERT_TRUE(tx.Send(1).ok());
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive).IsReady());
  EXPECT_THROW(static_cast<void>(PollOnce(receive)), PanicError);
  const Sender<int> without(1);
  ClosedFuture closed = without.Closed();
  ASSERT_TRUE(PollOnce(closed).IsReady());
  EXPECT_THROW(static_cast<void>(PollOnce(closed)), PanicError);
}
#endif

TEST(Broadcast, TakesAUnitOfTheBudgetForEachValue) {
  auto [tx, rx] = Channel<uint32_t>(size_t{2} * kBudgetPerPoll);
  for (uint32_t i = 0; i <= kBudgetPerPoll; ++i) ASSERT_TRUE(tx.Send(i).ok());
  CountingWaker task;
  const Waker waker = task.NewWaker();
  {
    Context cx(waker);
    for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
      ReceiveFuture<uint32_t> receive = rx.Receive();
      ASSERT_TRUE(receive.Poll(cx).IsReady());
    }
    ReceiveFuture<uint32_t> receive = rx.Receive();
    EXPECT_TRUE(receive.Poll(cx).IsPending());
    EXPECT_EQ(task.wakes(), 1);
    // It does not wait for a value: there is one.
    ReceiveFuture<uint32_t> moved = std::move(receive);
    EXPECT_EQ(*PollOnce(moved, waker).value(), kBudgetPerPoll);
  }
}

TEST(Broadcast, AWaitThatIsPendingTakesNoBudget) {
  auto [tx, rx] = Channel<int>(2);
  const Waker waker;
  Context cx(waker);
  for (uint32_t i = 0; i < 2 * kBudgetPerPoll; ++i) {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(receive.Poll(cx).IsPending());
  }
  EXPECT_TRUE(cx.HasBudget());
}

// Trap C11 (#5578): wakers are cloned, called and dropped without the lock.
TEST(Broadcast, AWakerMayUseTheChannel) {
  auto [tx, rx] = Channel<int>(2);
  const auto use = [&tx = tx] { static_cast<void>(tx.size()); };
  CountingWaker task;
  task.OnClone(use);
  task.OnWake(use);
  task.OnDrop(use);
  const Waker waker = task.NewWaker();
  CountingWaker other;
  const Waker other_waker = other.NewWaker();
  {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    // Drops the one before.
    ASSERT_TRUE(PollOnce(receive, other_waker).IsPending());
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
    ASSERT_TRUE(tx.Send(1).ok());
    EXPECT_TRUE(PollOnce(receive, waker).IsReady());
  }
  {
    ReceiveFuture<int> receive = rx.Receive();
    ASSERT_TRUE(PollOnce(receive, waker).IsPending());
  }
  EXPECT_GE(task.drops(), 2);
  EXPECT_EQ(task.wakes(), 1);
}

// As above, of those who wait for the end of all receivers.
TEST(Broadcast, AWakerOfWhoWaitsForNoReceiverMayUseTheChannel) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<Receiver<int>> receiver(std::move(rx));
  CountingWaker task;
  task.OnWake([&tx = tx] { EXPECT_EQ(tx.receiver_count(), 0); });
  const Waker waker = task.NewWaker();
  ClosedFuture closed = tx.Closed();
  ASSERT_TRUE(PollOnce(closed, waker).IsPending());
  receiver.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(closed, waker).IsReady());
}

// More than are woken at once: those whose turn has not come may be polled when
// there is a receiver again.
TEST(Broadcast, AMomentWithoutReceiversIsSeenByAllThatWait) {
  constexpr size_t kMany = 40;
  auto [tx, rx] = Channel<int>(2);
  std::optional<Receiver<int>> receiver(std::move(rx));
  std::vector<std::unique_ptr<ClosedFuture>> closed;
  CountingWaker task, last_task;
  bool polled = false;
  task.OnWake([&, &tx = tx] {
    if (std::exchange(polled, true)) return;
    receiver.emplace(tx.Subscribe());
    EXPECT_TRUE(PollOnce(*closed.back(), last_task.NewWaker()).IsReady());
    ClosedFuture next = tx.Closed();
    EXPECT_TRUE(PollOnce(next).IsPending());
  });
  for (size_t i = 0; i < kMany; ++i) {
    closed.push_back(std::make_unique<ClosedFuture>(tx.Closed()));
    const Waker waker = (i + 1 < kMany ? task : last_task).NewWaker();
    ASSERT_TRUE(PollOnce(*closed.back(), waker).IsPending());
  }
  {
    const Receiver<int> last = *std::exchange(receiver, std::nullopt);
  }
  EXPECT_EQ(task.wakes(), kMany - 1);
  EXPECT_EQ(last_task.wakes(), 0);
  closed.pop_back();
  for (auto& future : closed) EXPECT_TRUE(PollOnce(*future).IsReady());
}

// Trap C11 (#5923, #5925): those who wait again, while a send wakes, wait for
// the next value; the send does not look at them.
TEST(Broadcast, ASendWakesOnlyThoseWhoWaitedBefore) {
  constexpr size_t kReceivers = 100;  // several batches
  const Sender<int> tx(2);
  std::vector<Receiver<int>> receivers;
  std::vector<CountingWaker> tasks(kReceivers);
  std::vector<Waker> wakers;
  std::vector<std::unique_ptr<ReceiveFuture<int>>> receive(kReceivers);
  int again = 0;
  for (size_t i = 0; i < kReceivers; ++i) {
    receivers.push_back(tx.Subscribe());
    wakers.push_back(tasks[i].NewWaker());
  }
  for (size_t i = 0; i < kReceivers; ++i) {
    // Woken, it receives at once, and waits for the next.
    tasks[i].OnWake([&, i] {
      EXPECT_TRUE(PollOnce(*receive[i], wakers[i]).IsReady());
      receive[i] = std::make_unique<ReceiveFuture<int>>(receivers[i].Receive());
      EXPECT_TRUE(PollOnce(*receive[i], wakers[i]).IsPending());
      ++again;
    });
    receive[i] = std::make_unique<ReceiveFuture<int>>(receivers[i].Receive());
    ASSERT_TRUE(PollOnce(*receive[i], wakers[i]).IsPending());
  }
  ASSERT_EQ(tx.Send(1).value(), kReceivers);
  EXPECT_EQ(again, kReceivers);
  for (const CountingWaker& task : tasks) EXPECT_EQ(task.wakes(), 1);
}

TEST(Broadcast, OfManyWhoWaitSomeMayGoWhileTheOthersAreWoken) {
  constexpr size_t kReceivers = 100;
  const Sender<int> tx(2);
  std::vector<Receiver<int>> receivers;
  std::vector<CountingWaker> tasks(kReceivers);
  std::vector<std::unique_ptr<ReceiveFuture<int>>> receive;
  for (size_t i = 0; i < kReceivers; ++i) receivers.push_back(tx.Subscribe());
  for (size_t i = 0; i < kReceivers; ++i) {
    const Waker waker = tasks[i].NewWaker();
    receive.push_back(
        std::make_unique<ReceiveFuture<int>>(receivers[i].Receive()));
    ASSERT_TRUE(PollOnce(*receive[i], waker).IsPending());
  }
  // The first one woken cancels the last, which is in another batch.
  tasks.front().OnWake([&] { receive.back().reset(); });
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(tasks.back().wakes(), 0);
  EXPECT_EQ(tasks[kReceivers - 2].wakes(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(Broadcast, AWakerThatThrowsKeepsNobodyElseAsleep) {
  auto [tx, rx1] = Channel<std::string>(2);
  Receiver<std::string> rx2 = tx.Subscribe();
  CountingWaker bad, good;
  bad.OnWake([] { throw std::runtime_error("bad"); });
  const Waker bad_waker = bad.NewWaker();
  const Waker good_waker = good.NewWaker();
  ReceiveFuture<std::string> receive1 = rx1.Receive();
  ReceiveFuture<std::string> receive2 = rx2.Receive();
  ASSERT_TRUE(PollOnce(receive1, bad_waker).IsPending());
  ASSERT_TRUE(PollOnce(receive2, good_waker).IsPending());
  EXPECT_THROW(static_cast<void>(tx.Send("one")), std::runtime_error);
  EXPECT_EQ(good.wakes(), 1);
  EXPECT_EQ(*PollOnce(receive2, good_waker).value(), "one");
}

TEST(Broadcast, ACloneThatThrowsLeavesTheFutureAsItWas) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task;
  task.OnClone([] { throw std::runtime_error("bad"); });
  const Waker waker = task.NewWaker();
  ReceiveFuture<int> receive = rx.Receive();
  EXPECT_THROW(static_cast<void>(PollOnce(receive, waker)), std::runtime_error);
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(*PollOnce(receive, waker).value(), 1);
}

// The one who was to have it has lost it, and nobody else.
TEST(Broadcast, ACopyThatThrowsIsThatReceiversLoss) {
  class Bad {
   public:
    explicit Bad(bool* throws) : throws_(throws) {}
    Bad(const Bad& other) : throws_(other.throws_) {
      if (*throws_) throw std::runtime_error("bad");
    }
    Bad& operator=(const Bad&) = delete;
    ~Bad() = default;

   private:
    bool* throws_;
  };
  bool throws = false;
  auto [tx, rx1] = Channel<Bad>(2);
  Receiver<Bad> rx2 = tx.Subscribe();
  ASSERT_TRUE(tx.Send(Bad(&throws)).ok());
  throws = true;
  EXPECT_THROW(static_cast<void>(rx1.TryReceive()), std::runtime_error);
  throws = false;
  EXPECT_TRUE(rx1.TryReceive().IsEmpty());
  EXPECT_TRUE(rx2.TryReceive().has_value());
  EXPECT_TRUE(tx.IsEmpty());
}
#endif

TEST(Broadcast, TheLastReceiverGetsTheValueAndNoCopy) {
  Counts counts;
  auto [tx, rx1] = Channel<Counted>(2);
  Receiver<Counted> rx2 = tx.Subscribe();
  ASSERT_TRUE(tx.Send(Counted(counts, 1)).ok());
  EXPECT_EQ(counts.live, 1);
  EXPECT_EQ(rx1.TryReceive()->value(), 1);
  EXPECT_EQ(counts.copies, 1);
  EXPECT_EQ(counts.live, 1);
  EXPECT_EQ(rx2.TryReceive()->value(), 1);
  EXPECT_EQ(counts.copies, 1);
  EXPECT_EQ(counts.live, 0);
}

TEST(Broadcast, AValueGoesWhenItIsOverwritten) {
  Counts counts;
  auto [tx, rx] = Channel<Counted>(2);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(tx.Send(Counted(counts, i)).ok());
  EXPECT_EQ(counts.live, 2);
  EXPECT_EQ(rx.TryReceive().lagged(), 3);
  EXPECT_EQ(rx.TryReceive()->value(), 3);
  EXPECT_EQ(counts.live, 1);
}

TEST(Broadcast, AValueThatIsOverwrittenIsNotDestroyedUnderTheLock) {
  struct Uses {
    explicit Uses(const Sender<std::shared_ptr<Uses>>& tx) : tx(tx) {}
    Uses(const Uses&) = delete;
    Uses& operator=(const Uses&) = delete;
    ~Uses() { size_then = tx.receiver_count() + tx.size(); }
    const Sender<std::shared_ptr<Uses>>& tx;
    size_t size_then = 0;
  };
  auto [tx, rx] = Channel<std::shared_ptr<Uses>>(1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(tx.Send(std::make_shared<Uses>(tx)).ok());
  }
  EXPECT_EQ(rx.size(), 3);
  EXPECT_EQ(rx.TryReceive().lagged(), 2);
  EXPECT_TRUE(rx.TryReceive().has_value());
}

TEST(Broadcast, AReceiverThatGoesGivesUpItsShares) {
  Counts counts;
  auto [tx, rx1] = Channel<Counted>(4);
  std::optional<Receiver<Counted>> rx2(tx.Subscribe());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(tx.Send(Counted(counts, i)).ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rx1.TryReceive()->value(), i);
  EXPECT_EQ(counts.live, 3);
  rx2.reset();
  EXPECT_EQ(counts.live, 0);
}

// Tokio #3434: one that has lagged when it goes.
TEST(Broadcast, AReceiverThatHasLaggedMayGo) {
  Counts counts;
  auto [tx, rx1] = Channel<Counted>(2);
  std::optional<Receiver<Counted>> rx2(tx.Subscribe());
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(tx.Send(Counted(counts, i)).ok());
  rx2.reset();
  EXPECT_EQ(counts.live, 2);
  EXPECT_EQ(rx1.TryReceive().lagged(), 7);
  EXPECT_EQ(rx1.TryReceive()->value(), 7);
  EXPECT_EQ(rx1.TryReceive()->value(), 8);
  EXPECT_EQ(counts.live, 0);
}

TEST(Broadcast, NothingIsLeftWhenBothEndsHaveGone) {
  Counts counts;
  {
    auto [tx, rx] = Channel<Counted>(4);
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(tx.Send(Counted(counts, i)).ok());
  }
  EXPECT_EQ(counts.live, 0);
}

TEST(Broadcast, WhoIsAssignedToGivesUpWhatItHad) {
  auto [tx1, rx] = Channel<int>(2);
  auto [tx2, other] = Channel<int>(2);
  rx = std::move(other);
  EXPECT_EQ(tx1.receiver_count(), 0);
  ASSERT_TRUE(tx2.Send(2).ok());
  EXPECT_THAT(Drain(rx), ElementsAre(2));
  tx1 = tx2;
  EXPECT_EQ(tx2.sender_count(), 2);
}

TEST(Broadcast, TheSendersSizeIsThatOfTheSlowestReceiver) {
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

TEST(Broadcast, NoReceiverIsLeft) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<Receiver<int>> receiver(std::move(rx));
  CountingWaker task;
  const Waker waker = task.NewWaker();
  ClosedFuture closed = tx.Closed();
  ASSERT_TRUE(PollOnce(closed, waker).IsPending());
  receiver.reset();
  EXPECT_EQ(task.wakes(), 1);
  // That there is one again changes nothing.
  const Receiver<int> again = tx.Subscribe();
  EXPECT_TRUE(PollOnce(closed, waker).IsReady());
  ClosedFuture next = tx.Closed();
  EXPECT_TRUE(PollOnce(next, waker).IsPending());
}

TEST(Broadcast, AFutureThatHasFinishedKeepsNoWaker) {
  auto [tx, rx] = Channel<int>(2);
  CountingWaker task, other_task;
  ReceiveFuture<int> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive, task.NewWaker()).IsPending());
  EXPECT_EQ(task.live(), 1);
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_TRUE(PollOnce(receive, other_task.NewWaker()).IsReady());
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(other_task.live(), 0);

  ClosedFuture closed = tx.Closed();
  ASSERT_TRUE(PollOnce(closed, task.NewWaker()).IsPending());
  EXPECT_EQ(task.live(), 1);
  {
    const Receiver<int> gone = std::move(rx);
  }
  EXPECT_TRUE(PollOnce(closed, other_task.NewWaker()).IsReady());
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(other_task.live(), 0);
}

TEST(Broadcast, ACancelledWaitForNoReceiverIsNotWoken) {
  auto [tx, rx] = Channel<int>(2);
  std::optional<Receiver<int>> receiver(std::move(rx));
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    ClosedFuture closed = tx.Closed();
    ASSERT_TRUE(PollOnce(closed, waker).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  receiver.reset();
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Broadcast, AWeakSenderKeepsNothingOpen) {
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

TEST(Broadcast, TellsWhetherTwoAreOfTheSameChannel) {
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

TEST(Broadcast, IsReceivedByACoroutine) {
  auto [tx, rx] = Channel<int>(8);
  for (int i = 1; i <= 4; ++i) ASSERT_TRUE(tx.Send(i).ok());
  Co<int> sum = Sum(std::move(rx));
  {
    const Sender<int> gone = std::move(tx);
  }
  EXPECT_EQ(BlockOn(sum), 10);
}

TEST(Broadcast, AThreadWaitsForAValueOfAnother) {
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

// Trap C11 (#7232, RUSTSEC-2025-0023): values are copied by several threads at
// once; only what the last one does excludes the others.
TEST(Broadcast, IsCopiedByManyAtOnceAndMovedByTheLastAlone) {
  class Value {
   public:
    explicit Value(std::atomic<int>* users) : users_(users) {}
    Value(const Value& other) : users_(other.users_) {
      EXPECT_GE(users_->fetch_add(1), 0);
      users_->fetch_sub(1);
    }
    Value(Value&& other) noexcept
        : users_(std::exchange(other.users_, nullptr)) {
      // Nobody copies what is moved.
      EXPECT_NE(users_, nullptr);
    }
    ~Value() = default;

   private:
    std::atomic<int>* users_;
  };
  constexpr int kReceivers = 4;
  constexpr int kValues = 2000;
  std::atomic<int> users{0};
  std::vector<std::thread> threads;
  {
    const Sender<Value> tx(16);
    for (int i = 0; i < kReceivers; ++i) {
      threads.emplace_back([rx = tx.Subscribe()]() mutable {
        while (!rx.BlockingReceive().IsClosed()) {
        }
      });
    }
    for (int i = 0; i < kValues; ++i) {
      const Value value(&users);
      ASSERT_EQ(tx.Send(value).value(), kReceivers);
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rouse::broadcast
