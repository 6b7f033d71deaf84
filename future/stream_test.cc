// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/stream.h"

#include <memory>
#include <optional>
#include <type_traits>

#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// Pending before every item.
class Countdown {
 public:
  explicit Countdown(int from) : left_(from) {}

  PollResult<std::optional<std::unique_ptr<int>>> PollNext(Context&) {
    pending_ = !pending_;
    if (pending_) return kPending;
    if (left_ == 0) return std::nullopt;
    return std::make_unique<int>(left_--);
  }

 private:
  int left_;
  bool pending_ = false;
};

static_assert(Stream<Countdown>);
static_assert(Stream<Countdown&>);
static_assert(!Stream<const Countdown>);
static_assert(!Stream<Co<int>>);
static_assert(std::is_same_v<StreamItem<Countdown>, std::unique_ptr<int>>);

TEST(Next, ReturnsItemsInOrderAndThenNothing) {
  auto body = [](Countdown stream) -> Co<int> {
    int sum = 0;
    while (auto item = co_await Next(stream)) sum += **item;
    co_return sum;
  };
  Co<int> co = body(Countdown(3));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(PollOnce(co).value(), 6);
}

TEST(Next, DestroyedWhilePendingTakesNothing) {
  Countdown stream(2);
  {
    auto next = Next(stream);
    EXPECT_TRUE(PollOnce(next).IsPending());
  }
  auto next = Next(stream);
  EXPECT_EQ(**PollOnce(next).value(), 2);
}

TEST(Next, PollingACompleteNextPanics) {
  Countdown stream(2);
  auto next = Next(stream);
  EXPECT_TRUE(PollOnce(next).IsPending());
  EXPECT_TRUE(PollOnce(next).IsReady());
  EXPECT_PANIC((void)PollOnce(next), "Next was polled after");
}

}  // namespace
}  // namespace rouse
