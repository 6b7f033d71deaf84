// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A read-write lock and a mutex, whose values are plain data: an owner that
// runs beside a writer, or does not see what the previous writer did, causes a
// race. The locks have no atomics of their own: see semaphore_model_test for
// those.

#include <optional>
#include <utility>

#include "rouse/base/cell.h"
#include "rouse/sync/lock/mutex.h"
#include "rouse/sync/lock/rw_lock.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse {
namespace {

using model::Require;
using model::Thread;
using PlainInt = Cell<int>;

void Increment(PlainInt& value) { value.Write() = value.Read() + 1; }

MODEL_TEST(RwLock, ConcurrentWrite, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  RwLock<PlainInt> lock;
  const auto write = [&lock] { Increment(*lock.BlockingWrite()); };
  Thread first(write);
  Thread second(write);
  first.Join();
  second.Join();
  Require(lock.BlockingRead()->Read() == 2);
}

MODEL_TEST(RwLock, ConcurrentReadWrite, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  RwLock<PlainInt> lock;
  Thread writing([&lock] { Increment(*lock.BlockingWrite()); });
  Thread reading([&lock] { Require(lock.BlockingRead()->Read() <= 1); });
  if (const auto guard = lock.TryRead()) Require((*guard)->Read() <= 1);
  writing.Join();
  reading.Join();
  Require(lock.TryRead().value()->Read() == 1);
}

MODEL_TEST(RwLock, Downgrade, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  RwLock<PlainInt> lock;
  Thread other([&lock] {
    RwLockWriteGuard<PlainInt> writing = lock.BlockingWrite();
    Increment(*writing);
    const int written = writing->Read();
    const RwLockReadGuard<PlainInt> reading = std::move(writing).Downgrade();
    Require(reading->Read() == written, "another has written in between");
  });
  const int before = lock.BlockingRead()->Read();
  RwLockWriteGuard<PlainInt> writing = lock.BlockingWrite();
  Require(writing->Read() >= before);
  Increment(*writing);
}

MODEL_TEST(RwLock, AnUpgradeExcludesOtherReaders, .spurious_failures = 0) {
  RwLock<PlainInt> lock;
  const auto upgrade = [&lock] {
    std::optional<RwLockReadGuard<PlainInt>> reading = lock.TryRead();
    if (!reading.has_value()) return;
    const int before = (*reading)->Read();
    auto writing = reading->TryUpgrade();
    if (!writing.has_value()) return;
    Require((*writing)->Read() == before, "another has written in between");
    Increment(**writing);
  };
  Thread other(upgrade);
  upgrade();
  other.Join();
  Require(lock.TryWrite().has_value());
}

MODEL_TEST(Mutex, ConcurrentLock, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Mutex<PlainInt> mutex;
  const auto lock = [&mutex] { Increment(*mutex.BlockingLock()); };
  Thread first(lock);
  Thread second(lock);
  if (const auto guard = mutex.TryLock()) Increment(**guard);
  first.Join();
  second.Join();
  Require(mutex.TryLock().value()->Read() >= 2);
}

}  // namespace
}  // namespace rouse
