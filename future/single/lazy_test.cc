// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/single/lazy.h"

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

TEST(Lazy, CallsAtTheFirstPoll) {
  int calls = 0;
  auto before = Lazy([&calls] { return ++calls; });
  static_assert(std::is_same_v<FutureOutput<decltype(before)>, int>);
  auto lazy = std::move(before);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(PollOnce(lazy).value(), 1);
  EXPECT_EQ(calls, 1);
}

TEST(Lazy, ResultsOfAllKinds) {
  bool called = false;
  auto nothing = Lazy([&called] { called = true; });
  EXPECT_TRUE(PollOnce(nothing).IsReady());
  EXPECT_TRUE(called);
  int x = 1;
  auto reference = Lazy([&x]() -> int& { return x; });
  EXPECT_EQ(&PollOnce(reference).value(), &x);
  auto unique = Lazy([] { return std::make_unique<int>(2); });
  EXPECT_EQ(*PollOnce(unique).value(), 2);
}

TEST(Lazy, RunsTheFutureThatTheCallReturns) {
  Switch<int> s;
  auto lazy = Lazy([&s] { return s.future(); });
  static_assert(std::is_same_v<FutureOutput<decltype(lazy)>, int>);
  EXPECT_FALSE(s.alive());
  EXPECT_TRUE(PollOnce(lazy).IsPending());
  EXPECT_TRUE(s.alive());
  s.Set(3);
  EXPECT_EQ(PollOnce(lazy).value(), 3);
}

TEST(Lazy, DestroysTheFunctionOnceCalled) {
  auto kept = std::make_shared<int>(1);
  auto lazy = Lazy([kept] { return *kept; });
  EXPECT_EQ(kept.use_count(), 2);
  EXPECT_EQ(PollOnce(lazy).value(), 1);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(Lazy, PollingACompleteFuturePanics) {
  auto lazy = Lazy([] {});
  EXPECT_TRUE(PollOnce(lazy).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(lazy)),
               "Lazy was polled after it completed");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Lazy, PassesAnExceptionOn) {
  auto lazy = Lazy([]() -> int { throw std::runtime_error("x"); });
  EXPECT_THROW(static_cast<void>(PollOnce(lazy)), std::runtime_error);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
