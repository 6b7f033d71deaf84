// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/semaphore/semaphore.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/future.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using Permit = Semaphore::Permit;

static_assert(Future<Semaphore::AcquireFuture>);
static_assert(Future<Semaphore::AcquireOwnedFuture>);
static_assert(!std::is_copy_constructible_v<Permit>);
static_assert(!std::is_aggregate_v<Semaphore::AcquireFuture>);

// Returns the permits of a future that is ready.
template <class F>
auto Take(F&& future) {
  auto result = PollOnce(future);
  EXPECT_TRUE(result.IsReady());
  EXPECT_TRUE(result->ok());
  return **std::move(result);
}

TEST(Semaphore, GivesAsManyPermitsAsItHas) {
  Semaphore semaphore(2);
  std::optional<Permit> first = semaphore.TryAcquire();
  const std::optional<Permit> second = semaphore.TryAcquire();
  EXPECT_TRUE(first.has_value());
  EXPECT_TRUE(second.has_value());
  EXPECT_EQ(semaphore.available_permits(), 0u);
  EXPECT_FALSE(semaphore.TryAcquire().has_value());
  first.reset();
  EXPECT_EQ(semaphore.available_permits(), 1u);
  EXPECT_TRUE(semaphore.TryAcquire().has_value());
}

TEST(Semaphore, AcquireIsReadyIfPermitsAreFree) {
  Semaphore semaphore(3);
  const Permit permit = Take(semaphore.Acquire(3));
  EXPECT_EQ(permit.num_permits(), 3u);
  EXPECT_EQ(semaphore.available_permits(), 0u);
}

TEST(Semaphore, AReturnedPermitWakesAWaiter) {
  Semaphore semaphore(1);
  CountingWaker task;
  {
    std::optional<Permit> permit = semaphore.TryAcquire();
    auto acquire = semaphore.Acquire();
    EXPECT_TRUE(PollOnce(acquire, task.NewWaker()).IsPending());
    permit.reset();
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_EQ(semaphore.available_permits(), 0u) << "it is assigned";
    const Permit taken = Take(acquire);
  }
  EXPECT_EQ(semaphore.available_permits(), 1u);
}

TEST(Semaphore, ServesWaitersInOrder) {
  Semaphore semaphore(0);
  auto first = semaphore.Acquire();
  auto second = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  semaphore.AddPermits(1);
  EXPECT_TRUE(PollOnce(second).IsPending());
  Take(first).Forget();
  semaphore.AddPermits(1);
  Take(second).Forget();
}

TEST(Semaphore, ALargeRequestIsNotOvertaken) {
  Semaphore semaphore(2);
  CountingWaker large_task;
  auto large = semaphore.Acquire(4);
  EXPECT_TRUE(PollOnce(large, large_task.NewWaker()).IsPending());
  auto small = semaphore.Acquire(1);
  EXPECT_TRUE(PollOnce(small).IsPending());
  EXPECT_FALSE(semaphore.TryAcquire().has_value());
  semaphore.AddPermits(1);
  EXPECT_TRUE(PollOnce(small).IsPending());
  EXPECT_EQ(large_task.wakes(), 0);
  semaphore.AddPermits(1);
  EXPECT_EQ(large_task.wakes(), 1);
  EXPECT_EQ(Take(large).num_permits(), 4u);  // and the permits go back
  EXPECT_EQ(Take(small).num_permits(), 1u);
  EXPECT_EQ(semaphore.available_permits(), 4u);
}

TEST(Semaphore, OneReleaseServesSeveralWaitersAndLeavesTheRest) {
  Semaphore semaphore(0);
  CountingWaker task;
  {
    auto first = semaphore.Acquire(2);
    auto second = semaphore.Acquire(1);
    EXPECT_TRUE(PollOnce(first, task.NewWaker()).IsPending());
    EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
    semaphore.AddPermits(5);
    EXPECT_EQ(task.wakes(), 2);
    EXPECT_EQ(semaphore.available_permits(), 2u);
    Take(first).Forget();
    Take(second).Forget();
  }
  EXPECT_EQ(semaphore.available_permits(), 2u);
}

TEST(Semaphore, OneReleaseServesMoreThanABatch) {
  Semaphore semaphore(0);
  CountingWaker task;
  {
    std::vector<Semaphore::AcquireFuture> acquires;
    for (int i = 0; i < 70; ++i) acquires.push_back(semaphore.Acquire());
    for (auto& acquire : acquires) {
      EXPECT_TRUE(PollOnce(acquire, task.NewWaker()).IsPending());
    }
    semaphore.AddPermits(71);
    EXPECT_EQ(task.wakes(), 70);
    for (auto& acquire : acquires) Take(acquire).Forget();
  }
  EXPECT_EQ(semaphore.available_permits(), 1u);
}

TEST(Semaphore, AnAcquireOfZeroPermitsIsReadyAtOnce) {
  Semaphore semaphore(0);
  auto waiting = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(waiting).IsPending());
  EXPECT_EQ(Take(semaphore.Acquire(0)).num_permits(), 0u);
}

// Trap C8 (tokio #1902): the permits of a waiter that gives up are passed on.
TEST(Semaphore, ACancelledWaiterPassesItsPermitsOn) {
  Semaphore semaphore(2);
  CountingWaker task;
  {
    std::optional large(semaphore.Acquire(3));
    auto next = semaphore.Acquire(2);
    EXPECT_TRUE(PollOnce(*large).IsPending());
    EXPECT_TRUE(PollOnce(next, task.NewWaker()).IsPending());
    large.reset();
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_EQ(Take(next).num_permits(), 2u);
  }
  EXPECT_EQ(semaphore.available_permits(), 2u);
}

TEST(Semaphore, ACancelledNotifiedWaiterPassesItsPermitsOn) {
  Semaphore semaphore(0);
  CountingWaker task;
  std::optional first(semaphore.Acquire());
  auto second = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(*first).IsPending());
  EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
  semaphore.AddPermits(1);
  EXPECT_EQ(task.wakes(), 0);
  first.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Take(second).num_permits(), 1u);
}

TEST(Semaphore, ACancelledLastWaiterLeavesPermitsFree) {
  Semaphore semaphore(1);
  CountingWaker task;
  {
    auto acquire = semaphore.Acquire(2);
    EXPECT_TRUE(PollOnce(acquire, task.NewWaker()).IsPending());
    EXPECT_EQ(semaphore.available_permits(), 0u);
  }
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(semaphore.available_permits(), 1u);
  EXPECT_TRUE(semaphore.TryAcquire().has_value());
}

TEST(Semaphore, ACancelledWaiterInTheMiddleLosesNoPermit) {
  Semaphore semaphore(0);
  auto first = semaphore.Acquire();
  std::optional middle(semaphore.Acquire());
  auto last = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(*middle).IsPending());
  EXPECT_TRUE(PollOnce(last).IsPending());
  middle.reset();
  semaphore.AddPermits(2);
  Take(first).Forget();
  Take(last).Forget();
}

TEST(Semaphore, ClosingEndsAllWaits) {
  Semaphore semaphore(1);
  CountingWaker task;
  {
    auto large = semaphore.Acquire(2);
    auto small = semaphore.Acquire();
    EXPECT_TRUE(PollOnce(large, task.NewWaker()).IsPending());
    EXPECT_TRUE(PollOnce(small, task.NewWaker()).IsPending());
    EXPECT_FALSE(semaphore.IsClosed());
    semaphore.Close();
    EXPECT_TRUE(semaphore.IsClosed());
    EXPECT_EQ(task.wakes(), 2);
    EXPECT_EQ(PollOnce(large)->status().code(),
              absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(PollOnce(small)->status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(semaphore.available_permits(), 1u) << "of the large one";
}

TEST(Semaphore, ClosingEndsMoreWaitsThanABatch) {
  Semaphore semaphore(0);
  CountingWaker task;
  {
    std::vector<Semaphore::AcquireFuture> acquires;
    for (int i = 0; i < 70; ++i) acquires.push_back(semaphore.Acquire());
    for (auto& acquire : acquires) {
      EXPECT_TRUE(PollOnce(acquire, task.NewWaker()).IsPending());
    }
    // One of these gives up while others are woken.
    task.OnWake([&] {
      if (acquires.size() == 70) acquires.pop_back();
    });
    semaphore.Close();
    EXPECT_EQ(task.wakes(), 69);
    for (auto& acquire : acquires) {
      EXPECT_FALSE(PollOnce(acquire)->ok());
    }
  }
}

TEST(Semaphore, AClosedSemaphoreGivesNoPermit) {
  Semaphore semaphore(3);
  semaphore.Close();
  semaphore.Close();
  EXPECT_FALSE(semaphore.TryAcquire().has_value());
  EXPECT_FALSE(PollOnce(semaphore.Acquire())->ok());
  EXPECT_FALSE(PollOnce(semaphore.Acquire(0))->ok());
  EXPECT_FALSE(semaphore.BlockingAcquire().ok());
}

TEST(Semaphore, ABlockingOwnedAcquireKeepsTheSemaphore) {
  auto semaphore = std::make_shared<Semaphore>(1);
  const std::weak_ptr<Semaphore> weak = semaphore;
  std::optional<Permit> first = semaphore->TryAcquire();
  std::optional<absl::StatusOr<Semaphore::OwnedPermit>> permit;
  std::thread other([&permit, semaphore] {
    permit.emplace(Semaphore::BlockingAcquireOwned(semaphore));
  });
  first.reset();
  other.join();
  semaphore.reset();
  ASSERT_TRUE((*permit).ok());
  EXPECT_EQ((*permit)->semaphore(), weak.lock());
  EXPECT_EQ(weak.lock()->available_permits(), 0u);
  permit.reset();
  EXPECT_TRUE(weak.expired());

  auto closed = std::make_shared<Semaphore>(1);
  closed->Close();
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Semaphore::BlockingAcquireOwned(closed).status()));
}

TEST(Semaphore, PermitsReturnToAClosedSemaphore) {
  Semaphore semaphore(2);
  std::optional<Permit> permit = semaphore.TryAcquire();
  semaphore.Close();
  permit.reset();
  EXPECT_EQ(semaphore.available_permits(), 2u);
  EXPECT_TRUE(semaphore.IsClosed());
  EXPECT_EQ(semaphore.ForgetPermits(1), 1u);
  EXPECT_TRUE(semaphore.IsClosed());
}

TEST(Semaphore, PermitsAssignedBeforeTheCloseAreAcquired) {
  Semaphore semaphore(0);
  auto acquire = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(acquire).IsPending());
  semaphore.AddPermits(1);
  semaphore.Close();
  EXPECT_EQ(Take(acquire).num_permits(), 1u);
}

TEST(Semaphore, ForgetsOnlyFreePermits) {
  Semaphore semaphore(3);
  const std::optional<Permit> permit = semaphore.TryAcquire();
  EXPECT_EQ(semaphore.ForgetPermits(1), 1u);
  EXPECT_EQ(semaphore.ForgetPermits(5), 1u);
  EXPECT_EQ(semaphore.ForgetPermits(1), 0u);
  EXPECT_EQ(semaphore.available_permits(), 0u);
}

TEST(Semaphore, APermitCanBeSplitAndMerged) {
  Semaphore semaphore(5);
  {
    std::optional<Permit> permit = semaphore.TryAcquire(4);
    std::optional<Permit> part = permit->Split(3);
    EXPECT_EQ(permit->num_permits(), 1u);
    EXPECT_EQ(part->num_permits(), 3u);
    EXPECT_FALSE(permit->Split(2).has_value());
    part->Merge(*std::move(permit));
    EXPECT_EQ(part->num_permits(), 4u);
    EXPECT_EQ(semaphore.available_permits(), 1u);
  }
  EXPECT_EQ(semaphore.available_permits(), 5u);
}

TEST(Semaphore, AForgottenPermitDoesNotReturn) {
  Semaphore semaphore(2);
  semaphore.TryAcquire(2)->Forget();
  EXPECT_EQ(semaphore.available_permits(), 0u);
  semaphore.AddPermits(1);
  EXPECT_EQ(semaphore.available_permits(), 1u);
}

TEST(Semaphore, AssignmentReturnsTheOldPermit) {
  Semaphore semaphore(1);
  Semaphore other(1);
  std::optional<Permit> permit = semaphore.TryAcquire();
  std::optional<Permit> another = other.TryAcquire();
  *permit = *std::move(another);
  EXPECT_EQ(semaphore.available_permits(), 1u);
  EXPECT_EQ(other.available_permits(), 0u);
  permit.reset();
  EXPECT_EQ(other.available_permits(), 1u);
}

TEST(Semaphore, AnOwnedPermitKeepsItsSemaphore) {
  auto semaphore = std::make_shared<Semaphore>(3);
  const std::weak_ptr<Semaphore> weak = semaphore;
  {
    Semaphore::OwnedPermit permit = Take(Semaphore::AcquireOwned(semaphore, 2));
    std::optional<Semaphore::OwnedPermit> other =
        Semaphore::TryAcquireOwned(std::move(semaphore));
    EXPECT_EQ(weak.lock()->available_permits(), 0u);
    EXPECT_FALSE(Semaphore::TryAcquireOwned(weak.lock()).has_value());
    std::optional<Semaphore::OwnedPermit> part = permit.Split(1);
    part->Merge(*std::move(other));
    EXPECT_EQ(part->num_permits(), 2u);
    permit = *std::move(part);
    EXPECT_EQ(weak.lock()->available_permits(), 1u);
    EXPECT_EQ(permit.semaphore(), weak.lock());
  }
  EXPECT_TRUE(weak.expired());
}

TEST(Semaphore, AnEmptyOwnedPermitAdoptsTheMergedSemaphore) {
  const auto before = std::make_shared<Semaphore>(1);
  auto semaphore = std::make_shared<Semaphore>(2);
  const std::weak_ptr<Semaphore> weak = semaphore;
  {
    Semaphore::OwnedPermit empty = Take(Semaphore::AcquireOwned(before));
    empty.Forget();
    std::optional<Semaphore::OwnedPermit> moved_from(
        Take(Semaphore::AcquireOwned(semaphore)));
    {
      Semaphore::OwnedPermit permit = *std::move(moved_from);
      // NOLINTNEXTLINE(bugprone-use-after-move): it has none.
      moved_from->Merge(std::move(permit));
    }
    EXPECT_EQ(moved_from->semaphore(), semaphore);
    empty.Merge(*Semaphore::TryAcquireOwned(std::move(semaphore)));
    EXPECT_EQ(empty.num_permits(), 1u);
    EXPECT_EQ(empty.semaphore(), weak.lock());
    EXPECT_EQ(before.use_count(), 1);
    moved_from.reset();
    EXPECT_EQ(weak.lock()->available_permits(), 1u);
  }
  EXPECT_TRUE(weak.expired());
}

TEST(Semaphore, AnOwnedFutureKeepsItsSemaphore) {
  auto semaphore = std::make_shared<Semaphore>(0);
  auto acquire = Semaphore::AcquireOwned(semaphore);
  auto moved = std::move(acquire);
  EXPECT_TRUE(PollOnce(moved).IsPending());
  const std::weak_ptr<Semaphore> weak = semaphore;
  semaphore.reset();
  weak.lock()->Close();
  EXPECT_FALSE(PollOnce(moved)->ok());
}

TEST(Semaphore, AFutureCanBeMovedBeforeItIsPolled) {
  Semaphore semaphore(1);
  auto acquire = semaphore.Acquire();
  auto moved = std::move(acquire);
  EXPECT_EQ(Take(moved).num_permits(), 1u);
}

TEST(Semaphore, TheWakerOfTheLastPollIsWoken) {
  Semaphore semaphore(0);
  CountingWaker before, after;
  auto acquire = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(acquire, before.NewWaker()).IsPending());
  {
    const Waker waker = after.NewWaker();
    EXPECT_TRUE(PollOnce(acquire, waker).IsPending());
    EXPECT_TRUE(PollOnce(acquire, waker).IsPending());
  }
  EXPECT_EQ(after.clones(), 1);
  semaphore.AddPermits(1);
  EXPECT_EQ(before.wakes(), 0);
  EXPECT_EQ(before.live(), 0);
  EXPECT_EQ(after.wakes(), 1);
}

// Trap C8 (tokio #5475): no code of a waker runs under the lock.
TEST(Semaphore, WakersCanUseTheSemaphore) {
  Semaphore semaphore(0);
  CountingWaker task, other;
  const auto use = [&semaphore] {
    auto acquire = semaphore.Acquire();
    EXPECT_TRUE(PollOnce(acquire).IsPending());
  };
  task.OnClone(use);
  task.OnDrop(use);
  task.OnWake(use);
  std::optional acquire(semaphore.Acquire());
  EXPECT_TRUE(PollOnce(*acquire, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(*acquire, other.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(*acquire, task.NewWaker()).IsPending());
  acquire.reset();
  acquire.emplace(semaphore.Acquire());
  EXPECT_TRUE(PollOnce(*acquire, task.NewWaker()).IsPending());
  semaphore.AddPermits(1);
  EXPECT_EQ(task.wakes(), 1);
}

// Polls with no budget left.
template <class F>
auto PollWithoutBudget(F&& future) {
  const Waker waker;
  Context cx(waker);
  while (cx.HasBudget()) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    unit->MadeProgress();
  }
  return future.Poll(cx);
}

TEST(Semaphore, TakesAUnitOfTheBudget) {
  Semaphore semaphore(0);
  const Waker waker;
  Context cx(waker);
  auto acquire = semaphore.Acquire();
  for (uint32_t i = 0; i < 2 * kBudgetPerPoll; ++i) {
    EXPECT_TRUE(acquire.Poll(cx).IsPending());
  }
  EXPECT_TRUE(cx.HasBudget());
  semaphore.AddPermits(1);
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(semaphore.Acquire(0).Poll(cx).IsReady());
  }
  EXPECT_FALSE(cx.HasBudget());
  EXPECT_TRUE(acquire.Poll(cx).IsPending());
}

// Trap C10 (tokio #8365).
TEST(Semaphore, AnExhaustedBudgetCostsNoWaiterItsTurn) {
  Semaphore semaphore(1);
  std::optional<Permit> held = semaphore.TryAcquire();
  auto first = semaphore.Acquire();
  EXPECT_TRUE(PollWithoutBudget(first).IsPending());
  auto second = semaphore.Acquire();
  EXPECT_TRUE(PollWithoutBudget(second).IsPending());
  auto third = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(third).IsPending());
  held.reset();
  EXPECT_TRUE(PollWithoutBudget(first).IsPending());
  EXPECT_FALSE(semaphore.TryAcquire().has_value());
  {
    const Permit permit = Take(first);
    EXPECT_TRUE(PollOnce(second).IsPending());
  }
  EXPECT_TRUE(PollWithoutBudget(second).IsPending());
  EXPECT_TRUE(PollOnce(third).IsPending());
  {
    const Permit permit = Take(second);
    EXPECT_TRUE(PollOnce(third).IsPending());
  }
  EXPECT_EQ(Take(third).num_permits(), 1u);
}

TEST(Semaphore, APollWithoutBudgetLeavesFreePermits) {
  Semaphore semaphore(2);
  auto yields = semaphore.Acquire(2);
  EXPECT_TRUE(PollWithoutBudget(yields).IsPending());
  std::optional<Permit> other = semaphore.TryAcquire();
  ASSERT_TRUE(other.has_value());
  // Now the future must wait, so it takes its place.
  EXPECT_TRUE(PollWithoutBudget(yields).IsPending());
  EXPECT_FALSE(semaphore.TryAcquire().has_value());
  other.reset();
  EXPECT_EQ(Take(yields).num_permits(), 2u);
}

TEST(Semaphore, AnAcquireWithoutBudgetCanBeCancelled) {
  Semaphore semaphore(0);
  {
    auto acquire = semaphore.Acquire();
    EXPECT_TRUE(PollOnce(acquire).IsPending());
    semaphore.AddPermits(1);
    EXPECT_TRUE(PollWithoutBudget(acquire).IsPending());
    EXPECT_EQ(semaphore.available_permits(), 0u);
  }
  EXPECT_EQ(semaphore.available_permits(), 1u);
  semaphore.Close();
  auto acquire = semaphore.Acquire();
  EXPECT_TRUE(PollWithoutBudget(acquire).IsPending());
  EXPECT_FALSE(PollOnce(acquire)->ok());
}

TEST(Semaphore, ServesThreadsWithoutARuntime) {
  Semaphore semaphore(0);
  std::thread other([&semaphore] { semaphore.AddPermits(1); });
  EXPECT_TRUE(semaphore.BlockingAcquire().ok());
  other.join();
}

TEST(Semaphore, TheHolderOfAllPermitsCanDestroyTheSemaphore) {
  for (int i = 0; i < 100; ++i) {
    auto semaphore = std::make_unique<Semaphore>(1);
    std::optional<Permit> permit = semaphore->TryAcquire();
    std::thread other([&permit] { permit.reset(); });
    BlockOn(semaphore->Acquire())->Forget();
    semaphore.reset();
    other.join();
  }
}

TEST(Semaphore, PollingACompleteAcquirePanics) {
  Semaphore semaphore(1);
  auto acquire = semaphore.Acquire();
  Take(acquire).Forget();
  EXPECT_PANIC((void)PollOnce(acquire), "Semaphore::Acquire was polled after");
}

TEST(Semaphore, MovingAPolledAcquirePanics) {
  Semaphore semaphore(0);
  auto acquire = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(acquire).IsPending());
  EXPECT_PANIC(auto moved = std::move(acquire),
               "Semaphore::Acquire was moved after");
}

TEST(Semaphore, PollingAMovedFromOwnedFuturePanics) {
  auto semaphore = std::make_shared<Semaphore>(1);
  auto acquire = Semaphore::AcquireOwned(std::move(semaphore));
  {
    auto moved = std::move(acquire);
    EXPECT_TRUE(PollOnce(moved).IsReady());
  }
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  EXPECT_PANIC((void)PollOnce(acquire),
               "Semaphore::AcquireOwned was polled after");
}

#ifdef ABSL_HAVE_EXCEPTIONS
// Trap C8 (tokio #3188, #3644).
TEST(Semaphore, OverflowingThePermitsPanics) {
  EXPECT_PANIC(Semaphore(Semaphore::kMaxPermits + 1), "kMaxPermits");
  Semaphore semaphore(Semaphore::kMaxPermits);
  EXPECT_EQ(semaphore.available_permits(), Semaphore::kMaxPermits);
  EXPECT_PANIC(semaphore.AddPermits(1), "kMaxPermits");
  EXPECT_PANIC(semaphore.AddPermits(~size_t{0}), "kMaxPermits");
  EXPECT_PANIC((void)semaphore.Acquire(Semaphore::kMaxPermits + 1),
               "Semaphore::Acquire: the number of permits exceeds");
  EXPECT_PANIC((void)semaphore.TryAcquire(~size_t{0}),
               "Semaphore::TryAcquire: the number of permits exceeds");
  EXPECT_EQ(semaphore.available_permits(), Semaphore::kMaxPermits);
  EXPECT_TRUE(semaphore.TryAcquire(Semaphore::kMaxPermits).has_value());
}

TEST(Semaphore, OverflowingThePermitsBesideAWaiterPanics) {
  Semaphore semaphore(0);
  auto acquire = semaphore.Acquire(2);
  EXPECT_TRUE(PollOnce(acquire).IsPending());
  EXPECT_PANIC(semaphore.AddPermits(Semaphore::kMaxPermits + 1), "kMaxPermits");
  EXPECT_TRUE(PollOnce(acquire).IsPending());
  semaphore.AddPermits(Semaphore::kMaxPermits);
  EXPECT_EQ(semaphore.available_permits(), Semaphore::kMaxPermits - 2);
  Take(acquire).Forget();
}

TEST(Semaphore, APolledOwnedFutureKeepsItsSemaphore) {
  std::weak_ptr<Semaphore> weak;
  {
    auto semaphore = std::make_shared<Semaphore>(0);
    weak = semaphore;
    auto acquire = Semaphore::AcquireOwned(std::move(semaphore));
    EXPECT_TRUE(PollOnce(acquire).IsPending());
    EXPECT_PANIC(auto moved = std::move(acquire),
                 "Semaphore::Acquire was moved after");
    EXPECT_FALSE(weak.expired());
    // NOLINTNEXTLINE(bugprone-use-after-move): it was not
    EXPECT_TRUE(PollOnce(acquire).IsPending());
  }
  EXPECT_TRUE(weak.expired());
}

TEST(Semaphore, MergingPermitsOfTwoSemaphoresPanics) {
  Semaphore semaphore(1);
  Semaphore other(1);
  std::optional<Permit> permit = semaphore.TryAcquire();
  std::optional<Permit> another = other.TryAcquire();
  EXPECT_PANIC(permit->Merge(*std::move(another)),
               "Semaphore::Permit::Merge: the permits belong to");
  // NOLINTNEXTLINE(bugprone-use-after-move): it was not
  EXPECT_EQ(another->num_permits(), 1u);
}

TEST(Semaphore, AThrowingWakerDoesNotStopTheOthers) {
  Semaphore semaphore(0);
  CountingWaker task, other;
  task.OnWake([] { throw std::runtime_error("wake"); });
  auto first = semaphore.Acquire();
  auto second = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(first, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, other.NewWaker()).IsPending());
  EXPECT_THROW(semaphore.AddPermits(3), std::runtime_error);
  EXPECT_EQ(other.wakes(), 1);
  EXPECT_EQ(semaphore.available_permits(), 1u);
  Take(first).Forget();
  Take(second).Forget();
}

TEST(Semaphore, AThrowingCloneLeavesNoWaiter) {
  Semaphore semaphore(1);
  CountingWaker task;
  task.OnClone([] { throw std::runtime_error("clone"); });
  auto acquire = semaphore.Acquire(2);
  EXPECT_THROW((void)PollOnce(acquire, task.NewWaker()), std::runtime_error);
  EXPECT_EQ(semaphore.available_permits(), 1u);
  semaphore.AddPermits(1);
  EXPECT_EQ(Take(acquire).num_permits(), 2u);
}
#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
