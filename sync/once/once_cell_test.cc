// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/once/once_cell.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/or_return.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/ready.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// Returns a callable whose future is pending until `gate` is open, and then
// returns `value`.
auto MakeWhenOpen(const bool& gate, int value) {
  return [&gate, value] {
    return PollFn([&gate, value](Context&) -> PollResult<int> {
      if (!gate) return kPending;
      return value;
    });
  };
}

auto MakeNow(int value) {
  return [value] { return Ready(value); };
}

auto Fail() {
  return [] { return Ready(absl::StatusOr<int>(absl::AbortedError("no"))); };
}

TEST(OnceCell, HasNoValueAtFirst) {
  OnceCell<int> cell;
  EXPECT_EQ(cell.Get(), nullptr);
}

TEST(OnceCell, CanBeginWithAValue) {
  OnceCell<int> cell(3);
  ASSERT_NE(cell.Get(), nullptr);
  EXPECT_EQ(*cell.Get(), 3);
}

constinit OnceCell<int> global_cell;
constinit OnceCell<std::string_view> global_cell_with_value("value");

TEST(OnceCell, CanBeAGlobalConstant) {
  EXPECT_EQ(global_cell.Get(), nullptr);
  EXPECT_TRUE(global_cell.Set(1).ok());
  EXPECT_EQ(*global_cell.Get(), 1);
  EXPECT_EQ(*global_cell_with_value.Get(), "value");
}

TEST(OnceCell, GetMutChangesTheValue) {
  OnceCell<int> cell;
  EXPECT_EQ(cell.GetMut(), nullptr);
  EXPECT_TRUE(cell.Set(1).ok());
  *cell.GetMut() = 2;
  EXPECT_EQ(*cell.Get(), 2);
}

TEST(OnceCell, IntoInnerReturnsTheValue) {
  OnceCell<std::unique_ptr<int>> cell(std::make_unique<int>(1));
  std::optional<std::unique_ptr<int>> value = std::move(cell).IntoInner();
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(**value, 1);
  EXPECT_EQ(OnceCell<int>().IntoInner(), std::nullopt);
}

TEST(OnceCell, TheValueIsMadeOnce) {
  OnceCell<int> cell;
  EXPECT_EQ(BlockOn(cell.GetOrInit(MakeNow(1))), 1);
  EXPECT_EQ(BlockOn(cell.GetOrInit(MakeNow(2))), 1);
  EXPECT_EQ(*cell.Get(), 1);
}

TEST(OnceCell, ReturnsAReferenceToTheStoredValue) {
  OnceCell<int> cell;
  const int& value = BlockOn(cell.GetOrInit(MakeNow(1)));
  EXPECT_EQ(&value, cell.Get());
  EXPECT_EQ(*BlockOn(cell.GetOrTryInit(Fail())), cell.Get());
}

class Immovable {
 public:
  explicit Immovable(int value) : value_(value) {}
  Immovable(const Immovable&) = delete;
  Immovable& operator=(const Immovable&) = delete;

  PollResult<int> Poll(Context&) { return value_; }

 private:
  int value_;
};

TEST(OnceCell, ItsFutureNeedNotBeMovable) {
  OnceCell<int> cell;
  const auto make = [] { return Immovable(1); };
  EXPECT_EQ(BlockOn(cell.GetOrInit(make)), 1);
}

TEST(OnceCell, DestroysItsValue) {
  auto value = std::make_shared<int>(1);
  {
    OnceCell<std::shared_ptr<int>> cell;
    const auto make = [&] { return Ready(value); };
    EXPECT_EQ(BlockOn(cell.GetOrInit(make)), value);
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(OnceCell, OneMakesTheValueAndTheOthersWait) {
  OnceCell<int> cell;
  CountingWaker task;
  bool gate = false;
  auto first = cell.GetOrInit(MakeWhenOpen(gate, 1));
  auto second = cell.GetOrInit(MakeNow(2));
  auto third = cell.GetOrInit(MakeNow(3));
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(third, task.NewWaker()).IsPending());
  gate = true;
  EXPECT_EQ(*PollOnce(first), 1);
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_EQ(*PollOnce(second), 1);
  EXPECT_EQ(*PollOnce(third), 1);
}

TEST(OnceCell, IfTheMakerIsCancelledTheNextMakesTheValue) {
  OnceCell<int> cell;
  CountingWaker second_task, third_task;
  bool gate = false;
  std::optional first(cell.GetOrInit(MakeWhenOpen(gate, 1)));
  auto second = cell.GetOrInit(MakeNow(2));
  auto third = cell.GetOrInit(MakeNow(3));
  EXPECT_TRUE(PollOnce(*first).IsPending());
  EXPECT_TRUE(PollOnce(second, second_task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(third, third_task.NewWaker()).IsPending());
  first.reset();
  EXPECT_EQ(second_task.wakes(), 1);
  EXPECT_EQ(third_task.wakes(), 0);
  EXPECT_TRUE(PollOnce(third).IsPending()) << "it is not its turn";
  EXPECT_EQ(*PollOnce(second), 2);
  EXPECT_EQ(*PollOnce(third), 2);
}

TEST(OnceCell, ACancelledWaiterWithTheTurnPassesItOn) {
  OnceCell<int> cell;
  CountingWaker task;
  bool gate = false;
  std::optional first(cell.GetOrInit(MakeWhenOpen(gate, 1)));
  std::optional second(cell.GetOrInit(MakeNow(2)));
  auto third = cell.GetOrInit(MakeNow(3));
  EXPECT_TRUE(PollOnce(*first).IsPending());
  EXPECT_TRUE(PollOnce(*second).IsPending());
  EXPECT_TRUE(PollOnce(third, task.NewWaker()).IsPending());
  first.reset();
  second.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(*PollOnce(third), 3);
}

TEST(OnceCell, IfTheMakerFailsTheNextMakesTheValue) {
  OnceCell<int> cell;
  EXPECT_EQ(BlockOn(cell.GetOrTryInit(Fail())).status(),
            absl::AbortedError("no"));
  EXPECT_EQ(cell.Get(), nullptr);
  EXPECT_EQ(BlockOn(cell.GetOrInit(MakeNow(2))), 2);
}

TEST(OnceCell, AnErrorIsReturnedOnlyToItsMaker) {
  OnceCell<int> cell;
  bool gate = false;
  const auto fail = [&gate] {
    return PollFn([&gate](Context&) -> PollResult<absl::StatusOr<int>> {
      if (!gate) return kPending;
      return absl::StatusOr<int>(absl::AbortedError("no"));
    });
  };
  auto first = cell.GetOrTryInit(fail);
  auto second = cell.GetOrInit(MakeNow(2));
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  gate = true;
  EXPECT_EQ(PollOnce(first)->status(), absl::AbortedError("no"));
  EXPECT_EQ(*PollOnce(second), 2);
}

TEST(OnceCell, SetSucceedsOnce) {
  OnceCell<std::unique_ptr<int>> cell;
  EXPECT_TRUE(cell.Set(std::make_unique<int>(1)).ok());
  auto second = std::make_unique<int>(2);
  EXPECT_EQ(cell.Set(std::move(second)).code(),
            absl::StatusCode::kAlreadyExists);
  // NOLINTNEXTLINE(bugprone-use-after-move): it is untouched
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(**cell.Get(), 1);
}

TEST(OnceCell, SetFailsWhileTheValueIsMade) {
  OnceCell<int> cell;
  bool gate = false;
  {
    auto get = cell.GetOrInit(MakeWhenOpen(gate, 1));
    EXPECT_TRUE(PollOnce(get).IsPending());
    EXPECT_EQ(cell.Set(2).code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(cell.Set(2).ok());
}

TEST(OnceCell, TakeOutReturnsTheValue) {
  OnceCell<std::unique_ptr<int>> cell;
  EXPECT_EQ(cell.TakeOut(), std::nullopt);
  EXPECT_TRUE(cell.Set(std::make_unique<int>(1)).ok());
  EXPECT_EQ(**cell.TakeOut(), 1);
  EXPECT_EQ(cell.Get(), nullptr);
  EXPECT_TRUE(cell.Set(std::make_unique<int>(2)).ok());
  EXPECT_EQ(**cell.Get(), 2);
}

// The captures of a coroutine's lambda live as long as the coroutine.
TEST(OnceCell, KeepsTheCallableWhileItsCoroutineRuns) {
  OnceCell<std::string> cell;
  auto get = cell.GetOrInit([name = std::string(40, 'x')]() -> Co<std::string> {
    co_await Ready();
    co_return name;
  });
  auto moved = std::move(get);
  EXPECT_EQ(BlockOn(moved), std::string(40, 'x'));
}

TEST(OnceCell, WorksWithOrReturn) {
  OnceCell<int> cell;
  const auto ask = [&cell]() -> Co<absl::StatusOr<int>> {
    const auto fail = Fail();
    co_return *co_await OrReturn(cell.GetOrTryInit(fail));
  };
  EXPECT_EQ(BlockOn(ask()).status(), absl::AbortedError("no"));
  EXPECT_TRUE(cell.Set(4).ok());
  EXPECT_EQ(*BlockOn(ask()), 4);
}

// Trap C10: tokio #8365.
TEST(OnceCell, AWaiterGivenTheTurnWithoutBudgetKeepsIt) {
  OnceCell<int> cell;
  bool gate = false;
  std::optional first(cell.GetOrInit(MakeWhenOpen(gate, 1)));
  auto second = cell.GetOrInit(MakeNow(2));
  auto third = cell.GetOrInit(MakeNow(3));
  EXPECT_TRUE(PollOnce(*first).IsPending());
  const Waker waker;
  Context cx(waker);
  EXPECT_TRUE(second.Poll(cx).IsPending());
  EXPECT_TRUE(PollOnce(third).IsPending());
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  first.reset();
  EXPECT_TRUE(second.Poll(cx).IsPending());
  EXPECT_TRUE(PollOnce(third).IsPending());
  EXPECT_EQ(*PollOnce(second), 2);
}

TEST(OnceCell, AWaiterWithoutBudgetHasItsPlaceInTheQueue) {
  OnceCell<int> cell;
  CountingWaker task;
  bool gate = false;
  std::optional first(cell.GetOrInit(MakeWhenOpen(gate, 1)));
  auto second = cell.GetOrInit(MakeNow(2));
  auto third = cell.GetOrInit(MakeNow(3));
  EXPECT_TRUE(PollOnce(*first).IsPending());
  const Waker waker = task.NewWaker();
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  EXPECT_TRUE(second.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 0) << "it waits for the first";
  EXPECT_TRUE(PollOnce(third).IsPending());
  first.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(third).IsPending()) << "it is not its turn";
  EXPECT_EQ(*PollOnce(second), 2);
}

TEST(OnceCell, AFirstPollWithoutBudgetTakesNoTurn) {
  OnceCell<int> cell;
  CountingWaker task;
  const Waker waker = task.NewWaker();
  Context cx(waker);
  while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
  auto first = cell.GetOrInit(MakeNow(1));
  EXPECT_TRUE(first.Poll(cx).IsPending());
  EXPECT_EQ(task.wakes(), 1) << "it has yielded";
  EXPECT_EQ(*PollOnce(cell.GetOrInit(MakeNow(2))), 2);
  EXPECT_TRUE(first.Poll(cx).IsPending());
  EXPECT_EQ(*PollOnce(first), 2);
}

TEST(OnceCell, TakesAUnitOfTheBudget) {
  OnceCell<int> cell(1);
  const Waker waker;
  Context cx(waker);
  uint32_t ready = 0;
  while (cell.GetOrInit(MakeNow(2)).Poll(cx).IsReady()) ++ready;
  EXPECT_EQ(ready, kBudgetPerPoll);
}

TEST(OnceCell, ACompleteFutureKeepsNoWaker) {
  OnceCell<int> cell;
  CountingWaker first_task, second_task, other_task;
  bool gate = false;
  auto first = cell.GetOrInit(MakeWhenOpen(gate, 1));
  auto second = cell.GetOrInit(MakeNow(2));
  EXPECT_TRUE(PollOnce(first, first_task.NewWaker()).IsPending());
  EXPECT_EQ(first_task.live(), 0) << "it does not wait";
  EXPECT_TRUE(PollOnce(second, second_task.NewWaker()).IsPending());
  EXPECT_EQ(second_task.live(), 1);
  gate = true;
  EXPECT_TRUE(PollOnce(first).IsReady());
  EXPECT_TRUE(PollOnce(second, other_task.NewWaker()).IsReady());
  EXPECT_EQ(second_task.live(), 0);
  EXPECT_EQ(other_task.live(), 0);
}

TEST(OnceCell, ATraceShowsTheFutureThatMakesTheValue) {
  OnceCell<int> cell;
  bool gate = false;
  auto first = cell.GetOrInit(MakeWhenOpen(gate, 1));
  auto second = cell.GetOrInit(MakeNow(2));
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  AwaitTrace trace;
  trace.Add(first);
  EXPECT_EQ(trace.steps().size(), 2u);
  AwaitTrace other;
  other.Add(second);
  ASSERT_EQ(other.steps().size(), 1u);
  EXPECT_EQ(other.steps()[0].name, "OnceCell::GetOrInit");
}

TEST(OnceCell, ManyThreadsMakeTheValueOnce) {
  OnceCell<int> cell;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cell, i] {
      const int& value = BlockOn(cell.GetOrInit(MakeNow(i)));
      EXPECT_EQ(&value, cell.Get());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(OnceCell, PollingACompleteFuturePanics) {
  OnceCell<int> cell;
  auto get = cell.GetOrInit(MakeNow(1));
  EXPECT_TRUE(PollOnce(get).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(get)),
               "OnceCell::GetOrInit was polled after");
}

TEST(OnceCell, MovingAPolledFuturePanics) {
  OnceCell<int> cell;
  bool gate = false;
  auto get = cell.GetOrInit(MakeWhenOpen(gate, 1));
  EXPECT_TRUE(PollOnce(get).IsPending());
  EXPECT_PANIC(auto moved = std::move(get),
               "OnceCell::GetOrInit was moved after");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(OnceCell, IfTheMakerThrowsTheNextMakesTheValue) {
  OnceCell<int> cell;
  const auto fail = []() -> Co<int> {
    throw 1;
    co_return 1;
  };
  auto first = cell.GetOrInit(fail);
  EXPECT_THROW(static_cast<void>(PollOnce(first)), int);
  EXPECT_EQ(BlockOn(cell.GetOrInit(MakeNow(2))), 2);
}

// A running future may refer to the callable that made it.
TEST(OnceCell, APolledFutureKeepsItsCallable) {
  OnceCell<std::string> cell;
  bool gate = false;
  auto get = cell.GetOrInit([&gate, name = std::string(40, 'x')] {
    return PollFn([&gate, &name](Context&) -> PollResult<std::string> {
      if (!gate) return kPending;
      return name;
    });
  });
  EXPECT_TRUE(PollOnce(get).IsPending());
  EXPECT_PANIC(auto moved = std::move(get),
               "OnceCell::GetOrInit was moved after");
  gate = true;
  EXPECT_EQ(*PollOnce(get),
            std::string(40, 'x'));  // NOLINT(bugprone-use-after-move)
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
