// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests what happens to an exception, wherever in a task it is thrown.

#include <exception>
#include <stdexcept>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/manual_schedule.h"
#include "rouse/testing/internal/task_fixture.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

using TaskExceptionTest = TaskTest;

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(TaskExceptionTest, AnExceptionIsKeptAndReturnedAsAnError) {
  auto body = [this]() -> Co<int> {
    const Tracked tracked(&alive_);
    throw std::runtime_error("oops");
    co_return 0;
  };
  JoinHandle<int> handle = schedule_->Start(body);
  schedule_->RunAll();
  EXPECT_EQ(alive_, 0);
  EXPECT_THAT(PollOnce(handle).value(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("oops")));
  EXPECT_THROW(std::rethrow_exception(handle.exception()), std::runtime_error);
}

TEST_F(TaskExceptionTest, AnExceptionOfAStatusOrOfAStatusIsAnError) {
  auto body = []() -> Co<absl::StatusOr<absl::Status>> {
    throw std::runtime_error("oops");
    co_return absl::OkStatus();
  };
  JoinHandle<absl::StatusOr<absl::Status>> handle = schedule_->Start(body);
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(TaskExceptionTest, AnUntakenExceptionIsDropped) {
  auto body = []() -> Co<int> {
    throw std::runtime_error("oops");
    co_return 0;
  };
  schedule_->Start(body).Detach();
  schedule_->RunAll();
}

// The schedule is notified once, and only at this point.
TEST_F(TaskExceptionTest, AnUntakenExceptionIsUnhandled) {
  auto body = []() -> Co<int> {
    throw std::runtime_error("oops");
    co_return 0;
  };
  JoinHandle<int> taken = schedule_->Start(body);
  schedule_->RunAll();
  (void)PollOnce(taken);
  taken.Detach();
  EXPECT_EQ(schedule_->unhandled(), 0);
  schedule_->Start(body).Detach();
  schedule_->RunAll();
  EXPECT_EQ(schedule_->unhandled(), 1);
  {
    const JoinHandle<int> dropped = schedule_->Start(body);
    schedule_->RunAll();
    EXPECT_EQ(schedule_->unhandled(), 1);
  }
  EXPECT_EQ(schedule_->unhandled(), 2);
  EXPECT_EQ(schedule_->threw(), 3);
}

TEST_F(TaskExceptionTest, TheScheduleIsNotifiedOfAnExceptionFirst) {
  auto body = []() -> Co<int> {
    throw std::runtime_error("oops");
    co_return 0;
  };
  JoinHandle<int> handle = schedule_->Start(body);
  int notified_first = 0;
  const Waker waker =
      Waker::FromCallable([&] { notified_first = schedule_->threw(); });
  Context cx(waker);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  schedule_->RunAll();
  EXPECT_EQ(notified_first, 1);
}

TEST_F(TaskExceptionTest, TheScheduleIsNotNotifiedOfOtherCompletions) {
  open_ = true;
  schedule_->Start(Gate(this)).Detach();
  schedule_->RunAll();
  schedule_->Start(Gate(this)).Abort();
  schedule_->RunAll();
  EXPECT_EQ(schedule_->threw(), 0);
}

// Throws when it is destroyed, if it was polled before.
class ThrowsAtItsEnd {
 public:
  explicit ThrowsAtItsEnd(bool ready) : ready_(ready) {}
  ThrowsAtItsEnd(ThrowsAtItsEnd&& other) noexcept : ready_(other.ready_) {}
  ThrowsAtItsEnd& operator=(ThrowsAtItsEnd&&) = delete;
  ~ThrowsAtItsEnd() noexcept(false) {
    if (polled_) throw std::runtime_error("the end");
  }
  PollResult<int> Poll(Context&) {
    polled_ = true;
    if (ready_) return 7;
    return kPending;
  }

 private:
  bool ready_;
  bool polled_ = false;
};

TEST_F(TaskExceptionTest, AThrowingDestructorOfACompleteFutureIsReported) {
  JoinHandle<int> handle = schedule_->Start(ThrowsAtItsEnd(true));
  schedule_->RunAll();
  EXPECT_EQ(schedule_->threw(), 1);
  EXPECT_THAT(PollOnce(handle).value(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("the end")));
}

TEST_F(TaskExceptionTest, AThrowingDestructorOfACancelledFutureIsReported) {
  JoinHandle<int> handle = schedule_->Start(ThrowsAtItsEnd(false));
  schedule_->RunAll();
  handle.Abort();
  schedule_->RunAll();
  EXPECT_EQ(schedule_->threw(), 1);
  EXPECT_THAT(PollOnce(handle).value(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("the end")));
}

TEST_F(TaskExceptionTest, AThrowingDestructorDuringShutdownIsReported) {
  JoinHandle<int> handle = schedule_->Start(ThrowsAtItsEnd(false));
  schedule_->RunAll();
  schedule_->ShutdownListed();
  EXPECT_EQ(schedule_->threw(), 1);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(TaskExceptionTest, AThrowingJoinWakerLeavesTheTaskComplete) {
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  const Waker waker =
      Waker::FromCallable([] { throw std::runtime_error("no"); });
  Context cx(waker);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  EXPECT_THROW(schedule_->RunAll(), std::runtime_error);
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
}

// A waker whose clone runs all tasks, and throws when it is dropped.
class RunsTasksWhenCloned {
 public:
  explicit RunsTasksWhenCloned(ManualSchedule* schedule)
      : schedule_(schedule) {}
  Waker MakeWaker() { return Waker(RawWaker{this, &kVTable}); }

 private:
  static void DoNothing(void*) {}
  static void ThrowDropped(void*) { throw std::runtime_error("dropped"); }
  static RawWaker CloneAgain(void* data) { return {data, &kCloneVTable}; }
  static RawWaker Clone(void* data) {
    static_cast<RunsTasksWhenCloned*>(data)->schedule_->RunAll();
    return CloneAgain(data);
  }

  static constexpr RawWakerVTable kVTable = {&Clone, &DoNothing, &DoNothing,
                                             &DoNothing};
  static constexpr RawWakerVTable kCloneVTable = {&CloneAgain, &ThrowDropped,
                                                  &DoNothing, &ThrowDropped};

  ManualSchedule* const schedule_;
};

TEST_F(TaskExceptionTest, ALateJoinWakerCanThrowWhenDropped) {
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  RunsTasksWhenCloned runs(schedule_);
  const Waker waker = runs.MakeWaker();
  Context cx(waker);
  EXPECT_THROW(static_cast<void>(handle.Poll(cx)), std::runtime_error);
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
}

TEST_F(TaskExceptionTest, AThrowingCloneLeavesTheOldJoinWaker) {
  static constexpr RawWakerVTable kNoClone = {
      [](void*) -> RawWaker { throw std::runtime_error("no"); },
      [](void*) {},
      [](void*) {},
      [](void*) {},
  };
  open_ = true;
  int alive_wakers = 0;
  int woken = 0;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  {
    const Waker waker = CountedWaker(&alive_wakers, &woken);
    Context cx(waker);
    EXPECT_TRUE(handle.Poll(cx).IsPending());
  }
  const Waker waker(RawWaker{&alive_wakers, &kNoClone});
  Context cx(waker);
  EXPECT_THROW((void)handle.Poll(cx), std::runtime_error);
  EXPECT_EQ(alive_wakers, 1);
  schedule_->RunAll();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(alive_wakers, 0);
}
#endif

}  // namespace
}  // namespace rouse::task
