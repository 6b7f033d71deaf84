// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/lock/rw_lock.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

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

static_assert(Future<RwLock<int>::ReadFuture>);
static_assert(Future<RwLock<int>::WriteFuture>);
static_assert(Future<RwLock<int>::ReadOwnedFuture>);
static_assert(Future<RwLock<int>::WriteOwnedFuture>);
static_assert(std::is_same_v<decltype(*std::declval<RwLockReadGuard<int>&>()),
                             const int&>);

struct Pair {
  int first = 1;
  int second = 2;
};

TEST(RwLock, HasManyReaders) {
  RwLock<int> lock(7);
  const RwLockReadGuard<int> first = lock.BlockingRead();
  const RwLockReadGuard<int> second = *PollOnce(lock.Read());
  EXPECT_EQ(*first + *second, 14);
  EXPECT_FALSE(lock.TryWrite().has_value());
  EXPECT_TRUE(lock.TryRead().has_value());
}

TEST(RwLock, HasOneWriter) {
  RwLock<int> lock(7);
  {
    RwLockWriteGuard<int> guard = lock.BlockingWrite();
    *guard = 8;
    EXPECT_FALSE(lock.TryRead().has_value());
    EXPECT_FALSE(lock.TryWrite().has_value());
    EXPECT_TRUE(PollOnce(lock.Read()).IsPending());
    EXPECT_TRUE(PollOnce(lock.Write()).IsPending());
  }
  EXPECT_EQ(*lock.BlockingRead(), 8);
}

TEST(RwLock, TheLastReaderWakesTheWriter) {
  RwLock<int> lock;
  CountingWaker task;
  std::optional first(lock.BlockingRead());
  std::optional second(lock.BlockingRead());
  auto write = lock.Write();
  EXPECT_TRUE(PollOnce(write, task.NewWaker()).IsPending());
  first.reset();
  EXPECT_EQ(task.wakes(), 0);
  second.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(write).IsReady());
}

TEST(RwLock, ReadersDoNotOvertakeAWriter) {
  RwLock<int> lock;
  std::optional reading(lock.BlockingRead());
  auto write = lock.Write();
  EXPECT_TRUE(PollOnce(write).IsPending());
  EXPECT_FALSE(lock.TryRead().has_value());
  auto read = lock.Read();
  auto another = lock.Read();
  EXPECT_TRUE(PollOnce(read).IsPending());
  EXPECT_TRUE(PollOnce(another).IsPending());
  reading.reset();
  EXPECT_TRUE(PollOnce(read).IsPending());
  EXPECT_TRUE(PollOnce(write).IsReady());  // and the guard unlocks
  EXPECT_TRUE(PollOnce(read).IsReady());
  EXPECT_TRUE(PollOnce(another).IsReady());
}

TEST(RwLock, ACancelledWriteLetsReadersIn) {
  RwLock<int> lock;
  CountingWaker task;
  const RwLockReadGuard<int> reading = lock.BlockingRead();
  std::optional write(lock.Write());
  auto read = lock.Read();
  EXPECT_TRUE(PollOnce(*write).IsPending());
  EXPECT_TRUE(PollOnce(read, task.NewWaker()).IsPending());
  write.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(read).IsReady());
}

TEST(RwLock, HasNoMoreReadersThanItsLimit) {
  RwLock<int> lock(MaxReaders(2), 5);
  EXPECT_EQ(lock.max_readers(), 2u);
  const RwLockReadGuard<int> first = lock.BlockingRead();
  {
    const RwLockReadGuard<int> second = lock.BlockingRead();
    EXPECT_FALSE(lock.TryRead().has_value());
  }
  EXPECT_TRUE(lock.TryRead().has_value());
  EXPECT_EQ(*first, 5);
}

TEST(RwLock, AWriteLockBecomesAReadLock) {
  RwLock<int> lock;
  auto write = lock.Write();
  RwLockWriteGuard<int> writing = *PollOnce(write);
  auto read = lock.Read();
  auto next = lock.Write();
  EXPECT_TRUE(PollOnce(read).IsPending());
  EXPECT_TRUE(PollOnce(next).IsPending());
  *writing = 3;
  std::optional reading(std::move(writing).Downgrade());
  EXPECT_EQ(**reading, 3);
  EXPECT_TRUE(PollOnce(next).IsPending());
  EXPECT_EQ(**PollOnce(read), 3);
  EXPECT_TRUE(PollOnce(next).IsPending());
  reading.reset();
  EXPECT_TRUE(PollOnce(next).IsReady());
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(RwLock, ADowngradeWithAThrowingWakerUnlocksOnce) {
  RwLock<int> lock(MaxReaders(4));
  CountingWaker task;
  task.OnWake([] { throw std::runtime_error("no"); });
  {
    RwLockWriteGuard<int> writing = lock.BlockingWrite();
    auto read = lock.Read();
    EXPECT_TRUE(PollOnce(read, task.NewWaker()).IsPending());
    EXPECT_THROW(static_cast<void>(std::move(writing).Downgrade()),
                 std::runtime_error);
    EXPECT_TRUE(PollOnce(read).IsReady());
  }
  auto writing = lock.TryWrite();
  ASSERT_TRUE(writing.has_value());
  EXPECT_FALSE(lock.TryRead().has_value());
}
#endif

TEST(RwLock, TheOnlyReaderCanUpgrade) {
  RwLock<int> lock;
  RwLockReadGuard<int> reading = lock.BlockingRead();
  std::optional another(lock.BlockingRead());
  EXPECT_FALSE(reading.TryUpgrade().has_value());
  another.reset();
  {
    auto writing = reading.TryUpgrade();
    ASSERT_TRUE(writing.has_value());
    **writing = 4;
    EXPECT_FALSE(lock.TryRead().has_value());
  }
  EXPECT_EQ(**lock.TryWrite(), 4);
}

TEST(RwLock, AReaderCannotUpgradeWhileAWriterWaits) {
  RwLock<int> lock;
  std::optional reading(lock.BlockingRead());
  auto write = lock.Write();
  EXPECT_TRUE(PollOnce(write).IsPending());
  EXPECT_FALSE(reading->TryUpgrade().has_value());
  reading.reset();
  EXPECT_TRUE(PollOnce(write).IsReady());
}

TEST(RwLock, ALimitOfOneIsAMutex) {
  RwLock<int> lock(MaxReaders(1));
  RwLockReadGuard<int> reading = lock.BlockingRead();
  auto writing = reading.TryUpgrade();
  EXPECT_FALSE(lock.TryRead().has_value());
  std::optional again(std::move(*writing).Downgrade());
  EXPECT_FALSE(lock.TryRead().has_value());
  again.reset();
  EXPECT_TRUE(lock.TryWrite().has_value());
}

TEST(RwLock, GuardsCanBeMappedToAPart) {
  RwLock<Pair> lock;
  {
    RwLockWriteGuard<int> part = lock.BlockingWrite().Map(&Pair::second);
    *part = 3;
    EXPECT_FALSE(lock.TryRead().has_value());
    const RwLockReadGuard<int> reading = std::move(part).Downgrade();
    EXPECT_EQ(*reading, 3);
    EXPECT_TRUE(lock.TryRead().has_value());
  }
  RwLockReadGuard<const int> part = lock.BlockingRead().Map(&Pair::second);
  EXPECT_EQ(*part, 3);
  EXPECT_FALSE(lock.TryWrite().has_value());
}

TEST(RwLock, GuardsCanBeMappedToAPartThatMayBeMissing) {
  RwLock<std::optional<int>> lock(1);
  const auto value = [](auto& v) { return v.has_value() ? &*v : nullptr; };
  {
    RwLockWriteGuard<std::optional<int>> guard = lock.BlockingWrite();
    std::optional<RwLockWriteGuard<int>> part = std::move(guard).TryMap(value);
    ASSERT_TRUE(part.has_value());
    ++**part;
    EXPECT_FALSE(lock.TryRead().has_value());
  }
  {
    RwLockReadGuard<std::optional<int>> guard = lock.BlockingRead();
    std::optional<RwLockReadGuard<const int>> part =
        std::move(guard).TryMap(value);
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(**part, 2);
    EXPECT_FALSE(lock.TryWrite().has_value());
    EXPECT_TRUE(lock.TryRead().has_value());
  }
  {
    RwLockWriteGuard<std::optional<int>> guard = lock.BlockingWrite();
    guard->reset();
    EXPECT_FALSE(std::move(guard).TryMap(value).has_value());
    // NOLINTNEXTLINE(bugprone-use-after-move): was not
    EXPECT_EQ(*guard, std::nullopt) << "the guard keeps the lock";
    EXPECT_FALSE(lock.TryRead().has_value());
  }
  RwLockReadGuard<std::optional<int>> guard = lock.BlockingRead();
  EXPECT_FALSE(std::move(guard).TryMap(value).has_value());
  // NOLINTNEXTLINE(bugprone-use-after-move): was not
  EXPECT_EQ(*guard, std::nullopt) << "the guard keeps the lock";
  EXPECT_FALSE(lock.TryWrite().has_value());
}

TEST(RwLock, GuardsCanBeMoved) {
  RwLock<int> lock(1);
  RwLock<int> other(2);
  {
    RwLockReadGuard<int> guard = lock.BlockingRead();
    RwLockReadGuard<int> moved = std::move(guard);
    moved = other.BlockingRead();
    EXPECT_TRUE(lock.TryWrite().has_value());
    EXPECT_EQ(*moved, 2);
  }
  RwLockWriteGuard<int> guard = lock.BlockingWrite();
  RwLockWriteGuard<int> moved = std::move(guard);
  moved = other.BlockingWrite();
  EXPECT_TRUE(lock.TryWrite().has_value());
  EXPECT_FALSE(other.TryRead().has_value());
}

TEST(RwLock, OwnedGuardsKeepTheirLock) {
  using Lock = RwLock<Pair>;
  auto lock = std::make_shared<Lock>();
  const std::weak_ptr<Lock> weak = lock;
  {
    OwnedRwLockReadGuard<Pair> reading =
        BlockOn(Lock::ReadOwned(std::move(lock)));
    std::optional another = Lock::TryReadOwned(weak.lock());
    EXPECT_EQ((*another)->first, 1);
    EXPECT_FALSE(Lock::TryWriteOwned(weak.lock()).has_value());
    another.reset();
    std::optional<OwnedRwLockWriteGuard<Pair>> writing = reading.TryUpgrade();
    ASSERT_TRUE(writing.has_value());
    OwnedRwLockWriteGuard<int> part = (*std::move(writing)).Map(&Pair::first);
    EXPECT_FALSE(Lock::TryReadOwned(weak.lock()).has_value());
  }
  EXPECT_TRUE(weak.expired());
}

TEST(RwLock, ADestroyedOwnedWriteGuardUnlocks) {
  using Lock = RwLock<int>;
  auto lock = std::make_shared<Lock>();
  auto write = Lock::WriteOwned(lock);
  std::optional writing(*PollOnce(write));
  EXPECT_FALSE(Lock::TryWriteOwned(lock).has_value());
  **writing = 2;
  writing.reset();
  EXPECT_EQ(**Lock::TryWriteOwned(lock), 2);
}

TEST(RwLock, ASoleOwnerNeedsNoLock) {
  RwLock<std::string> lock("a");
  lock.GetUnlocked() += "b";
  EXPECT_EQ(std::move(lock).Take(), "ab");
}

Co<> AddSlowly(RwLock<Pair>& lock, int times) {
  for (int i = 0; i < times; ++i) {
    RwLockWriteGuard<Pair> guard = co_await lock.Write();
    ++guard->first;
    co_await Yield();
    ++guard->second;
  }
}

Co<bool> AlwaysOneMore(RwLock<Pair>& lock, int times) {
  bool always = true;
  for (int i = 0; i < times; ++i) {
    RwLockReadGuard<Pair> guard = co_await lock.Read();
    always = always && guard->second == guard->first + 1;
  }
  co_return always;
}

TEST(RwLock, ReadersSeeNoPartialWrite) {
  RwLock<Pair> lock;
  std::thread other([&lock] { BlockOn(AddSlowly(lock, 200)); });
  EXPECT_TRUE(BlockOn(AlwaysOneMore(lock, 200)));
  other.join();
  EXPECT_EQ(lock.BlockingRead()->first, 201);
}

TEST(RwLock, ALimitOutOfRangePanics) {
  EXPECT_PANIC(RwLock<int>(MaxReaders(0)), "RwLock: the limit of readers is 0");
  EXPECT_PANIC(RwLock<int>(MaxReaders(~size_t{0})), "kMaxPermits");
}

TEST(RwLock, PollingACompleteFuturePanics) {
  RwLock<int> lock;
  auto read = lock.Read();
  EXPECT_TRUE(PollOnce(read).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(read)),
               "RwLock::Read was polled after");
  auto read_owned = RwLock<int>::ReadOwned(std::make_shared<RwLock<int>>());
  EXPECT_TRUE(PollOnce(read_owned).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(read_owned)),
               "RwLock::ReadOwned was polled after");
  auto write_owned = RwLock<int>::WriteOwned(std::make_shared<RwLock<int>>());
  EXPECT_TRUE(PollOnce(write_owned).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(write_owned)),
               "RwLock::WriteOwned was polled after");
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(RwLock, PolledOwnedFuturesKeepTheirLock) {
  auto lock = std::make_shared<RwLock<int>>();
  const std::weak_ptr<RwLock<int>> weak = lock;
  {
    std::optional guard(lock->BlockingWrite());
    std::optional read(RwLock<int>::ReadOwned(lock));
    EXPECT_TRUE(PollOnce(*read).IsPending());
    auto write = RwLock<int>::WriteOwned(std::move(lock));
    EXPECT_TRUE(PollOnce(write).IsPending());
    EXPECT_PANIC(auto moved = *std::move(read),
                 "RwLock::ReadOwned was moved after");
    EXPECT_PANIC(auto moved = std::move(write),
                 "RwLock::WriteOwned was moved after");
    ASSERT_FALSE(weak.expired());
    guard.reset();
    // NOLINTBEGIN(bugprone-use-after-move): they were not
    read.reset();
    EXPECT_TRUE(PollOnce(write).IsReady());
    // NOLINTEND(bugprone-use-after-move)
  }
  EXPECT_TRUE(weak.expired());
}
#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
