// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/helper_thread.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

HelperThread StartOn(std::shared_ptr<Clock> clock) {
  absl::StatusOr<HelperThread> helper = HelperThread::Start(std::move(clock));
  EXPECT_TRUE(helper.ok()) << helper.status();
  return *std::move(helper);
}

TEST(HelperThread, ADelayEndsInRealTime) {
  const auto clock = std::make_shared<Clock>();
  const HelperThread helper = StartOn(clock);
  const Instant start = clock->Now();
  EXPECT_TRUE(BlockOn(Delay(helper.handle(), absl::Milliseconds(2))).ok());
  EXPECT_GE(clock->Now() - start, absl::Milliseconds(2));
}

TEST(HelperThread, ADelayEndsWhenTheClockIsAdvanced) {
  const auto clock = PausedClock();
  const HelperThread helper = StartOn(clock);
  Delay delay(helper.handle(), absl::Hours(1));
  absl::Notification woken;
  const Waker waker = Waker::FromCallable([&] { woken.Notify(); });
  Context cx(waker);
  ASSERT_TRUE(delay.Poll(cx).IsPending());
  clock->Advance(absl::Hours(1));
  woken.WaitForNotification();
  EXPECT_TRUE(BlockOn(delay).ok());
}

TEST(HelperThread, NoticesAResetToAnEarlierDeadline) {
  const HelperThread helper = StartOn(std::make_shared<Clock>());
  Delay delay(helper.handle(), absl::InfiniteDuration());
  EXPECT_TRUE(delay.Reset(absl::Hours(1)).ok());
  EXPECT_TRUE(delay.Reset(absl::Milliseconds(1)).ok());
  EXPECT_TRUE(BlockOn(delay).ok());
}

TEST(HelperThread, DestroyingItMakesItsDelaysUnavailable) {
  std::optional<HelperThread> helper(StartOn(PausedClock()));
  Delay delay(helper->handle(), absl::Hours(1));
  const TimerHandle handle = helper->handle();
  helper.reset();
  EXPECT_TRUE(absl::IsUnavailable(BlockOn(delay)));
  EXPECT_TRUE(absl::IsUnavailable(BlockOn(Delay(handle, absl::Hours(1)))));
}

// The thread is woken both before its first park and in the park.
TEST(HelperThread, EndsAtOnce) {
  for (int i = 0; i < 100; ++i) {
    const HelperThread helper = StartOn(PausedClock());
    if (i % 2 == 0) continue;
    EXPECT_TRUE(BlockOn(Delay(helper.handle(), absl::ZeroDuration())).ok());
  }
}

// The thread would wait forever.
TEST(HelperThread, RefusesAnAutoAdvancingClock) {
  const auto clock = PausedClock();
  clock->SetAutoAdvance(true);
  const absl::Status status = HelperThread::Start(clock).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST(HelperThread, CanBeMoved) {
  const auto clock = PausedClock();
  HelperThread from = StartOn(clock);
  const HelperThread to = std::move(from);
  EXPECT_TRUE(BlockOn(Delay(to.handle(), absl::ZeroDuration())).ok());
}

}  // namespace
}  // namespace rouse::heap
