// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/timer_handle.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/timer/heap/default_timer.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

PollResult<absl::Status> Poll(Delay& delay) {
  const Waker waker;
  Context cx(waker);
  return delay.Poll(cx);
}

TEST(TimerHandle, DelaysOfADefunctHandleReturnItsReason) {
  const TimerHandle handle =
      TimerHandle::Defunct(absl::ResourceExhaustedError("no more threads"));
  Delay delay(handle, absl::ZeroDuration());
  const PollResult<absl::Status> result = Poll(delay);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(*result, absl::UnavailableError("no more threads"));
}

TEST(TimerHandle, CopiesReferToTheSameTimer) {
  Timer timer;
  const TimerHandle handle = timer.handle();
  const TimerHandle copy = handle;  // NOLINT(performance-*)
  const Delay delay(copy, Instant());
  EXPECT_EQ(timer.NextEvent(), Instant());
  EXPECT_EQ(&handle.clock(), &timer.clock());
}

TEST(TimerHandle, DoesNotKeepTheTimerAlive) {
  std::optional<Timer> timer(std::in_place);
  const TimerHandle handle = timer->handle();
  timer.reset();
  Delay delay(handle, Instant());
  EXPECT_TRUE(Poll(delay).IsReady());
}

// The default belongs to the whole process, hence a single test.
TEST(TimerHandle, IsSetAsTheDefaultOnce) {
  EXPECT_FALSE(TimerHandle::GlobalFallback().has_value());
  Timer timer;
  EXPECT_TRUE(timer.handle().SetAsGlobalFallback().ok());
  EXPECT_TRUE(TimerHandle::GlobalFallback().has_value());
  const Timer other;
  EXPECT_TRUE(absl::IsAlreadyExists(other.handle().SetAsGlobalFallback()));
  EXPECT_EQ(&DefaultTimer().clock(), &timer.clock());
  const Delay delay(Instant::FromNanoseconds(42));
  EXPECT_EQ(timer.NextEvent(), Instant::FromNanoseconds(42));
}

}  // namespace
}  // namespace rouse::heap
