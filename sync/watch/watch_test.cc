// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/watch/watch.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/join.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using watch::Channel;
using watch::Receiver;
using watch::Ref;
using watch::Sender;

static_assert(Future<Receiver<int>::ChangedFuture>);
static_assert(Future<Sender<int>::ClosedFuture>);

template <class T>
// NOLINTNEXTLINE(performance-unnecessary-value-param): goes with the call
void Drop(T end) {
  static_cast<void>(end);
}

// Returns the result of polling a new `Changed()`, or `kUnavailable` if the
// poll is pending.
template <class T>
absl::StatusCode Changed(Receiver<T>& rx) {
  const PollResult<absl::Status> result = PollOnce(rx.Changed());
  return result.IsReady() ? result->code() : absl::StatusCode::kUnavailable;
}

constexpr absl::StatusCode kNotYet = absl::StatusCode::kUnavailable;

TEST(Watch, TheFirstValueCountsAsSeen) {
  auto [tx, rx] = Channel<int>(3);
  EXPECT_EQ(*rx.Borrow(), 3);
  EXPECT_EQ(*tx.Borrow(), 3);
  EXPECT_FALSE(*rx.HasChanged());
  EXPECT_EQ(Changed(rx), kNotYet);
}

TEST(Watch, ASendIsAChange) {
  auto [tx, rx] = Channel<std::string>("one");
  EXPECT_TRUE(tx.Send("two"));
  EXPECT_TRUE(*rx.HasChanged());
  EXPECT_EQ(Changed(rx), absl::StatusCode::kOk);
  EXPECT_FALSE(*rx.HasChanged());
  EXPECT_EQ(*rx.Borrow(), "two");
  EXPECT_EQ(Changed(rx), kNotYet);
}

// The last value before the end comes first, as for `Changed()`.
TEST(Watch, HasChangedTellsOfTheEnd) {
  auto [tx, rx] = Channel<int>(0);
  tx.Send(1);
  Drop(std::move(tx));
  EXPECT_TRUE(*rx.HasChanged());
  EXPECT_EQ(Changed(rx), absl::StatusCode::kOk);
  EXPECT_TRUE(absl::IsCancelled(rx.HasChanged().status()));
  EXPECT_EQ(Changed(rx), absl::StatusCode::kCancelled);
  rx.MarkChanged();
  EXPECT_TRUE(*rx.HasChanged());
}

TEST(Watch, ASenderCanBeMadeWithoutReceivers) {
  Sender<std::string> tx("one");
  EXPECT_EQ(tx.sender_count(), 1u);
  EXPECT_EQ(tx.receiver_count(), 0u);
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_TRUE(PollOnce(tx.Closed()).IsReady());
  EXPECT_FALSE(tx.Send("two")) << "no receiver";
  EXPECT_EQ(tx.SendReplace("two"), "one");
  Receiver<std::string> rx = tx.Subscribe();
  EXPECT_FALSE(tx.IsClosed());
  EXPECT_FALSE(*rx.HasChanged());
  EXPECT_EQ(*rx.Borrow(), "two");
  EXPECT_TRUE(tx.Send("three"));
  EXPECT_TRUE(*rx.HasChanged());
  Drop(std::move(tx));
  EXPECT_EQ(*rx.BorrowAndUpdate(), "three");
  EXPECT_TRUE(rx.IsClosed());
}

TEST(Watch, SendersAreCounted) {
  auto [tx, rx] = Channel<int>(0);
  EXPECT_EQ(tx.sender_count(), 1u);
  {
    const Sender<int> copy = tx;
    EXPECT_EQ(copy.sender_count(), 2u);
    EXPECT_EQ(rx.sender_count(), 2u);
  }
  EXPECT_EQ(rx.sender_count(), 1u);
  Drop(std::move(tx));
  EXPECT_EQ(rx.sender_count(), 0u);
}

TEST(Watch, SameChannel) {
  auto [tx, rx] = Channel<int>(0);
  auto [other_tx, other_rx] = Channel<int>(0);
  const Sender<int> copy = tx;
  const Receiver<int> late = tx.Subscribe();
  EXPECT_TRUE(tx.SameChannel(copy));
  EXPECT_FALSE(tx.SameChannel(other_tx));
  EXPECT_TRUE(rx.SameChannel(late));
  EXPECT_FALSE(rx.SameChannel(other_rx));
}

TEST(Watch, SeveralSendsAreOneChange) {
  auto [tx, rx] = Channel<int>(0);
  for (int i = 1; i <= 3; ++i) tx.Send(i);
  EXPECT_EQ(Changed(rx), absl::StatusCode::kOk);
  EXPECT_EQ(*rx.Borrow(), 3);
  EXPECT_EQ(Changed(rx), kNotYet);
}

TEST(Watch, ASendWakesAllWaiters) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    // More receivers than one in each shard, and more than are woken at once.
    std::vector<Receiver<int>> receivers(300, rx);
    std::vector<Receiver<int>::ChangedFuture> futures;
    for (Receiver<int>& receiver : receivers) {
      futures.push_back(receiver.Changed());
    }
    for (auto& future : futures) {
      EXPECT_TRUE(PollOnce(future, waker).IsPending());
    }
    tx.Send(1);
    EXPECT_EQ(task.wakes(), 300);
    for (auto& future : futures) {
      EXPECT_EQ(*PollOnce(future, waker), absl::OkStatus());
    }
  }
}

// Trap C12.
TEST(Watch, AChangeBeforeThePollIsReported) {
  auto [tx, rx] = Channel<int>(0);
  auto changed = rx.Changed();
  tx.Send(1);
  EXPECT_EQ(*PollOnce(changed), absl::OkStatus());
}

TEST(Watch, WakesTheWakerOfTheLastPoll) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker first;
  CountingWaker second;
  {
    auto changed = rx.Changed();
    for (CountingWaker* task : {&first, &second, &second}) {
      EXPECT_TRUE(PollOnce(changed, task->NewWaker()).IsPending());
    }
    EXPECT_EQ(second.clones(), 1);
    EXPECT_EQ(first.live(), 0);
    tx.Send(1);
  }
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(Watch, ACancelledChangedLosesNoChange) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker task;
  {
    auto changed = rx.Changed();
    EXPECT_TRUE(PollOnce(changed, task.NewWaker()).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  {
    auto changed = rx.Changed();
    EXPECT_TRUE(PollOnce(changed, task.NewWaker()).IsPending());
    tx.Send(1);  // notified, and then abandoned
  }
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Changed(rx), absl::StatusCode::kOk);
}

TEST(Watch, ACancelledChangedWithTheNoopWakerLeavesTheList) {
  auto [tx, rx] = Channel<int>(0);
  {
    auto changed = rx.Changed();
    EXPECT_TRUE(PollOnce(changed).IsPending());
  }
  EXPECT_TRUE(tx.Send(1));
}

// Between the notification and the poll, the receiver marks the change as seen.
TEST(Watch, AWaitNotifiedForNothingWaitsAgain) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    auto changed = rx.Changed();
    EXPECT_TRUE(PollOnce(changed, waker).IsPending());
    tx.Send(1);
    rx.MarkUnchanged();
    EXPECT_TRUE(PollOnce(changed, waker).IsPending());
    tx.Send(2);
    EXPECT_EQ(task.wakes(), 2);
    EXPECT_EQ(*PollOnce(changed, waker), absl::OkStatus());
  }
}

// The future leaves the list when it is destroyed, whichever waker it has
// waited with.
TEST(Watch, ADestroyedWaitThatWaitedAgainLeavesTheList) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker first;
  CountingWaker second;
  {
    auto changed = std::make_unique<Receiver<int>::ChangedFuture>(rx.Changed());
    EXPECT_TRUE(PollOnce(*changed, first.NewWaker()).IsPending());
    tx.Send(1);
    EXPECT_EQ(*rx.BorrowAndUpdate(), 1);
    EXPECT_TRUE(PollOnce(*changed, second.NewWaker()).IsPending());
  }
  tx.Send(2);
  EXPECT_EQ(second.wakes(), 0);
  // The no-op waker does not count as registered.
  EXPECT_EQ(*rx.BorrowAndUpdate(), 2);
  {
    auto changed = std::make_unique<Receiver<int>::ChangedFuture>(rx.Changed());
    EXPECT_TRUE(PollOnce(*changed, Waker()).IsPending());
    tx.Send(3);
    EXPECT_EQ(*rx.BorrowAndUpdate(), 3);
    EXPECT_TRUE(PollOnce(*changed, Waker()).IsPending());
  }
  tx.Send(4);
  EXPECT_EQ(*rx.BorrowAndUpdate(), 4);
}

TEST(Watch, DestroyingTheLastSenderWakes) {
  auto [tx, rx] = Channel<int>(0);
  Sender<int> other = tx;
  CountingWaker task;
  auto changed = rx.Changed();
  EXPECT_TRUE(PollOnce(changed, task.NewWaker()).IsPending());
  Drop(std::move(tx));
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_FALSE(rx.IsClosed());
  Drop(std::move(other));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(rx.IsClosed());
  EXPECT_EQ(PollOnce(changed)->code(), absl::StatusCode::kCancelled);
}

// Trap C12: the last value comes before the end.
TEST(Watch, TheLastValueIsSeenBeforeTheEnd) {
  auto [tx, rx] = Channel<int>(0);
  tx.Send(1);
  Drop(std::move(tx));
  EXPECT_EQ(Changed(rx), absl::StatusCode::kOk);
  EXPECT_EQ(Changed(rx), absl::StatusCode::kCancelled);
  EXPECT_EQ(*rx.Borrow(), 1);
}

TEST(Watch, OnlyBorrowAndUpdateMarksAChangeAsSeen) {
  auto [tx, rx] = Channel<int>(0);
  tx.Send(1);
  EXPECT_TRUE(rx.Borrow().HasChanged());
  EXPECT_TRUE(*rx.HasChanged());
  EXPECT_TRUE(rx.BorrowAndUpdate().HasChanged());
  EXPECT_FALSE(*rx.HasChanged());
  EXPECT_FALSE(rx.BorrowAndUpdate().HasChanged());
}

TEST(Watch, SeveralRefsCanLiveAtOnce) {
  auto [tx, rx] = Channel<int>(4);
  {
    std::optional<Ref<int>> first = rx.Borrow();
    const Ref<int> second = tx.Borrow();
    Ref<int> moved = std::move(*first);
    first.reset();
    EXPECT_EQ(*moved + *second, 8);
    moved = rx.Borrow();
    EXPECT_EQ(*moved, 4);
  }
  EXPECT_TRUE(tx.Send(5));
}

TEST(Watch, MarkChangedAndMarkUnchanged) {
  auto [tx, rx] = Channel<int>(0);
  rx.MarkChanged();
  EXPECT_TRUE(*rx.HasChanged());
  EXPECT_EQ(Changed(rx), absl::StatusCode::kOk);
  tx.Send(1);
  rx.MarkUnchanged();
  EXPECT_FALSE(*rx.HasChanged());
  EXPECT_EQ(Changed(rx), kNotYet);
}

TEST(Watch, ACopyHasSeenTheSameVersion) {
  auto [tx, rx] = Channel<int>(0);
  tx.Send(1);
  Receiver<int> copy = rx;
  EXPECT_EQ(Changed(rx), absl::StatusCode::kOk);
  EXPECT_EQ(Changed(copy), absl::StatusCode::kOk);
  EXPECT_EQ(tx.receiver_count(), 2u);
  rx = copy;
  EXPECT_EQ(tx.receiver_count(), 2u);
}

TEST(Watch, ANewSubscriberHasSeenTheLatestValue) {
  auto [tx, rx] = Channel<int>(0);
  tx.Send(1);
  Receiver<int> late = tx.Subscribe();
  EXPECT_FALSE(*late.HasChanged());
  EXPECT_EQ(*late.Borrow(), 1);
  tx.Send(2);
  EXPECT_TRUE(*late.HasChanged());
}

TEST(Watch, AFailedSendLeavesItsArgument) {
  auto [tx, rx] = Channel<std::string>("one");
  Drop(std::move(rx));
  std::string value(100, 'x');
  EXPECT_FALSE(tx.Send(std::move(value)));
  // NOLINTNEXTLINE(bugprone-use-after-move): it is what it was
  EXPECT_EQ(value, std::string(100, 'x'));
  EXPECT_EQ(*tx.Borrow(), "one");
}

TEST(Watch, SendReplaceNeedsNoReceiver) {
  auto [tx, rx] = Channel<std::unique_ptr<int>>(std::make_unique<int>(1));
  Drop(std::move(rx));
  EXPECT_EQ(*tx.SendReplace(std::make_unique<int>(2)), 1);
  EXPECT_EQ(**tx.Borrow(), 2);
  EXPECT_EQ(**tx.Subscribe().Borrow(), 2);
}

// A memory resource that accepts only its own blocks back.
class OwnMemory final : public std::pmr::memory_resource {
 public:
  OwnMemory() = default;
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory() override { EXPECT_TRUE(blocks_.empty()); }

 private:
  void* do_allocate(size_t size, size_t alignment) override {
    void* const block = heap_.allocate(size, alignment);
    blocks_.insert(block);
    return block;
  }
  void do_deallocate(void* block, size_t size, size_t alignment) override {
    EXPECT_EQ(blocks_.erase(block), 1u) << "of another memory";
    heap_.deallocate(block, size, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  memory_resource& heap_ = *std::pmr::new_delete_resource();
  std::set<void*> blocks_;
};

TEST(Watch, AValueCanHaveItsOwnAllocator) {
  using Vector = std::pmr::vector<int>;
  OwnMemory first, second;
  auto [tx, rx] = Channel<Vector>(Vector({1}, &first));
  EXPECT_EQ(tx.SendReplace(Vector({2, 3}, &second)), (Vector{1}));
  EXPECT_EQ(*rx.Borrow(), (Vector{2, 3}));
  EXPECT_TRUE(tx.Send(Vector({4}, &second)));
  EXPECT_EQ(*rx.Borrow(), (Vector{4}));
}

TEST(Watch, SendModifyChangesInPlace) {
  auto [tx, rx] = Channel<std::vector<int>>({1});
  tx.SendModify([](std::vector<int>& v) { v.push_back(2); });
  EXPECT_EQ(Changed(rx), absl::StatusCode::kOk);
  EXPECT_EQ(rx.Borrow()->size(), 2u);
}

TEST(Watch, SendIfModifiedNotifiesOnlyOfAChange) {
  auto [tx, rx] = Channel<int>(1);
  EXPECT_FALSE(tx.SendIfModified([](int&) { return false; }));
  EXPECT_FALSE(*rx.HasChanged());
  EXPECT_TRUE(tx.SendIfModified([](int& v) { return ++v == 2; }));
  EXPECT_TRUE(*rx.HasChanged());
}

TEST(Watch, WaitForChecksTheFirstValue) {
  auto [tx, rx] = Channel<int>(1);
  auto is_one = [](int v) { return v == 1; };
  auto future = rx.WaitFor(is_one);
  PollResult<absl::StatusOr<Ref<int>>> result = PollOnce(future);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(***result, 1);
}

TEST(Watch, WaitForReturnsTheMatchingValue) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    int calls = 0;
    auto is_even = [&calls](int v) {
      ++calls;
      return v > 0 && v % 2 == 0;
    };
    auto future = rx.WaitFor(is_even);
    EXPECT_TRUE(PollOnce(future, waker).IsPending());
    tx.Send(1);
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_TRUE(PollOnce(future, waker).IsPending());
    EXPECT_TRUE(PollOnce(future, waker).IsPending());
    EXPECT_EQ(calls, 2) << "once for each value";
    tx.Send(2);
    EXPECT_EQ(task.wakes(), 2);
    PollResult<absl::StatusOr<Ref<int>>> result = PollOnce(future, waker);
    ASSERT_TRUE(result.IsReady());
    EXPECT_EQ(***result, 2);
  }
  EXPECT_FALSE(*rx.HasChanged());
}

TEST(Watch, WaitForEndsWhenTheSendersAreDestroyed) {
  auto [tx, rx] = Channel<int>(0);
  auto is_two = [](int v) { return v == 2; };
  {
    auto future = rx.WaitFor(is_two);
    EXPECT_TRUE(PollOnce(future).IsPending());
    tx.Send(1);
    Drop(std::move(tx));
    EXPECT_EQ(PollOnce(future)->status().code(), absl::StatusCode::kCancelled);
  }
  // Trap C12: the last value counts even though the senders are destroyed.
  auto is_one = [](int v) { return v == 1; };
  EXPECT_TRUE(PollOnce(rx.WaitFor(is_one))->ok());
}

TEST(Watch, TwoWaitsForValuesCanBeJoined) {
  auto [tx, rx] = Channel<int>(0);
  Receiver<int> other = rx;
  auto is_one = [](int v) { return v == 1; };
  auto is_two = [](int v) { return v == 2; };
  auto both = Join(rx.WaitForValue(is_one), other.WaitForValue(is_two));
  EXPECT_TRUE(PollOnce(both).IsPending());
  tx.Send(1);
  EXPECT_TRUE(PollOnce(both).IsPending());
  tx.Send(2);  // the first wait has its value, and blocks no sender
  auto result = PollOnce(both);
  ASSERT_TRUE(result.IsReady());
  const auto& [one, two] = *result;
  EXPECT_EQ(*one, 1);
  EXPECT_EQ(*two, 2);
}

TEST(Watch, WaitForValueEndsWhenTheSendersAreDestroyed) {
  auto [tx, rx] = Channel<absl::Status>(absl::OkStatus());
  auto failed = [](const absl::Status& s) { return !s.ok(); };
  auto future = rx.WaitForValue(failed);
  EXPECT_TRUE(PollOnce(future).IsPending());
  Drop(std::move(tx));
  EXPECT_EQ(PollOnce(future)->status().code(), absl::StatusCode::kCancelled);
}

// Called by another part of the task that waits.
TEST(Watch, MarkChangedNotifiesTheWaiter) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker task;
  {
    auto changed = rx.Changed();
    EXPECT_TRUE(PollOnce(changed, task.NewWaker()).IsPending());
    rx.MarkUnchanged();
    EXPECT_EQ(task.wakes(), 0);
    rx.MarkChanged();
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_EQ(*PollOnce(changed, task.NewWaker()), absl::OkStatus());
  }
  EXPECT_EQ(task.live(), 0);
}

TEST(Watch, ClosedIsReadyWhenTheLastReceiverIsDestroyed) {
  auto [tx, rx] = Channel<int>(0);
  Receiver<int> other = rx;
  CountingWaker task;
  auto closed = tx.Closed();
  EXPECT_TRUE(PollOnce(closed, task.NewWaker()).IsPending());
  Drop(std::move(rx));
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_FALSE(tx.IsClosed());
  Drop(std::move(other));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(tx.IsClosed());
  EXPECT_TRUE(PollOnce(closed).IsReady());
}

TEST(Watch, ClosedWaitsAgainForANewReceiver) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    auto closed = tx.Closed();
    EXPECT_TRUE(PollOnce(closed, waker).IsPending());
    Drop(std::move(rx));
    std::optional<Receiver<int>> again = tx.Subscribe();
    EXPECT_TRUE(PollOnce(closed, waker).IsPending());
    again.reset();
    EXPECT_EQ(task.wakes(), 2);
    EXPECT_TRUE(PollOnce(closed, waker).IsReady());
  }
}

TEST(Watch, ACancelledClosedIsNotWoken) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker task;
  {
    auto closed = tx.Closed();
    EXPECT_TRUE(PollOnce(closed, task.NewWaker()).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  Drop(std::move(rx));
  EXPECT_EQ(task.wakes(), 0);
}

TEST(Watch, EachFutureTakesAUnitOfTheBudget) {
  auto [tx, rx] = Channel<int>(0);
  const Waker waker;
  {
    Context cx(waker);
    uint32_t ready = 0;
    for (;; ++ready) {
      rx.MarkChanged();
      if (rx.Changed().Poll(cx).IsPending()) break;
    }
    EXPECT_EQ(ready, kBudgetPerPoll);
  }
  {
    Context cx(waker);
    auto any = [](int) { return true; };
    uint32_t ready = 0;
    while (rx.WaitFor(any).Poll(cx).IsReady()) ++ready;
    EXPECT_EQ(ready, kBudgetPerPoll);
  }
  Drop(std::move(rx));
  Context cx(waker);
  uint32_t ready = 0;
  while (tx.Closed().Poll(cx).IsReady()) ++ready;
  EXPECT_EQ(ready, kBudgetPerPoll);
}

TEST(Watch, PollingACompleteFuturePanics) {
  auto [tx, rx] = Channel<int>(0);
  tx.Send(1);
  auto changed = rx.Changed();
  EXPECT_TRUE(PollOnce(changed).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(changed)),
               "watch::Receiver::Changed was polled");
}

TEST(Watch, APredicateCanOwnTheReceiver) {
  auto [tx, rx] = Channel<int>(0);
  auto receiver = std::make_shared<watch::Receiver<int>>(std::move(rx));
  watch::Receiver<int>& borrowed = *receiver;
  auto owns = [receiver = std::move(receiver)](int v) { return v == 1; };
  {
    auto future = borrowed.WaitFor(std::move(owns));
    EXPECT_TRUE(PollOnce(future).IsPending());
  }
  EXPECT_TRUE(tx.IsClosed());
}

TEST(Watch, MovingAPolledFuturePanics) {
  auto [tx, rx] = Channel<int>(0);
  auto changed = rx.Changed();
  EXPECT_TRUE(PollOnce(changed).IsPending());
  EXPECT_PANIC(auto moved = std::move(changed),
               "watch::Receiver::Changed was moved");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Watch, APolledFutureKeepsItsPredicate) {
  auto [tx, rx] = Channel<int>(0);
  auto future = rx.WaitFor([values = std::vector<int>{2}](int v) {
    return !values.empty() && v == values[0];
  });
  EXPECT_TRUE(PollOnce(future).IsPending());
  EXPECT_PANIC(auto moved = std::move(future),
               "watch::Receiver::WaitFor was moved");
  tx.Send(2);
  EXPECT_TRUE(PollOnce(future).IsReady());  // NOLINT(bugprone-use-after-move)
}

// A type whose assignment throws.
class Unassignable {
 public:
  Unassignable() = default;
  Unassignable(Unassignable&&) = default;
  Unassignable& operator=(Unassignable&&) noexcept(false) {
    throw std::runtime_error("no");
  }
};

TEST(Watch, AThrowingAssignmentNotifiesNoWaiter) {
  auto [tx, rx] = Channel<Unassignable>(Unassignable());
  EXPECT_THROW(tx.Send(Unassignable()), std::runtime_error);
  EXPECT_FALSE(*rx.HasChanged());
  EXPECT_THROW(tx.Send(Unassignable()), std::runtime_error) << "no lock held";
}

TEST(Watch, AThrowingModificationNotifiesNoWaiter) {
  auto [tx, rx] = Channel<int>(0);
  EXPECT_THROW(tx.SendModify([](int&) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_FALSE(*rx.HasChanged());
  EXPECT_TRUE(tx.Send(1));
}

TEST(Watch, AThrowingPredicateReleasesTheLock) {
  auto [tx, rx] = Channel<int>(0);
  auto bad = [](int) -> bool { throw std::runtime_error("no"); };
  EXPECT_THROW(static_cast<void>(PollOnce(rx.WaitFor(bad))),
               std::runtime_error);
  EXPECT_TRUE(tx.Send(1));
}

TEST(Watch, AThrowingWakerDoesNotStopTheOthers) {
  auto [tx, rx] = Channel<int>(0);
  CountingWaker bad;
  CountingWaker good;
  bad.OnWake([] { throw std::runtime_error("no"); });
  std::vector<Receiver<int>> receivers(20, rx);
  std::vector<Receiver<int>::ChangedFuture> futures;
  for (Receiver<int>& receiver : receivers) {
    futures.push_back(receiver.Changed());
  }
  for (size_t i = 0; i < futures.size(); ++i) {
    const Waker waker = (i == 0 ? bad : good).NewWaker();
    EXPECT_TRUE(PollOnce(futures[i], waker).IsPending());
  }
  EXPECT_THROW(tx.Send(1), std::runtime_error);
  EXPECT_EQ(good.wakes(), 19);
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(Watch, ACoroutineSeesTheLastValue) {
  auto [tx, rx] = Channel<int>(0);
  auto watch = [](Receiver<int> rx) -> Co<int> {
    int last = 0;
    for (;;) {
      const absl::Status changed = co_await rx.Changed();
      if (!changed.ok()) co_return last;
      last = *rx.BorrowAndUpdate();
    }
  };
  std::thread sending([tx = std::move(tx)]() mutable {
    const Sender<int> last = std::move(tx);
    for (int i = 1; i <= 100; ++i) last.Send(i);
  });
  EXPECT_EQ(BlockOn(watch(rx)), 100);
  sending.join();
}

}  // namespace
}  // namespace rouse
