// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/test_task.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/ready.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_matchers.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::DescribeMatcher;
using ::testing::ExplainMatchResult;
using ::testing::Not;
using ::testing::Optional;
using ::testing::StringMatchResultListener;

// A future that keeps a waker of its task, and is ready once `is_open` is true.
class Gate {
 public:
  Gate(const bool& is_open, Waker& waker)
      : is_open_(&is_open), waker_(&waker) {}

  PollResult<int> Poll(Context& cx) {
    if (*is_open_) return 7;
    *waker_ = cx.waker().Clone();
    return kPending;
  }

 private:
  const bool* is_open_;
  Waker* waker_;
};

TEST(TestTaskTest, ReportsWhetherTheTaskWasWokenSinceTheLastPoll) {
  bool is_open = false;
  Waker waker;
  TestTask task(Gate(is_open, waker));
  EXPECT_FALSE(task.is_woken());
  EXPECT_THAT(task.Poll(), IsPending());
  EXPECT_EQ(task.wakers(), 1);
  EXPECT_FALSE(task.is_woken());
  waker.WakeByRef();
  EXPECT_TRUE(task.is_woken());
  EXPECT_THAT(task.Poll(), IsPending());
  EXPECT_FALSE(task.is_woken());
  is_open = true;
  std::move(waker).Wake();
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_EQ(task.wakers(), 0);
  EXPECT_THAT(task.Poll(), IsReadyAndHolds(7));
}

TEST(TestTaskTest, PollsACallableThatReturnsACoroutine) {
  auto coroutine = []() -> Co<int> { co_return 7; };
  TestTask task(coroutine);
  EXPECT_THAT(task.Poll(), IsReadyAndHolds(7));
}

TEST(TestTaskTest, PollsAStream) {
  class Countdown {
   public:
    PollResult<std::optional<int>> PollNext(Context&) {
      if (left_ == 0) return std::optional<int>();
      return std::optional<int>(left_--);
    }

   private:
    int left_ = 1;
  };
  TestTask task((Countdown()));
  EXPECT_THAT(task.PollNext(), IsReadyAndHolds(std::optional<int>(1)));
  EXPECT_THAT(task.PollNext(), IsReadyAndHolds(std::nullopt));
}

TEST(TestTaskTest, CancelDestroysTheFuture) {
  auto alive = std::make_shared<int>(0);
  auto coroutine = [alive]() -> Co<> { co_return; };
  TestTask task(std::move(coroutine));
  EXPECT_EQ(alive.use_count(), 2);
  task.Cancel();
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(TestTaskTest, UseAfterCancelPanics) {
  TestTask task(Ready(7));
  task.Cancel();
  EXPECT_PANIC(static_cast<void>(task.Poll()), "after Cancel()");
  EXPECT_PANIC(static_cast<void>(*task), "after Cancel()");
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(task.wakers(), 0);
}

TEST(TestTaskTest, GivesAccessToTheFuture) {
  TestTask task(Ready(7));
  EXPECT_THAT(task->Poll(*std::make_unique<Context>(Waker())), IsReady());
}

TEST(PollMatchersTest, ExplainWhatTheyFound) {
  StringMatchResultListener listener;
  EXPECT_FALSE(ExplainMatchResult(IsPending(), PollResult<int>(7), &listener));
  EXPECT_EQ(listener.str(), "which is ready with the value 7");
  listener.Clear();
  EXPECT_FALSE(
      ExplainMatchResult(IsReady(), PollResult<int>(kPending), &listener));
  EXPECT_EQ(listener.str(), "which is pending");
  listener.Clear();
  EXPECT_FALSE(ExplainMatchResult(IsPending(), PollResult<void>(), &listener));
  EXPECT_EQ(listener.str(), "which is ready");
  listener.Clear();
  EXPECT_FALSE(
      ExplainMatchResult(IsReadyAndHolds(8), PollResult<int>(7), &listener));
  EXPECT_EQ(listener.str(), "which is ready with the value 7");
  listener.Clear();
  EXPECT_FALSE(ExplainMatchResult(IsReadyAndHolds(Optional(8)),
                                  PollResult<std::optional<int>>(std::nullopt),
                                  &listener));
  EXPECT_EQ(listener.str(),
            "which is ready with the value (nullopt), which is not engaged");
}

TEST(PollMatchersTest, DescribeTheExpectedValue) {
  using Result = PollResult<int>;
  EXPECT_EQ(DescribeMatcher<Result>(IsReadyAndHolds(8)),
            "is ready with a value that is equal to 8");
  EXPECT_EQ(DescribeMatcher<Result>(Not(IsReadyAndHolds(8))),
            "is pending, or is ready with a value that isn't equal to 8");
  EXPECT_EQ(DescribeMatcher<Result>(IsPending()), "is pending");
}

TEST(PollMatchersTest, MatchAReference) {
  int value = 7;
  EXPECT_THAT(PollResult<int&>(value), IsReadyAndHolds(7));
  EXPECT_THAT(PollResult<int&>(value), IsReadyAndHolds(testing::Ref(value)));
}

TEST(PollMatchersTest, MatchMoveOnlyValuesAndVoid) {
  EXPECT_THAT(PollResult<void>(), IsReady());
  EXPECT_THAT(PollResult<void>(kPending), IsPending());
  EXPECT_THAT(PollResult<std::unique_ptr<int>>(std::make_unique<int>(7)),
              IsReadyAndHolds(testing::Pointee(7)));
  EXPECT_THAT(PollResult<absl::StatusOr<std::unique_ptr<int>>>(
                  absl::StatusOr<std::unique_ptr<int>>(nullptr)),
              IsReadyAndHolds(absl_testing::IsOkAndHolds(testing::IsNull())));
  EXPECT_THAT(PollResult<int>(7), Not(IsReadyAndHolds(8)));
  EXPECT_THAT(PollResult<int>(kPending), Not(IsReadyAndHolds(8)));
}

}  // namespace
}  // namespace rouse
