// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/cell.h"
#include "rouse/base/lock/biased_lock.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse {
namespace {

using model::Require;
using model::Thread;

// Each test runs with the owner's barrier, and with the other side's barrier in
// all threads.
MODEL_TEST(BiasedLock, Excludes) {
  BiasedLock lock;
  Cell<int> count(0);
  Thread other([&] {
    const BiasedLock::Holder holder(lock);
    ++count.Write();
  });
  for (int i = 0; i < 2; ++i) {
    const BiasedLock::OwnerHolder holder(lock);
    ++count.Write();
  }
  other.Join();
  Require(count.Read() == 3);
}

MODEL_TEST(BiasedLock, ExcludesTwoOtherThreads, .mode = model::Mode::kBounded,
           .preemption_bound = 3) {
  BiasedLock lock;
  Cell<int> count(0);
  const auto add = [&] {
    const BiasedLock::Holder holder(lock);
    ++count.Write();
  };
  Thread one(add);
  Thread two(add);
  {
    const BiasedLock::OwnerHolder holder(lock);
    ++count.Write();
  }
  one.Join();
  two.Join();
  Require(count.Read() == 3);
}

// The owner may be a different thread each time, if the owners are ordered.
MODEL_TEST(BiasedLock, ExcludesTheNextOwner, .mode = model::Mode::kBounded,
           .preemption_bound = 3) {
  BiasedLock lock;
  Cell<int> count(0);
  const auto add_as_owner = [&] {
    const BiasedLock::OwnerHolder holder(lock);
    ++count.Write();
  };
  Thread other([&] {
    const BiasedLock::Holder holder(lock);
    ++count.Write();
  });
  Thread owner(add_as_owner);
  owner.Join();
  add_as_owner();
  other.Join();
  Require(count.Read() == 3);
}

// The owner finds out that the lock no longer favours it, even when about to
// take the lock. Other threads then exclude the owner without a barrier.
MODEL_TEST(BiasedLock, ExcludesAfterTheBiasEnds, .mode = model::Mode::kBounded,
           .preemption_bound = 3) {
  BiasedLock lock;
  Cell<int> count(0);
  Thread other([&] {
    lock.Lock();
    lock.EndBias();
    ++count.Write();
    lock.Unlock();
    const BiasedLock::Holder holder(lock);
    ++count.Write();
  });
  for (int i = 0; i < 2; ++i) {
    const BiasedLock::OwnerHolder holder(lock);
    ++count.Write();
  }
  other.Join();
  Require(count.Read() == 4);
}

MODEL_MUTANTS(
    BiasedLock, "base/lock/biased_lock",
    "BiasedLock::Unlock at biased_lock.cc:41: condition always false: the "
    "owner goes the slow way from then on",
    "BiasedLock::Unlock at biased_lock.cc:42: store skipped: likewise");

}  // namespace
}  // namespace rouse
