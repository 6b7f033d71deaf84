// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole timer beside a thread with a delay. (scheduled_timer_model_test has
// the memory orders and their mutants.)

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

using model::Require;
using model::Task;
using model::Thread;

Instant At(int nanoseconds) { return Instant::FromNanoseconds(nanoseconds); }

PollResult<absl::Status> Poll(Delay& delay, const Waker& waker = Waker()) {
  Context cx(waker);
  return delay.Poll(cx);
}

// A driver that has polled the timer and seen no deadline is woken.
MODEL_TEST(Timer, ADelayWakesTheDriverOrIsSeen) {
  Task driver;
  Timer timer;
  std::optional<Delay> delay;
  Thread making([&] { delay.emplace(timer.handle(), At(10)); });
  const Waker waker = driver.waker();
  Context cx(waker);
  static_cast<void>(timer.Poll(cx));
  const bool seen = timer.NextEvent().has_value();
  making.Join();
  Require(seen || driver.woken());
  timer.AdvanceTo(At(10));
  Require(Poll(*delay).IsReady());
}

MODEL_TEST(Timer, AResetWakesTheDriverOrIsSeen) {
  Task driver;
  Timer timer;
  Delay delay(timer.handle(), At(10));
  Thread resetting([&] { Require(delay.ResetAt(At(5)).ok()); });
  const Waker waker = driver.waker();
  Context cx(waker);
  static_cast<void>(timer.Poll(cx));
  const bool seen = timer.NextEvent() == At(5);
  resetting.Join();
  Require(seen || driver.woken());
}

MODEL_TEST(Timer, AResetRacesWithAnAdvance) {
  Timer timer;
  Delay delay(timer.handle(), At(10));
  Thread resetting([&] {
    Require(delay.ResetAt(At(100)).ok());
    Require(Poll(delay).IsPending());
  });
  timer.AdvanceTo(At(50));
  resetting.Join();
  timer.AdvanceTo(At(99));
  Require(Poll(delay).IsPending());
  timer.AdvanceTo(At(100));
  Require(Poll(delay).IsReady());
}

MODEL_TEST(Timer, ADelayIsDestroyedWhileTheTimerAdvances) {
  Task task;
  Timer timer;
  std::optional<Delay> delay(std::in_place, timer.handle(), At(10));
  Require(Poll(*delay, task.waker()).IsPending());
  timer.AdvanceTo(At(0));
  Thread cancelling([&] { delay.reset(); });
  timer.AdvanceTo(At(10));
  cancelling.Join();
  Require(!timer.NextEvent().has_value());
}

MODEL_TEST(Timer, ADelayIsMadeWhileTheTimerIsDestroyed) {
  Task task;
  std::optional<Timer> timer(std::in_place);
  bool waits = false;
  Thread making([&task, &waits, handle = timer->handle()] {
    Delay delay(handle, At(10));
    waits = Poll(delay, task.waker()).IsPending();
    // Destroyed after the timer, or before.
  });
  timer.reset();
  making.Join();
}

MODEL_TEST(Timer, AResetRacesWithTheTimersDestruction) {
  Task task;
  std::optional<Timer> timer(std::in_place);
  Delay delay(timer->handle(), At(10));
  timer->AdvanceTo(At(10));
  Thread resetting([&] {
    static_cast<void>(delay.ResetAt(At(20)));
    const PollResult<absl::Status> result = Poll(delay, task.waker());
    Require(result.IsPending() || absl::IsUnavailable(*result));
    if (result.IsReady()) task.waker().WakeByRef();
  });
  timer.reset();
  resetting.Join();
  Require(task.woken());
}

}  // namespace
}  // namespace rouse::heap
