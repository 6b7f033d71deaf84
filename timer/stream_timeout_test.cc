// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what is specific to the wheel. heap/stream_timeout_test tests what all
// timeouts of streams share.

#include "rouse/timer/stream_timeout.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Gives an item after each of the durations.
Gen<int> Items(std::vector<absl::Duration> durations) {
  int i = 0;
  for (const absl::Duration duration : durations) {
    co_await Sleep(duration);
    co_yield ++i;
  }
}

class StreamTimeoutTest : public testing::Test {
 protected:
  template <class F>
  auto Poll(F& future) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    return future.Poll(cx);
  }
  template <class S>
  auto PollNext(S& stream) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    return stream.PollNext(cx);
  }

  void Pass(absl::Duration d) {
    driver_.clock().Advance(d);
    driver_.ParkFor(absl::ZeroDuration());
  }

  wheel::Driver<ThreadParker> driver_{{.clock = PausedClock()}};
  wheel::ScopedDefault current_{driver_.handle()};
  CountingWaker task_;
};

// In the result, 0 stands for a timeout, and -1 for another error.
template <class S>
Co<void> TakeAll(S& timed, std::vector<int>& taken) {
  while (auto item = co_await Next(timed)) {
    const bool is_up = absl::IsDeadlineExceeded(item->status());
    taken.push_back(item->ok() ? **item : is_up ? 0 : -1);
  }
}

TEST_F(StreamTimeoutTest, ReportsLateItems) {
  std::vector<int> taken;
  StreamTimeout timed(absl::Seconds(1),
                      Items({absl::Milliseconds(500), absl::Seconds(5),
                             absl::Milliseconds(999), absl::Seconds(2)}));
  Co<void> task = TakeAll(timed, taken);
  while (Poll(task).IsPending()) Pass(absl::Milliseconds(500));
  EXPECT_THAT(taken, ElementsAre(1, 0, 2, 3, 0, 4));
}

// A timeout is not an item.
TEST_F(StreamTimeoutTest, ReportsLateItemsOfAStatusOrOfAStatus) {
  using Nested = absl::StatusOr<absl::Status>;
  struct Late {
    PollResult<std::optional<Nested>> PollNext(Context&) { return kPending; }
  };
  StreamTimeout timed(absl::Seconds(1), Late());
  ASSERT_TRUE(PollNext(timed).IsPending());
  Pass(absl::Seconds(1));
  const std::optional<Nested> item = *PollNext(timed);
  ASSERT_TRUE(item.has_value());
  EXPECT_TRUE(absl::IsDeadlineExceeded(item->status()));
}

TEST_F(StreamTimeoutTest, ATraceShowsWhatTheStreamWaitsFor) {
  StreamTimeout timed(absl::Seconds(1), Items({absl::Hours(1)}));
  ASSERT_TRUE(PollNext(timed).IsPending());
  AwaitTrace trace;
  trace.Add(timed);
  EXPECT_THAT(trace.ToString(), HasSubstr("Items at "));
}

TEST_F(StreamTimeoutTest, RepeatReportsEachPeriod) {
  std::vector<int> taken;
  StreamTimeout timed(absl::Seconds(1), Items({absl::Milliseconds(3500)}),
                      AfterTimeout::kRepeat);
  Co<void> task = TakeAll(timed, taken);
  while (Poll(task).IsPending()) Pass(absl::Milliseconds(500));
  EXPECT_THAT(taken, ElementsAre(0, 0, 0, 1));
}

TEST_F(StreamTimeoutTest, TimeoutAtEndsTheWholeStream) {
  std::vector<int> taken;
  auto timed = StreamTimeoutAt(
      Now() + absl::Milliseconds(2500),
      Items({absl::Seconds(1), absl::Seconds(1), absl::Seconds(1)}));
  Co<void> task = TakeAll(timed, taken);
  while (Poll(task).IsPending()) Pass(absl::Milliseconds(500));
  EXPECT_THAT(taken, ElementsAre(1, 2, 0));
}

TEST_F(StreamTimeoutTest, WakesExactlyAtTheDeadline) {
  StreamTimeout timed(absl::Seconds(1), Items({absl::InfiniteDuration()}));
  ASSERT_TRUE(PollNext(timed).IsPending());
  Pass(absl::Milliseconds(999));
  EXPECT_EQ(task_.wakes(), 0);
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(absl::IsDeadlineExceeded((*PollNext(timed))->status()));
}

TEST_F(StreamTimeoutTest, CanBeMovedBeforeItIsPolled) {
  StreamTimeout from(absl::Seconds(1), Items({absl::InfiniteDuration()}));
  StreamTimeout timed = std::move(from);
  ASSERT_TRUE(PollNext(timed).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded((*PollNext(timed))->status()));
}

TEST_F(StreamTimeoutTest, EndingTheStreamCancelsTheSleep) {
  StreamTimeout timed(absl::Seconds(10), Items({absl::Seconds(1)}));
  ASSERT_TRUE(PollNext(timed).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_EQ(***PollNext(timed), 1);
  EXPECT_FALSE(PollNext(timed)->has_value());
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(StreamTimeoutTest, IsNotifiedThatTheDriverIsDestroyed) {
  wheel::Driver<ThreadParker> other({.clock = PausedClock()});
  StreamTimeout timed(other.handle(), absl::Seconds(1),
                      Items({absl::InfiniteDuration()}));
  ASSERT_TRUE(PollNext(timed).IsPending());
  other.Shutdown();
  EXPECT_TRUE(absl::IsUnavailable((*PollNext(timed))->status()));
  EXPECT_FALSE(PollNext(timed)->has_value());
}

TEST_F(StreamTimeoutTest, UsesTheGivenDriver) {
  wheel::Driver<ThreadParker> other({.clock = PausedClock()});
  auto never = Items({absl::InfiniteDuration()});
  auto at = StreamTimeoutAt(other.handle(),
                            other.clock().Now() + absl::Seconds(1), never);
  ASSERT_TRUE(PollNext(at).IsPending());
  Pass(absl::Seconds(1));
  ASSERT_TRUE(PollNext(at).IsPending());
  other.clock().Advance(absl::Seconds(1));
  other.ParkFor(absl::ZeroDuration());
  EXPECT_TRUE(absl::IsDeadlineExceeded((*PollNext(at))->status()));
}

// A stream that uses up all of the budget whenever it is polled, and has no
// item.
class Greedy {
 public:
  PollResult<std::optional<int>> PollNext(Context& cx) {
    for (;;) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }
};

TEST_F(StreamTimeoutTest, AStreamThatUsesUpTheBudgetStillTimesOut) {
  StreamTimeout timed(absl::Seconds(1), Greedy());
  ASSERT_TRUE(PollNext(timed).IsPending());
  Pass(absl::Seconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded((*PollNext(timed))->status()));
}

// A stream that always has an item, and needs no budget.
class Endless {
 public:
  PollResult<std::optional<int>> PollNext(Context&) {
    return std::optional<int>(1);
  }
};

// Without budget the stream cannot tell whether time is up.
TEST_F(StreamTimeoutTest, TimeoutAtReturnsNoItemWithoutBudget) {
  auto timed = StreamTimeoutAt(Now() + absl::Seconds(1), Endless());
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  uint32_t items = 0;
  while (timed.PollNext(cx).IsReady()) ++items;
  EXPECT_EQ(items, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
  Pass(absl::Seconds(1));
  EXPECT_TRUE(timed.PollNext(cx).IsPending());
  EXPECT_TRUE(absl::IsDeadlineExceeded((*PollNext(timed))->status()));
}

TEST_F(StreamTimeoutTest, TimeoutAtEndsAStreamThatIsAlwaysReady) {
  auto timed = StreamTimeoutAt(Now() + absl::Seconds(1), Endless());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(***PollNext(timed), 1);
  Pass(absl::Seconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded((*PollNext(timed))->status()));
  EXPECT_FALSE(PollNext(timed)->has_value());
}

}  // namespace
}  // namespace rouse
