// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/cell.h"
#include "rouse/base/lock/spin_lock.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse {
namespace {

MODEL_TEST(SpinLock, Excludes) {
  SpinLock lock;
  Cell<int> count(0);
  const auto increment = [&] {
    const SpinLockHolder holder(lock);
    ++count.Write();
  };
  model::Thread other(increment);
  increment();
  other.Join();
  model::Require(count.Read() == 2);
}

MODEL_TEST(SpinLock, TryLockAcquires) {
  SpinLock lock;
  Cell<int> value(0);
  model::Thread other([&] {
    if (!lock.TryLock()) return;
    value.Write() = 1;
    lock.Unlock();
  });
  if (lock.TryLock()) {
    model::Require(value.Read() <= 1);
    lock.Unlock();
  }
  other.Join();
}

MODEL_MUTANTS(SpinLock, "base/lock/spin_lock");

}  // namespace
}  // namespace rouse
