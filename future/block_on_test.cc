// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/block_on.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/ready.h"
#include "rouse/future/yield.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// Waits for a signal from another thread.
class Flag {
 public:
  Flag() = default;

  void Signal() {
    // Relaxed: the calls of the waker provide the order, see AtomicWaker.
    set_.store(true, std::memory_order_relaxed);
    waker_.Wake();
  }
  PollResult<int> Poll(Context& cx) {
    if (set_.load(std::memory_order_relaxed)) return 1;
    waker_.Register(cx.waker());
    if (set_.load(std::memory_order_relaxed)) return 1;
    return kPending;
  }

 private:
  AtomicWaker waker_;
  std::atomic<bool> set_ = false;
};

TEST(BlockOn, ReturnsTheValue) {
  EXPECT_EQ(BlockOn(Ready(5)), 5);
  EXPECT_EQ(*BlockOn(Ready(std::make_unique<int>(5))), 5);
  BlockOn(Ready());
}

TEST(BlockOn, ReturnsAReference) {
  int x = 1;
  auto body = [](int& x) -> Co<int&> { co_return x; };
  static_assert(std::is_same_v<decltype(BlockOn(body(x))), int&>);
  EXPECT_EQ(&BlockOn(body(x)), &x);
}

TEST(BlockOn, PollsAgainWhenWoken) {
  auto body = []() -> Co<int> {
    for (int i = 0; i < 1000; ++i) co_await Yield();
    co_return 7;
  };
  EXPECT_EQ(BlockOn(body()), 7);
}

TEST(BlockOn, IsWokenByAnotherThread) {
  Flag flag;
  std::thread other([&flag] { flag.Signal(); });
  EXPECT_EQ(BlockOn(flag), 1);
  other.join();
}

TEST(BlockOn, GivesEachPollAFullBudget) {
  auto body = []() -> Co<int> {
    auto poll = [](Context& cx) -> PollResult<void> {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
      return {};
    };
    auto endless = PollFn(poll);
    for (int i = 0; i < 1000; ++i) co_await endless;
    co_return 1000;
  };
  EXPECT_EQ(BlockOn(body()), 1000);
}

TEST(BlockOn, Nests) {
  Flag flag;
  auto inner = []() -> Co<int> {
    co_await Yield();
    co_return 2;
  };
  auto outer = [&]() -> Co<int> {
    co_await Yield();
    const int x = BlockOn(inner());
    co_return x + co_await flag;
  };
  std::thread other([&flag] { flag.Signal(); });
  EXPECT_EQ(BlockOn(outer()), 3);
  other.join();
}

TEST(BlockOn, DrawsFromItsSeed) {
  auto draw = [](Context& cx) -> PollResult<uint64_t> {
    return cx.rand().Next();
  };
  EXPECT_EQ(BlockOn(PollFn(draw), 1), BlockOn(PollFn(draw), 1));
  EXPECT_NE(BlockOn(PollFn(draw), 1), BlockOn(PollFn(draw), 2));
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(BlockOn, PropagatesAnException) {
  auto body = []() -> Co<> {
    co_await Yield();
    throw std::runtime_error("body");
  };
  EXPECT_THROW(BlockOn(body()), std::runtime_error);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
