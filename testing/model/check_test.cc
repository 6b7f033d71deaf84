// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/check.h"

#include <atomic>
#include <memory>
#include <set>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
using testing::HasSubstr;

TEST(CheckTest, FindsEveryOutcomeOfStoreBuffering) {
  std::set<std::tuple<int, int>> outcomes;
  const Result result = Check({}, [&] {
    Atomic<int> x(0);
    Atomic<int> y(0);
    int a = -1;
    int b = -1;
    Thread one([&] {
      x.store(1, memory_order_relaxed);
      a = y.load(memory_order_relaxed);
    });
    Thread two([&] {
      y.store(1, memory_order_relaxed);
      b = x.load(memory_order_relaxed);
    });
    one.Join();
    two.Join();
    outcomes.insert({a, b});
  });
  EXPECT_FALSE(result.failed) << result.message << result.trace;
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(outcomes.size(), 4);
  std::cout << result.executions << " " << result.pruned << "\n";
}

void PassMessage(std::memory_order publish) {
  Cell<int> data(0);
  Atomic<bool> ready(false);
  Thread other([&] {
    data.Write() = 42;
    ready.store(true, publish);
  });
  if (ready.load(memory_order_acquire)) Require(data.Read() == 42);
}

TEST(CheckTest, FindsADataRace) {
  EXPECT_FALSE(Check({}, [] { PassMessage(memory_order_release); }).failed);
  const Result result = Check({}, [] { PassMessage(memory_order_relaxed); });
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.message, HasSubstr("data race"));
  std::cout << result.message << "\n" << result.trace << result.replay << "\n";
  EXPECT_EQ(Check({.replay = result.replay},
                  [] { PassMessage(memory_order_relaxed); })
                .message,
            result.message);
}

TEST(CheckTest, FindsADeadlock) {
  const Result result = Check({}, [] {
    Mutex a;
    Mutex b;
    Thread other([&] {
      const MutexLock first(&a);
      const MutexLock second(&b);
    });
    const MutexLock first(&b);
    const MutexLock second(&a);
  });
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.message, HasSubstr("deadlock"));
  std::cout << result.message << "\n" << result.trace << result.replay << "\n";
}

TEST(CheckTest, FindsALeak) {
  const Result result = Check({}, [] {
    auto* leaked = new Atomic<int>(1);
    leaked->load();
  });
  EXPECT_THAT(result.message, HasSubstr("leak"));
}

MODEL_TEST(Gtest, Spins) {
  Atomic<int> turn(0);
  Thread other([&] {
    while (turn.load(memory_order_acquire) != 1) SpinHint();
    turn.store(2, memory_order_release);
  });
  turn.store(1, memory_order_release);
  while (turn.load(memory_order_acquire) != 2) SpinHint();
}

}  // namespace
}  // namespace rouse::model
