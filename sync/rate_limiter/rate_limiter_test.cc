// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/rate_limiter/rate_limiter.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/testing/poll_once.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

static_assert(Future<RateLimiter::AcquireFuture>);

class RateLimiterTest : public testing::Test {
 protected:
  void Pass(absl::Duration d) {
    driver_.clock().Advance(d);
    driver_.ParkFor(absl::ZeroDuration());
  }

  // Returns how many units can be taken now.
  static int TakeAll(RateLimiter& limiter) {
    int count = 0;
    while (limiter.TryAcquire()) ++count;
    return count;
  }

  wheel::Driver<ThreadParker> driver_{{.clock = PausedClock()}};
  std::optional<wheel::ScopedDefault> current_{driver_.handle()};
};

TEST_F(RateLimiterTest, ABucketIsFullAtFirst) {
  RateLimiter limiter(absl::Milliseconds(10), 3);
  EXPECT_EQ(limiter.burst(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(PollOnce(limiter.Acquire())->ok());
  EXPECT_TRUE(PollOnce(limiter.Acquire()).IsPending());
  EXPECT_FALSE(limiter.TryAcquire());
}

TEST_F(RateLimiterTest, ABucketGetsAUnitEachInterval) {
  RateLimiter limiter(absl::Milliseconds(10), 3);
  EXPECT_EQ(TakeAll(limiter), 3);
  Pass(absl::Milliseconds(9));
  EXPECT_EQ(TakeAll(limiter), 0);
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(TakeAll(limiter), 1);
  Pass(absl::Milliseconds(25));
  EXPECT_EQ(TakeAll(limiter), 2);
  Pass(absl::Milliseconds(5));
  EXPECT_EQ(TakeAll(limiter), 1) << "the half from before counts";
  Pass(absl::Hours(1));
  EXPECT_EQ(TakeAll(limiter), 3) << "no more than the burst";
}

TEST_F(RateLimiterTest, AnAcquireIsWokenWhenTheBucketHasItsUnits) {
  RateLimiter limiter(absl::Milliseconds(10), 5);
  EXPECT_EQ(TakeAll(limiter), 5);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  auto acquire = limiter.Acquire(3);
  EXPECT_TRUE(PollOnce(acquire, waker).IsPending());
  Pass(absl::Milliseconds(29));
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_TRUE(PollOnce(acquire, waker).IsPending());
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(acquire, waker)->ok());
  EXPECT_FALSE(limiter.TryAcquire());
}

TEST_F(RateLimiterTest, ServesWaitersInOrder) {
  RateLimiter limiter(absl::Milliseconds(10), 2);
  EXPECT_EQ(TakeAll(limiter), 2);
  CountingWaker second_task;
  const Waker waker = second_task.NewWaker();
  auto second = limiter.Acquire();
  auto first = limiter.Acquire(2);
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second, waker).IsPending());
  Pass(absl::Milliseconds(15));
  EXPECT_TRUE(PollOnce(second, waker).IsPending()) << "not overtaken";
  EXPECT_FALSE(limiter.TryAcquire()) << "somebody waits";
  Pass(absl::Milliseconds(5));
  EXPECT_TRUE(PollOnce(first)->ok());
  EXPECT_EQ(second_task.wakes(), 1);
  EXPECT_TRUE(PollOnce(second, waker).IsPending());
  Pass(absl::Milliseconds(10));
  EXPECT_EQ(second_task.wakes(), 2);
  EXPECT_TRUE(PollOnce(second, waker)->ok());
}

TEST_F(RateLimiterTest, ACancelledAcquireTakesNothing) {
  RateLimiter limiter(absl::Milliseconds(10), 2);
  EXPECT_EQ(TakeAll(limiter), 2);
  CountingWaker task;
  const Waker waker = task.NewWaker();
  std::optional<RateLimiter::AcquireFuture> first(limiter.Acquire(2));
  std::optional<RateLimiter::AcquireFuture> second(limiter.Acquire());
  auto third = limiter.Acquire();
  EXPECT_TRUE(PollOnce(*first).IsPending());
  EXPECT_TRUE(PollOnce(*second).IsPending());
  EXPECT_TRUE(PollOnce(third, waker).IsPending());
  second.reset();
  Pass(absl::Milliseconds(10));
  EXPECT_EQ(task.wakes(), 0);
  first.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(third, waker)->ok());
  Pass(absl::Milliseconds(20));
  EXPECT_EQ(TakeAll(limiter), 2);
}

// A call takes its units although other calls are in progress.
TEST_F(RateLimiterTest, CallsBesideEachOtherTakeAllUnits) {
  constexpr int kCalls = 20'000;
  RateLimiter limiter(driver_.handle(), absl::Milliseconds(10), 3 * kCalls);
  const auto count_tries = [&limiter](int& taken) {
    for (int i = 0; i < kCalls; ++i) taken += limiter.TryAcquire() ? 1 : 0;
  };
  int here = 0;
  int there = 0;
  int waited_for = 0;
  std::thread other([&] { count_tries(there); });
  std::thread acquiring([&] {
    for (int i = 0; i < kCalls; ++i) {
      waited_for += PollOnce(limiter.Acquire()).IsReady() ? 1 : 0;
    }
  });
  count_tries(here);
  other.join();
  acquiring.join();
  EXPECT_EQ(here, kCalls);
  EXPECT_EQ(there, kCalls);
  EXPECT_EQ(waited_for, kCalls);
  EXPECT_FALSE(limiter.TryAcquire());
}

TEST_F(RateLimiterTest, MoreThanTheBurstIsAnError) {
  RateLimiter limiter(absl::Milliseconds(10), 2);
  EXPECT_FALSE(limiter.TryAcquire(3));
  EXPECT_TRUE(absl::IsInvalidArgument(*PollOnce(limiter.Acquire(3))));
  auto too_many = limiter.Acquire(3);
  EXPECT_TRUE(absl::IsInvalidArgument(*PollOnce(too_many)));
  EXPECT_PANIC(static_cast<void>(PollOnce(too_many)),
               "RateLimiter::Acquire was polled after");
  EXPECT_FALSE(limiter.TryAcquire(std::numeric_limits<size_t>::max()));
  EXPECT_EQ(TakeAll(limiter), 2) << "nothing was taken";
  EXPECT_TRUE(PollOnce(limiter.Acquire(0))->ok());
}

TEST_F(RateLimiterTest, FailsWhenTheDriverShutsDown) {
  RateLimiter limiter(absl::Milliseconds(10), 1);
  EXPECT_EQ(TakeAll(limiter), 1);
  auto first = limiter.Acquire();
  auto second = limiter.Acquire();
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  driver_.Shutdown();
  EXPECT_TRUE(absl::IsUnavailable(*PollOnce(first)));
  EXPECT_TRUE(absl::IsUnavailable(*PollOnce(second)));
}

TEST_F(RateLimiterTest, KeepsItsDriver) {
  RateLimiter given(driver_.handle(), absl::Milliseconds(10), 1);
  RateLimiter limiter(absl::Milliseconds(10), 1);
  EXPECT_TRUE(limiter.TryAcquire());
  current_.reset();
  EXPECT_TRUE(given.TryAcquire());
  auto acquire = limiter.Acquire();
  EXPECT_TRUE(PollOnce(acquire).IsPending());
  Pass(absl::Milliseconds(10));
  EXPECT_TRUE(PollOnce(acquire)->ok());
}

TEST_F(RateLimiterTest, AFutureCanBeMovedBeforeItIsPolled) {
  RateLimiter limiter(absl::Milliseconds(10), 1);
  auto acquire = limiter.Acquire();
  auto moved = std::move(acquire);
  EXPECT_TRUE(PollOnce(moved)->ok());
  EXPECT_PANIC(static_cast<void>(PollOnce(moved)),
               "RateLimiter::Acquire was polled after");
}

TEST_F(RateLimiterTest, AnAcquireWithoutBudgetYields) {
  RateLimiter limiter(absl::Milliseconds(10), 1);
  auto acquire = limiter.Acquire();
  {
    const Waker waker;
    Context cx(waker);
    while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
    EXPECT_TRUE(acquire.Poll(cx).IsPending());
  }
  EXPECT_TRUE(PollOnce(acquire)->ok());
}

TEST_F(RateLimiterTest, RejectsArgumentsOutOfRange) {
  EXPECT_PANIC(RateLimiter(absl::ZeroDuration(), 1), "interval");
  EXPECT_PANIC(RateLimiter(absl::Seconds(-1), 1), "interval");
  EXPECT_PANIC(RateLimiter(absl::InfiniteDuration(), 1), "interval");
  EXPECT_PANIC(RateLimiter(absl::Seconds(1), 0), "burst is 0");
  EXPECT_PANIC(RateLimiter(absl::Hours(24 * 366), 100), "hundred years");
}

TEST_F(RateLimiterTest, ATraceShowsTheSleep) {
  RateLimiter limiter(absl::Milliseconds(10), 1);
  EXPECT_TRUE(limiter.TryAcquire());
  auto first = limiter.Acquire();
  auto second = limiter.Acquire();
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  AwaitTrace trace, other;
  first.Trace(trace);
  EXPECT_NE(trace.ToString().find("Sleep"), std::string::npos);
  second.Trace(other);
  EXPECT_NE(other.ToString().find("lacks 1 of 1 permits"), std::string::npos);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_F(RateLimiterTest, NeedsADriver) {
  current_.reset();
  RateLimiter limiter(absl::Milliseconds(10), 1);
  EXPECT_PANIC(limiter.TryAcquire(), "no timer driver");
  {
    auto acquire = limiter.Acquire();
    EXPECT_PANIC(static_cast<void>(PollOnce(acquire)), "no timer driver");
  }
  current_.emplace(driver_.handle());
  EXPECT_TRUE(limiter.TryAcquire()) << "the turn was given back";
}

TEST_F(RateLimiterTest, AThrowingWakerLosesNoUnit) {
  RateLimiter limiter(absl::Milliseconds(10), 1);
  EXPECT_TRUE(limiter.TryAcquire());
  CountingWaker bad;
  bad.OnWake([] { throw std::runtime_error("no"); });
  const Waker waker = bad.NewWaker();
  auto first = limiter.Acquire();
  auto second = limiter.Acquire();
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second, waker).IsPending());
  Pass(absl::Milliseconds(10));
  EXPECT_TRUE(PollOnce(first)->ok());
  EXPECT_EQ(bad.wakes(), 1);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
