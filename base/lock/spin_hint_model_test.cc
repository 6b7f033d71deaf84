// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/lock/spin_hint.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse {
namespace {

// This is the lock of the header's example.
class SpinLock {
 public:
  void Lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) SpinHint();
  }
  void Unlock() { locked_.store(false, std::memory_order_release); }

 private:
  Atomic<bool> locked_{false};
};

MODEL_TEST(SpinHint, ASpinLockExcludes) {
  SpinLock lock;
  Cell<int> count(0);
  const auto increment = [&] {
    lock.Lock();
    ++count.Write();
    lock.Unlock();
  };
  model::Thread other(increment);
  increment();
  other.Join();
  model::Require(count.Read() == 2);
}

// Two spinning threads store the same value again and again, and neither keeps
// the other awake.
MODEL_TEST(SpinHint, ASpinLockExcludesTwoOtherThreads) {
  SpinLock lock;
  Cell<int> count(0);
  const auto increment = [&] {
    lock.Lock();
    ++count.Write();
    lock.Unlock();
  };
  model::Thread one(increment);
  model::Thread two(increment);
  increment();
  one.Join();
  two.Join();
  model::Require(count.Read() == 3);
}

MODEL_MUTANTS(SpinHint, "base/lock/spin_hint_model_test.cc");

}  // namespace
}  // namespace rouse
