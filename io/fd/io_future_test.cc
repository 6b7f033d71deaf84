// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/fd/io_future.h"

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// Records the waiter of the last caller.
struct Door {
  struct Waiter {
    std::unique_ptr<int> only_moves;
  };

  bool is_open = false;
  const Waiter* waiter = nullptr;
};

struct EnterOp {
  static constexpr std::string_view kName = "Door::Enter()";
  EnterOp(int guests, int dogs) : guests(guests), dogs(dogs) {}
  PollResult<int> operator()(Door& door, Context& cx,
                             Door::Waiter* waiter) const {
    door.waiter = waiter;
    if (door.is_open) return guests + dogs;
    cx.waker().WakeByRef();
    return kPending;
  }
  int guests;
  int dogs;
};

using EnterFuture = internal::IoFuture<Door, EnterOp>;

static_assert(Future<EnterFuture>);
static_assert(std::is_same_v<FutureOutput<EnterFuture>, int>);

class IoFutureTest : public IoTest {};

TEST_F(IoFutureTest, PollsUntilReadyAndReturnsTheResult) {
  Door door;
  EnterFuture enter(door, 3, 1);
  EXPECT_TRUE(Poll(enter).IsPending());
  EXPECT_TRUE(Poll(enter).IsPending());
  door.is_open = true;
  EXPECT_EQ(*Poll(enter), 4);
}

TEST_F(IoFutureTest, HasItsOwnWaiter) {
  Door door;
  EnterFuture first(door, 1, 0);
  EnterFuture second(door, 2, 0);
  EXPECT_TRUE(Poll(first).IsPending());
  const Door::Waiter* waiter = door.waiter;
  EXPECT_NE(waiter, nullptr);
  EXPECT_TRUE(Poll(second).IsPending());
  EXPECT_NE(door.waiter, waiter);
  EXPECT_TRUE(Poll(first).IsPending());
  EXPECT_EQ(door.waiter, waiter);
}

TEST_F(IoFutureTest, CanBeMovedBeforeItIsPolled) {
  Door door;
  door.is_open = true;
  auto enter = std::make_unique<EnterFuture>(door, 2, 2);
  EnterFuture moved = std::move(*enter);
  enter.reset();
  EXPECT_EQ(*Poll(moved), 4);
}

TEST_F(IoFutureTest, PollingACompleteFuturePanics) {
  Door door;
  door.is_open = true;
  EnterFuture enter(door, 1, 0);
  EXPECT_TRUE(Poll(enter).IsReady());
  EXPECT_PANIC(static_cast<void>(Poll(enter)),
               "Door::Enter() was polled after");
}

}  // namespace
}  // namespace rouse
