// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/once/set_once.h"

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/future.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

static_assert(Future<SetOnce<int>::WaitFuture>);

// Enough for two batches and a half.
constexpr int kMany = 80;

TEST(SetOnce, HasNoValueUntilItIsSet) {
  SetOnce<int> cell;
  EXPECT_EQ(cell.Get(), nullptr);
  EXPECT_TRUE(cell.Set(5).ok());
  ASSERT_NE(cell.Get(), nullptr);
  EXPECT_EQ(*cell.Get(), 5);
}

constinit SetOnce<int> global;
constinit SetOnce<int> global_with_value(7);

TEST(SetOnce, CanBeAGlobalConstant) {
  EXPECT_EQ(global.Get(), nullptr);
  EXPECT_TRUE(global.Set(1).ok());
  EXPECT_EQ(*global.Get(), 1);
  EXPECT_EQ(*global_with_value.Get(), 7);
}

TEST(SetOnce, CanBeginWithAValue) {
  SetOnce<std::unique_ptr<int>> cell(std::make_unique<int>(1));
  EXPECT_EQ(**cell.Get(), 1);
  EXPECT_EQ(cell.Set(nullptr).code(), absl::StatusCode::kAlreadyExists);
  auto wait = cell.Wait();
  const PollResult<const std::unique_ptr<int>&> value = PollOnce(wait);
  ASSERT_TRUE(value.IsReady());
  EXPECT_EQ(&*value, cell.Get());
}

TEST(SetOnce, IntoInnerReturnsTheValue) {
  SetOnce<std::unique_ptr<int>> cell(std::make_unique<int>(1));
  std::optional<std::unique_ptr<int>> value = std::move(cell).IntoInner();
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(**value, 1);
  EXPECT_EQ(cell.Get(), nullptr);  // NOLINT(bugprone-use-after-move): is empty
  EXPECT_EQ(SetOnce<int>().IntoInner(), std::nullopt);
}

TEST(SetOnce, IsSetOnce) {
  SetOnce<std::unique_ptr<int>> cell;
  EXPECT_TRUE(cell.Set(std::make_unique<int>(1)).ok());
  auto second = std::make_unique<int>(2);
  EXPECT_EQ(cell.Set(std::move(second)).code(),
            absl::StatusCode::kAlreadyExists);
  // NOLINTBEGIN(bugprone-use-after-move): it is untouched
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*second, 2);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(**cell.Get(), 1);
}

TEST(SetOnce, DestroysItsValue) {
  auto value = std::make_shared<int>(1);
  {
    SetOnce<std::shared_ptr<int>> cell;
    EXPECT_TRUE(cell.Set(value).ok());
    EXPECT_EQ(value.use_count(), 2);
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(SetOnce, WakesAllWaiters) {
  SetOnce<int> cell;
  CountingWaker task;
  std::vector<std::unique_ptr<SetOnce<int>::WaitFuture>> waits;
  for (int i = 0; i < kMany; ++i) {
    waits.push_back(std::make_unique<SetOnce<int>::WaitFuture>(cell.Wait()));
    EXPECT_TRUE(PollOnce(*waits.back(), task.NewWaker()).IsPending());
  }
  EXPECT_TRUE(cell.Set(1).ok());
  EXPECT_EQ(task.wakes(), kMany);
  for (auto& wait : waits) EXPECT_EQ(&*PollOnce(*wait), cell.Get());
}

TEST(SetOnce, AWaitForASetCellIsReadyAtOnce) {
  SetOnce<int> cell;
  EXPECT_TRUE(cell.Set(1).ok());
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    EXPECT_TRUE(PollOnce(cell.Wait(), waker).IsReady());
  }
  EXPECT_EQ(task.clones(), 0);
}

TEST(SetOnce, ACancelledWaitIsNotWoken) {
  SetOnce<int> cell;
  CountingWaker task;
  {
    auto wait = cell.Wait();
    EXPECT_TRUE(PollOnce(wait, task.NewWaker()).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  EXPECT_TRUE(cell.Set(1).ok());
  EXPECT_EQ(task.wakes(), 0);
}

TEST(SetOnce, WakersCanUseTheCell) {
  SetOnce<int> cell;
  CountingWaker task;
  task.OnWake([&] {
    EXPECT_TRUE(PollOnce(cell.Wait()).IsReady());
    EXPECT_FALSE(cell.Set(2).ok());
  });
  auto wait = cell.Wait();
  EXPECT_TRUE(PollOnce(wait, task.NewWaker()).IsPending());
  EXPECT_TRUE(cell.Set(1).ok());
  EXPECT_EQ(task.wakes(), 1);
}

TEST(SetOnce, PassesAValueToAnotherThread) {
  SetOnce<int> cell;
  std::thread other([&cell] { EXPECT_EQ(BlockOn(cell.Wait()), 7); });
  EXPECT_TRUE(cell.Set(7).ok());
  other.join();
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(SetOnce, CanBeSetAfterAThrowingConstructor) {
  struct NonNegative {
    explicit NonNegative(int value) {
      if (value < 0) throw value;
    }
  };
  SetOnce<NonNegative> cell;
  EXPECT_THROW(cell.Set(-1).IgnoreError(), int);
  EXPECT_EQ(cell.Get(), nullptr);
  EXPECT_TRUE(cell.Set(1).ok());
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(SetOnce, PollingACompleteWaitPanics) {
  SetOnce<int> cell;
  EXPECT_TRUE(cell.Set(1).ok());
  auto wait = cell.Wait();
  EXPECT_TRUE(PollOnce(wait).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(wait)),
               "SetOnce::Wait was polled after");
}

TEST(SetOnce, MovingAPolledWaitPanics) {
  SetOnce<int> cell;
  auto one = cell.Wait();
  auto two = std::move(one);
  EXPECT_TRUE(PollOnce(two).IsPending());
  EXPECT_PANIC(SetOnce<int>::WaitFuture three(std::move(two)),
               "SetOnce::Wait was moved after");
}

}  // namespace
}  // namespace rouse
