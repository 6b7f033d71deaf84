// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which executions mutexes, condition variables and futexes allow: what a
// signal or a wake orders, and what may fail for no reason.

#include <atomic>
#include <cstdint>
#include <set>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;

// Another thread may signal after a waiter joins the queue, and before it has
// unlocked the mutex. Such a signal does not come before the unlock.
TEST(WaitTest, ASignalDoesNotOrderTheWaitersUnlock) {
  std::set<std::pair<bool, bool>> outcomes[2];
  for (const Mode mode : {Mode::kExhaustive, Mode::kNaive}) {
    const Result result = Check({.mode = mode, .spurious_failures = 0}, [&] {
      Mutex mutex;
      CondVar changed;
      bool go = false;
      Thread waiter([&] {
        mutex.Lock();
        while (!go) changed.Wait(&mutex);
        mutex.Unlock();
      });
      const bool first = mutex.TryLock();
      if (first) mutex.Unlock();
      const bool second = mutex.TryLock();
      if (second) mutex.Unlock();
      changed.Signal();
      mutex.Lock();
      go = true;
      mutex.Unlock();
      changed.Signal();
      waiter.Join();
      outcomes[mode == Mode::kNaive ? 1 : 0].emplace(first, second);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
  EXPECT_EQ(outcomes[0].size(), 4);
  EXPECT_EQ(outcomes[0], outcomes[1]);
}

// Store buffering, with a call between store and load.
template <class Call>
std::set<std::pair<int, int>> StoreBufferingAround(Call call) {
  std::set<std::pair<int, int>> outcomes;
  const Result result = Check({.spurious_failures = 0}, [&] {
    Atomic<int> x = 0;
    Atomic<int> y = 0;
    Atomic<uint32_t> word = 0;
    CondVar changed;
    int a = 0;
    int b = 0;
    {
      const Thread one([&] {
        x.store(1, relaxed);
        call(changed, word);
        a = y.load(relaxed);
      });
      const Thread two([&] {
        y.store(1, relaxed);
        call(changed, word);
        b = x.load(relaxed);
      });
    }
    outcomes.emplace(a, b);
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
  return outcomes;
}

TEST(WaitTest, NeitherASignalNorAWakeIsAFence) {
  EXPECT_EQ(StoreBufferingAround([](CondVar& changed, Atomic<uint32_t>&) {
              changed.Signal();
            }).size(),
            4);
  EXPECT_EQ(StoreBufferingAround([](CondVar&, Atomic<uint32_t>& word) {
              FutexWakeOne(word);
            }).size(),
            4);
}

// A wake that finds no waiter comes before a wait that reads the word later, so
// this wait does not sleep forever.
TEST(WaitTest, AFutexWaitSeesWhatCameBeforeTheWake) {
  const Result result = Check({.spurious_failures = 0}, [] {
    Atomic<uint32_t> word = 0;
    const Thread other([&] {
      word.store(1, relaxed);
      FutexWakeOne(word);
    });
    while (word.load(relaxed) == 0) FutexWait(word, 0);
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
}

TEST(WaitTest, TryLockCanFailSpuriously) {
  for (const int failures : {0, 1}) {
    std::set<std::pair<bool, bool>> outcomes;
    const Result result = Check({.spurious_failures = failures}, [&] {
      Mutex mutex;
      const bool first = mutex.TryLock();
      if (first) mutex.Unlock();
      const bool second = mutex.TryLock();
      if (second) mutex.Unlock();
      outcomes.emplace(first, second);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
    EXPECT_EQ(outcomes.size(), failures == 0 ? 1 : 3);
  }
}

}  // namespace
}  // namespace rouse::model
