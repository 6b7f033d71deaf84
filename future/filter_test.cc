// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/filter.h"

#include <memory>
#include <optional>

#include "gtest/gtest.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

Gen<std::unique_ptr<int>> Numbers(int count) {
  for (int i = 0; i < count; ++i) co_yield std::make_unique<int>(i);
}

TEST(Filter, KeepsItemsThatThePredicateAccepts) {
  auto stream = Filter(Numbers(6), [](const std::unique_ptr<int>& item) {
    return *item % 3 == 0;
  });
  static_assert(Stream<decltype(stream)>);
  EXPECT_EQ(**PollNextOnce(stream).value(), 0);
  EXPECT_EQ(**PollNextOnce(stream).value(), 3);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
}

TEST(Filter, DropsNoMoreThanTheBudgetAllows) {
  Gen<std::unique_ptr<int>> numbers = Numbers(1000);
  auto stream = Filter(numbers, [](const auto&) { return false; });
  CountingWaker task;
  const Waker waker = task.NewWaker();
  {
    Context cx(waker);
    EXPECT_TRUE(stream.PollNext(cx).IsPending());
    EXPECT_EQ(task.wakes(), 1);
  }
  EXPECT_EQ(**PollNextOnce(numbers).value(), kBudgetPerPoll + 1);
}

}  // namespace
}  // namespace rouse
