// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/timeout.h"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co.h"
#include "rouse/future/ready.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// A future that is ready when a value is put into the gate.
template <class T>
class Gate {
 public:
  explicit Gate(std::shared_ptr<PollResult<T>> result)
      : result_(std::move(result)) {}
  PollResult<T> Poll(Context&) { return std::move(*result_); }

 private:
  std::shared_ptr<PollResult<T>> result_;
};

template <class T>
std::shared_ptr<PollResult<T>> Closed() {
  return std::make_shared<PollResult<T>>(kPending);
}

template <class T>
using OutputFor = Timeout<Gate<T>>::Output;

static_assert(std::same_as<OutputFor<void>, absl::Status>);
static_assert(std::same_as<OutputFor<absl::Status>, absl::Status>);
static_assert(std::same_as<Timeout<Sleep>::Output, absl::Status>);
static_assert(std::same_as<OutputFor<int>, absl::StatusOr<int>>);
static_assert(
    std::same_as<OutputFor<absl::StatusOr<int>>, absl::StatusOr<int>>);

static_assert(std::same_as<OutputFor<const int&>,
                           absl::StatusOr<std::reference_wrapper<const int>>>);
static_assert(std::same_as<OutputFor<absl::Status&>, absl::Status>);

class TimeoutTest : public testing::Test {
 protected:
  template <class F>
  auto Poll(F& future) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    return future.Poll(cx);
  }

  void Pass(absl::Duration d) {
    driver_.clock().Advance(d);
    driver_.ParkFor(absl::ZeroDuration());
  }

  wheel::Driver<ThreadParker> driver_{{.clock = PausedClock()}};
  wheel::ScopedDefault current_{driver_.handle()};
  CountingWaker task_;
};

TEST_F(TimeoutTest, ATimeoutDiffersFromAnErrorOfTheFuture) {
  Timeout own(absl::Seconds(1), Gate<int>(Closed<int>()));
  ASSERT_TRUE(Poll(own).IsPending());
  Pass(absl::Seconds(1));
  const absl::Status timed_out = Poll(own)->status();
  EXPECT_EQ(timed_out.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(TimedOut(timed_out));

  Timeout other(absl::Seconds(1),
                Ready(absl::DeadlineExceededError("the peer does not answer")));
  EXPECT_FALSE(TimedOut(*Poll(other)));
  EXPECT_FALSE(TimedOut(absl::OkStatus()));
}

// A timeout within another timeout.
TEST_F(TimeoutTest, ATimeoutDiffersFromATimeoutOfTheFuture) {
  const absl::StatusOr<int> inner_error = [this] {
    Timeout inner(absl::Seconds(1), Gate<int>(Closed<int>()));
    EXPECT_TRUE(Poll(inner).IsPending());
    Pass(absl::Seconds(1));
    return *Poll(inner);
  }();
  ASSERT_TRUE(TimedOut(inner_error.status()));
  Timeout outer(absl::Seconds(1), Ready(inner_error));
  const absl::Status status = Poll(outer)->status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(TimedOut(status));
  Timeout of_status(absl::Seconds(1), Ready(inner_error.status()));
  EXPECT_FALSE(TimedOut(*Poll(of_status)));
}

TEST_F(TimeoutTest, ReturnsAResultThatIsReadyInTime) {
  auto gate = Closed<int>();
  Timeout timeout(absl::Seconds(1), Gate<int>(gate));
  ASSERT_TRUE(Poll(timeout).IsPending());
  Pass(absl::Milliseconds(999));
  *gate = 7;
  EXPECT_EQ(**Poll(timeout), 7);
}

TEST_F(TimeoutTest, ATraceShowsWhatTheFutureWaitsFor) {
  Timeout timeout(absl::Seconds(1), Sleep(absl::Hours(1)));
  ASSERT_TRUE(Poll(timeout).IsPending());
  AwaitTrace trace;
  trace.Add(timeout);
  EXPECT_EQ(trace.ToString(),
            "awaiting Timeout\n"
            "- awaiting rouse::Sleep\n"
            "- awaiting rouse::Sleep\n");
}

TEST_F(TimeoutTest, ReturnsDeadlineExceededAtTheDeadline) {
  auto gate = Closed<int>();
  Timeout timeout(absl::Seconds(1), Gate<int>(gate));
  ASSERT_TRUE(Poll(timeout).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(timeout)->status()));
}

TEST_F(TimeoutTest, TakesAResultThatIsReadyAtTheDeadline) {
  auto gate = Closed<int>();
  Timeout timeout(absl::Seconds(1), Gate<int>(gate));
  ASSERT_TRUE(Poll(timeout).IsPending());
  Pass(absl::Seconds(5));
  *gate = 7;
  EXPECT_EQ(**Poll(timeout), 7);
}

TEST_F(TimeoutTest, CancelsTheFutureAtTheDeadline) {
  auto gate = Closed<int>();
  Timeout timeout(absl::Seconds(1), Gate<int>(gate));
  ASSERT_TRUE(Poll(timeout).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_EQ(gate.use_count(), 2);
  ASSERT_TRUE(Poll(timeout).IsReady());
  EXPECT_EQ(gate.use_count(), 1);
}

TEST_F(TimeoutTest, DestroyingTheTimeoutCancelsTheFuture) {
  auto gate = Closed<int>();
  {
    Timeout timeout(absl::Seconds(1), Gate<int>(gate));
    ASSERT_TRUE(Poll(timeout).IsPending());
  }
  EXPECT_EQ(gate.use_count(), 1);
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(TimeoutTest, ATimeoutOfZeroStillPollsOnce) {
  auto open = std::make_shared<PollResult<int>>(7);
  Timeout ready(absl::ZeroDuration(), Gate<int>(open));
  EXPECT_EQ(**Poll(ready), 7);
  Timeout pending(absl::ZeroDuration(), Gate<int>(Closed<int>()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(pending)->status()));
}

TEST_F(TimeoutTest, TheDurationStartsAtTheFirstPoll) {
  Timeout timeout(absl::Seconds(1), Gate<int>(Closed<int>()));
  Pass(absl::Seconds(5));
  EXPECT_TRUE(Poll(timeout).IsPending());
}

TEST_F(TimeoutTest, TimeoutAtEndsAtItsInstant) {
  auto timeout = TimeoutAt(Now() + absl::Seconds(1), Gate<int>(Closed<int>()));
  ASSERT_TRUE(Poll(timeout).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(timeout)->status()));
}

TEST_F(TimeoutTest, TakesASleepWithAnotherDriver) {
  wheel::Driver<ThreadParker> other({.clock = PausedClock()});
  Timeout timeout(Sleep(other.handle(), absl::Seconds(1)),
                  Gate<int>(Closed<int>()));
  ASSERT_TRUE(Poll(timeout).IsPending());
  Pass(absl::Seconds(1));
  ASSERT_TRUE(Poll(timeout).IsPending());
  other.clock().Advance(absl::Seconds(1));
  other.ParkFor(absl::ZeroDuration());
  EXPECT_TRUE(Poll(timeout).IsReady());
}

TEST_F(TimeoutTest, CanBeMovedBeforeItIsPolled) {
  Timeout timeout(absl::Seconds(1), Gate<int>(Closed<int>()));
  Timeout moved = std::move(timeout);
  ASSERT_TRUE(Poll(moved).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_TRUE(Poll(moved).IsReady());
}

TEST_F(TimeoutTest, DoesNotCancelAFutureThatItReferences) {
  auto gate = Closed<int>();
  Gate<int> future(gate);
  {
    Timeout timeout(absl::Seconds(1), future);
    ASSERT_TRUE(Poll(timeout).IsPending());
    Pass(absl::Seconds(1));
    EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(timeout)->status()));
  }
  *gate = 7;
  Timeout again(absl::Seconds(1), future);
  EXPECT_EQ(**Poll(again), 7);
}

TEST_F(TimeoutTest, KeepsACallable) {
  auto gate = Closed<int>();
  auto lambda = [gate]() -> Co<int> { co_return co_await Gate<int>(gate); };
  Timeout timeout(absl::Seconds(1), std::move(lambda));
  ASSERT_TRUE(Poll(timeout).IsPending());
  *gate = 7;
  EXPECT_EQ(**Poll(timeout), 7);

  auto never = [] { return Gate<int>(Closed<int>()); };
  Timeout at = TimeoutAt(driver_.clock().Now() + absl::Seconds(1), never);
  ASSERT_TRUE(Poll(at).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_TRUE(TimedOut(Poll(at)->status()));
}

TEST_F(TimeoutTest, OfVoidReturnsAStatus) {
  auto gate = std::make_shared<PollResult<void>>();
  Timeout timeout(absl::Seconds(1), Gate<void>(gate));
  EXPECT_TRUE(Poll(timeout)->ok());
}

TEST_F(TimeoutTest, OfAStatusReturnsThatStatus) {
  auto gate =
      std::make_shared<PollResult<absl::Status>>(absl::NotFoundError("x"));
  Timeout timeout(absl::Seconds(1), Gate<absl::Status>(gate));
  EXPECT_EQ(*Poll(timeout), absl::NotFoundError("x"));
}

TEST_F(TimeoutTest, OfAStatusOrReturnsThatStatusOr) {
  auto gate = Closed<absl::StatusOr<std::unique_ptr<int>>>();
  *gate = absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(7));
  Timeout timeout(absl::Seconds(1),
                  Gate<absl::StatusOr<std::unique_ptr<int>>>(gate));
  EXPECT_EQ(***Poll(timeout), 7);
}

// The expiry of the time is not a value.
TEST_F(TimeoutTest, OfAStatusOrOfAStatusReturnsAnErrorAtTheDeadline) {
  using Nested = absl::StatusOr<absl::Status>;
  Timeout timeout(absl::ZeroDuration(), Gate<Nested>(Closed<Nested>()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(timeout)->status()));
}

TEST_F(TimeoutTest, OfAReferenceReturnsThatReference) {
  const int seven = 7;
  auto gate = Closed<const int&>();
  Timeout timeout(absl::Seconds(1), Gate<const int&>(gate));
  ASSERT_TRUE(Poll(timeout).IsPending());
  *gate = PollResult<const int&>(seven);
  const auto result = Poll(timeout);
  ASSERT_TRUE(result.IsReady() && result->ok());
  EXPECT_EQ(&(*result)->get(), &seven);
  Timeout pending(absl::ZeroDuration(), Gate<const int&>(Closed<const int&>()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(pending)->status()));
}

Co<int&> Same(int& value) { co_return value; }

TEST_F(TimeoutTest, OfACoroutineOfAReferenceReturnsThatReference) {
  int seven = 7;
  Timeout timeout(absl::Seconds(1), Same(seven));
  EXPECT_EQ(&(*Poll(timeout))->get(), &seven);
}

TEST_F(TimeoutTest, OfASleepReturnsAStatus) {
  Timeout timeout(absl::Seconds(2), Sleep(absl::Seconds(1)));
  ASSERT_TRUE(Poll(timeout).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_TRUE(Poll(timeout)->ok());
}

TEST_F(TimeoutTest, IsNotifiedThatTheDriverIsDestroyed) {
  auto gate = Closed<int>();
  Timeout timeout(absl::Seconds(1), Gate<int>(gate));
  ASSERT_TRUE(Poll(timeout).IsPending());
  driver_.Shutdown();
  EXPECT_TRUE(absl::IsUnavailable(Poll(timeout)->status()));
  EXPECT_EQ(gate.use_count(), 1);
}

TEST_F(TimeoutTest, PollingACompleteTimeoutPanics) {
  Timeout timeout(absl::ZeroDuration(), Gate<int>(Closed<int>()));
  ASSERT_TRUE(Poll(timeout).IsReady());
  EXPECT_PANIC(static_cast<void>(Poll(timeout)), "polled after it expired");
}

// A future that uses up all of the budget whenever it is polled.
class Greedy {
 public:
  PollResult<int> Poll(Context& cx) {
    for (;;) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }
};

// T15: tokio #4314.
TEST_F(TimeoutTest, AFutureThatUsesUpTheBudgetStillTimesOut) {
  Timeout timeout(absl::Seconds(1), Greedy());
  ASSERT_TRUE(Poll(timeout).IsPending());
  ASSERT_TRUE(Poll(timeout).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(timeout)->status()));
}

TEST_F(TimeoutTest, TakesNoBudgetIfNoneIsLeft) {
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  Greedy greedy;
  ASSERT_TRUE(greedy.Poll(cx).IsPending());
  Timeout timeout(absl::ZeroDuration(), Gate<int>(Closed<int>()));
  EXPECT_TRUE(timeout.Poll(cx).IsPending());
}

Co<std::string> Slow() {
  co_await Sleep(absl::Seconds(10));
  co_return "slow";
}

Co<absl::StatusOr<std::string>> SlowWithin(absl::Duration d) {
  co_await Sleep(absl::Seconds(1));
  co_return co_await Timeout(d, Slow());
}

TEST_F(TimeoutTest, WorksInCoroutines) {
  Co<absl::StatusOr<std::string>> enough = SlowWithin(absl::Seconds(11));
  Co<absl::StatusOr<std::string>> too_little = SlowWithin(absl::Seconds(9));
  ASSERT_TRUE(Poll(enough).IsPending());
  ASSERT_TRUE(Poll(too_little).IsPending());
  Pass(absl::Seconds(1));
  ASSERT_TRUE(Poll(enough).IsPending());
  ASSERT_TRUE(Poll(too_little).IsPending());
  Pass(absl::Seconds(9));
  ASSERT_TRUE(Poll(enough).IsPending());
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(too_little)->status()));
  Pass(absl::Seconds(1));
  EXPECT_EQ(**Poll(enough), "slow");
}

}  // namespace
}  // namespace rouse
