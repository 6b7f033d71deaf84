// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/timeout.h"

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

// A future that is ready when a value is put into the gate.
class Gate {
 public:
  explicit Gate(std::shared_ptr<PollResult<int>> result)
      : result_(std::move(result)) {}
  PollResult<int> Poll(Context&) { return *result_; }

 private:
  std::shared_ptr<PollResult<int>> result_;
};

static_assert(std::same_as<Timeout<Gate>::Output, absl::StatusOr<int>>);

// A future of a reference, as from a `SetOnce`.
class Seven {
 public:
  static constexpr int kSeven = 7;
  PollResult<const int&> Poll(Context&) { return kSeven; }
};

static_assert(std::same_as<Timeout<Seven>::Output,
                           absl::StatusOr<std::reference_wrapper<const int>>>);

class HeapTimeoutTest : public testing::Test {
 protected:
  HeapTimeoutTest() : clock_(PausedClock()) { timer_.emplace(clock_); }

  Gate gate() const { return Gate(result_); }

  template <class F>
  static PollResult<absl::StatusOr<int>> Poll(F& future,
                                              const Waker& waker = Waker()) {
    Context cx(waker);
    return future.Poll(cx);
  }

  void Advance(int milliseconds) {
    clock_->Advance(absl::Milliseconds(milliseconds));
    timer_->Advance();
  }

  std::shared_ptr<PollResult<int>> result_ =
      std::make_shared<PollResult<int>>(kPending);
  std::shared_ptr<Clock> clock_;
  std::optional<Timer> timer_;
};

TEST_F(HeapTimeoutTest, ReturnsTheResultOfTheFuture) {
  Timeout timeout(timer_->handle(), absl::Milliseconds(10), gate());
  EXPECT_TRUE(Poll(timeout).IsPending());
  *result_ = 7;
  // However late the future is polled.
  Advance(20);
  EXPECT_EQ(**Poll(timeout), 7);
}

TEST_F(HeapTimeoutTest, OfAReferenceReturnsThatReference) {
  Timeout timeout(timer_->handle(), absl::Milliseconds(10), Seven());
  const Waker waker;
  Context cx(waker);
  EXPECT_EQ(&(*timeout.Poll(cx))->get(), &Seven::kSeven);
}

TEST_F(HeapTimeoutTest, ATraceShowsWhatTheFutureWaitsFor) {
  Timeout timeout(timer_->handle(), absl::Seconds(1),
                  Delay(timer_->handle(), absl::Hours(1)));
  const Waker waker;
  Context cx(waker);
  ASSERT_TRUE(timeout.Poll(cx).IsPending());
  AwaitTrace trace;
  trace.Add(timeout);
  EXPECT_EQ(trace.ToString(),
            "awaiting Timeout\n"
            "- awaiting rouse::heap::Delay\n"
            "- awaiting rouse::heap::Delay\n");
}

TEST_F(HeapTimeoutTest, DestroysTheFutureAtTheDeadline) {
  CountingWaker task;
  Timeout timeout(timer_->handle(), absl::Milliseconds(10), gate());
  EXPECT_TRUE(Poll(timeout, task.NewWaker()).IsPending());
  Advance(9);
  EXPECT_TRUE(Poll(timeout, task.NewWaker()).IsPending());
  EXPECT_EQ(result_.use_count(), 2);
  Advance(1);
  EXPECT_EQ(task.wakes(), 1);
  const PollResult<absl::StatusOr<int>> result = Poll(timeout);
  ASSERT_TRUE(result.IsReady());
  EXPECT_TRUE(absl::IsDeadlineExceeded(result->status()));
  EXPECT_EQ(result_.use_count(), 1);
  EXPECT_PANIC(static_cast<void>(Poll(timeout)), "after it expired");
}

// Defect 6 of the seed: time starts when the timeout is made.
TEST_F(HeapTimeoutTest, Defect6TheDurationStartsAtTheFirstPoll) {
  Timeout timeout(timer_->handle(), absl::Milliseconds(10), gate());
  EXPECT_EQ(timer_->NextEvent(), std::nullopt);
  Advance(100);
  EXPECT_TRUE(Poll(timeout).IsPending());
  EXPECT_EQ(timer_->NextEvent(), clock_->Now() + absl::Milliseconds(10));
  Advance(9);
  EXPECT_TRUE(Poll(timeout).IsPending());
  Advance(1);
  EXPECT_TRUE(Poll(timeout).IsReady());
}

// The rest of defect 6: no poll puts the deadline off.
TEST_F(HeapTimeoutTest, Defect6PollsDoNotPostponeTheDeadline) {
  Timeout timeout(timer_->handle(), absl::Milliseconds(10), gate());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Poll(timeout).IsPending());
    Advance(1);
  }
  EXPECT_TRUE(Poll(timeout).IsReady());
}

TEST_F(HeapTimeoutTest, AReadyFutureNeedsNoTimer) {
  *result_ = 7;
  const TimerHandle handle = timer_->handle();
  timer_.reset();
  Timeout timeout(handle, absl::Milliseconds(10), gate());
  EXPECT_EQ(**Poll(timeout), 7);
}

TEST_F(HeapTimeoutTest, IsUnavailableWithoutATimer) {
  Timeout timeout(timer_->handle(), absl::Milliseconds(10), gate());
  EXPECT_TRUE(Poll(timeout).IsPending());
  timer_.reset();
  EXPECT_TRUE(absl::IsUnavailable(Poll(timeout)->status()));
}

TEST_F(HeapTimeoutTest, TimeoutAtEndsAtItsInstant) {
  const Instant deadline = clock_->Now() + absl::Milliseconds(10);
  auto timeout = TimeoutAt(timer_->handle(), deadline, gate());
  Advance(9);
  EXPECT_TRUE(Poll(timeout).IsPending());
  EXPECT_EQ(timer_->NextEvent(), deadline);
  Advance(1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(timeout)->status()));
}

TEST_F(HeapTimeoutTest, KeepsACallable) {
  auto lambda = [this] { return gate(); };
  Timeout timeout(timer_->handle(), absl::Milliseconds(10), lambda);
  EXPECT_TRUE(Poll(timeout).IsPending());
  *result_ = 7;
  EXPECT_EQ(**Poll(timeout), 7);
}

TEST_F(HeapTimeoutTest, DoesNotDestroyAReferencedFuture) {
  Gate kept = gate();
  {
    Timeout timeout(timer_->handle(), absl::ZeroDuration(), kept);
    EXPECT_TRUE(Poll(timeout).IsPending());
    Advance(0);
    EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(timeout)->status()));
  }
  *result_ = 7;
  const Waker waker;
  Context cx(waker);
  EXPECT_EQ(*kept.Poll(cx), 7);
}

TEST_F(HeapTimeoutTest, UsesTheDefaultTimer) {
  ASSERT_TRUE(timer_->handle().SetAsGlobalFallback().ok());
  Timeout timeout(absl::Milliseconds(10), gate());
  auto at = TimeoutAt(clock_->Now() + absl::Milliseconds(10), gate());
  EXPECT_TRUE(Poll(timeout).IsPending());
  EXPECT_TRUE(Poll(at).IsPending());
  Advance(10);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(timeout)->status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(at)->status()));
}

}  // namespace
}  // namespace rouse::heap
