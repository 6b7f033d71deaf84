// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/lock/mutex.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/yield.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

static_assert(Future<Mutex<int>::LockFuture>);
static_assert(Future<Mutex<int>::LockOwnedFuture>);
static_assert(!std::is_copy_constructible_v<MutexGuard<int>>);
static_assert(sizeof(MutexGuard<int>) == 2 * sizeof(void*));

struct Pair {
  int first = 1;
  int second = 2;
};

TEST(Mutex, HasOneHolderAtATime) {
  Mutex<int> mutex(7);
  std::optional<MutexGuard<int>> guard = mutex.TryLock();
  EXPECT_EQ(**guard, 7);
  EXPECT_FALSE(mutex.TryLock().has_value());
  EXPECT_TRUE(PollOnce(mutex.Lock()).IsPending());
  **guard = 8;
  guard.reset();
  EXPECT_EQ(**PollOnce(mutex.Lock()), 8);
}

TEST(Mutex, ConstructsItsValueFromAnyArguments) {
  Mutex<std::vector<int>> mutex(3, 5);
  EXPECT_EQ(mutex.BlockingLock()->size(), 3u);
  Mutex<std::unique_ptr<int>> moved(std::make_unique<int>(4));
  EXPECT_EQ(**moved.BlockingLock(), 4);
}

TEST(Mutex, UnlockingWakesTheNextWaiter) {
  Mutex<int> mutex;
  CountingWaker first_task, second_task;
  std::optional guard(mutex.BlockingLock());
  auto first = mutex.Lock();
  auto second = mutex.Lock();
  EXPECT_TRUE(PollOnce(first, first_task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, second_task.NewWaker()).IsPending());
  guard.reset();
  EXPECT_EQ(first_task.wakes(), 1);
  EXPECT_EQ(second_task.wakes(), 0);
  EXPECT_FALSE(mutex.TryLock().has_value());
  EXPECT_TRUE(PollOnce(second).IsPending());
  guard.emplace(*PollOnce(first));
  guard.reset();
  EXPECT_TRUE(PollOnce(second).IsReady());
}

TEST(Mutex, ACancelledLockPassesTheTurnToTheNext) {
  Mutex<int> mutex;
  CountingWaker task;
  std::optional guard(mutex.BlockingLock());
  std::optional first(mutex.Lock());
  auto second = mutex.Lock();
  EXPECT_TRUE(PollOnce(*first).IsPending());
  EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
  guard.reset();
  first.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(second).IsReady());
}

Co<> AddSlowly(Mutex<int>& mutex, int times) {
  for (int i = 0; i < times; ++i) {
    MutexGuard<int> guard = co_await mutex.Lock();
    const int before = *guard;
    co_await Yield();
    *guard = before + 1;
  }
}

TEST(Mutex, IsHeldAcrossAnAwait) {
  Mutex<int> mutex;
  std::thread other([&mutex] { BlockOn(AddSlowly(mutex, 200)); });
  BlockOn(AddSlowly(mutex, 200));
  other.join();
  EXPECT_EQ(*mutex.BlockingLock(), 400);
}

TEST(Mutex, AGuardCanBeMoved) {
  Mutex<int> mutex(1);
  Mutex<int> other(2);
  MutexGuard<int> guard = mutex.BlockingLock();
  MutexGuard<int> moved = std::move(guard);
  EXPECT_FALSE(mutex.TryLock().has_value());
  moved = other.BlockingLock();
  EXPECT_TRUE(mutex.TryLock().has_value()) << "unlocked when assigned to";
  EXPECT_FALSE(other.TryLock().has_value());
  EXPECT_EQ(*moved, 2);
}

TEST(Mutex, AGuardCanBeMappedToAPart) {
  Mutex<Pair> mutex;
  {
    MutexGuard<int> part = mutex.BlockingLock().Map(
        [](Pair& pair) -> int& { return pair.second; });
    EXPECT_EQ(*part, 2);
    *part = 3;
    EXPECT_FALSE(mutex.TryLock().has_value());
  }
  EXPECT_EQ(mutex.BlockingLock()->second, 3);
}

TEST(Mutex, AGuardCanBeMappedToAPartThatMayBeMissing) {
  Mutex<std::optional<int>> mutex(1);
  const auto value = [](std::optional<int>& v) {
    return v.has_value() ? &*v : nullptr;
  };
  {
    MutexGuard<std::optional<int>> guard = mutex.BlockingLock();
    std::optional<MutexGuard<int>> part = std::move(guard).TryMap(value);
    ASSERT_TRUE(part.has_value());
    ++**part;
    EXPECT_FALSE(mutex.TryLock().has_value());
    part.reset();
    EXPECT_TRUE(mutex.TryLock().has_value());
  }
  MutexGuard<std::optional<int>> guard = mutex.BlockingLock();
  EXPECT_EQ(*guard, 2);
  guard->reset();
  EXPECT_FALSE(std::move(guard).TryMap(value).has_value());
  // NOLINTNEXTLINE(bugprone-use-after-move): was not
  EXPECT_EQ(*guard, std::nullopt) << "the guard keeps the lock";
  EXPECT_FALSE(mutex.TryLock().has_value());
}

TEST(Mutex, ABlockingOwnedLockKeepsItsMutex) {
  auto mutex = std::make_shared<Mutex<int>>(7);
  const std::weak_ptr<Mutex<int>> weak = mutex;
  {
    OwnedMutexGuard<int> guard =
        Mutex<int>::BlockingLockOwned(std::move(mutex));
    EXPECT_EQ(*guard, 7);
    EXPECT_FALSE(weak.lock()->TryLock().has_value());
  }
  EXPECT_TRUE(weak.expired());
}

TEST(Mutex, AnOwnedGuardKeepsItsMutex) {
  auto mutex = std::make_shared<Mutex<Pair>>();
  const std::weak_ptr<Mutex<Pair>> weak = mutex;
  OwnedMutexGuard<Pair> guard =
      BlockOn(Mutex<Pair>::LockOwned(std::move(mutex)));
  EXPECT_FALSE(Mutex<Pair>::TryLockOwned(weak.lock()).has_value());
  {
    OwnedMutexGuard<int> part = std::move(guard).Map(&Pair::first);
    EXPECT_EQ(*part, 1);
    EXPECT_FALSE(weak.lock()->TryLock().has_value());
    EXPECT_FALSE(weak.expired());
  }
  EXPECT_TRUE(weak.expired());
}

TEST(Mutex, ADestroyedOwnedGuardUnlocks) {
  auto mutex = std::make_shared<Mutex<int>>(5);
  std::optional guard = Mutex<int>::TryLockOwned(mutex);
  EXPECT_EQ(**guard, 5);
  auto lock = Mutex<int>::LockOwned(mutex);
  EXPECT_TRUE(PollOnce(lock).IsPending());
  guard.reset();
  EXPECT_TRUE(PollOnce(lock).IsReady());
  EXPECT_TRUE(mutex->TryLock().has_value());
}

TEST(Mutex, ASoleOwnerNeedsNoLock) {
  Mutex<std::string> mutex("a");
  mutex.GetUnlocked() += "b";
  EXPECT_EQ(std::move(mutex).Take(), "ab");
}

TEST(Mutex, TheLastHolderCanDestroyTheMutex) {
  for (int i = 0; i < 100; ++i) {
    auto mutex = std::make_unique<Mutex<int>>();
    std::optional guard(mutex->BlockingLock());
    std::thread other([&guard] { guard.reset(); });
    {
      MutexGuard<int> last = mutex->BlockingLock();
    }
    mutex.reset();
    other.join();
  }
}

TEST(Mutex, PollingACompleteFuturePanics) {
  Mutex<int> mutex;
  auto lock = mutex.Lock();
  EXPECT_TRUE(PollOnce(lock).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(lock)),
               "Mutex::Lock was polled after");
  auto owned = Mutex<int>::LockOwned(std::make_shared<Mutex<int>>());
  EXPECT_TRUE(PollOnce(owned).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(owned)),
               "Mutex::LockOwned was polled after");
}

#ifdef ABSL_HAVE_EXCEPTIONS
Co<> Fail(Mutex<int>& mutex) {
  MutexGuard<int> guard = co_await mutex.Lock();
  *guard = 1;
  throw std::runtime_error("half way");
}

TEST(Mutex, IsNotPoisoned) {
  Mutex<int> mutex;
  EXPECT_THROW(BlockOn(Fail(mutex)), std::runtime_error);
  EXPECT_EQ(**mutex.TryLock(), 1);
}

TEST(Mutex, AThrowingMapKeepsTheLock) {
  Mutex<Pair> mutex;
  MutexGuard<Pair> guard = mutex.BlockingLock();
  const auto fail = [](Pair&) -> int& { throw std::runtime_error("map"); };
  EXPECT_THROW(static_cast<void>(std::move(guard).Map(fail)),
               std::runtime_error);
  const auto try_fail = [](Pair&) -> int* { throw std::runtime_error("map"); };
  EXPECT_THROW(static_cast<void>(std::move(guard).TryMap(try_fail)),
               std::runtime_error);
  EXPECT_EQ(guard->first, 1);  // NOLINT(bugprone-use-after-move): was not
  EXPECT_FALSE(mutex.TryLock().has_value());
}

TEST(Mutex, APolledOwnedFutureKeepsItsMutex) {
  auto mutex = std::make_shared<Mutex<int>>();
  const std::weak_ptr<Mutex<int>> weak = mutex;
  std::optional guard(mutex->BlockingLock());
  {
    auto lock = Mutex<int>::LockOwned(std::move(mutex));
    EXPECT_TRUE(PollOnce(lock).IsPending());
    EXPECT_PANIC(auto moved = std::move(lock),
                 "Mutex::LockOwned was moved after");
    ASSERT_FALSE(weak.expired());
    guard.reset();
    // NOLINTNEXTLINE(bugprone-use-after-move): it was not
    EXPECT_TRUE(PollOnce(lock).IsReady());
  }
  EXPECT_TRUE(weak.expired());
}
#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
