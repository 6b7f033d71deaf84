// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the examples of docs/guide/timer.md. timer_quotes_test compares that
// page with this file.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/stream.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timeout.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/stream_timeout.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace {

// A slow server.
rouse::Co<std::string> Ask(std::string question) {
  absl::Status waited = co_await rouse::heap::Delay(absl::Hours(1));
  co_return waited.ok() ? question + "!" : waited.ToString();
}

// Heap, with the helper thread.

absl::StatusOr<std::string> AskForAMoment(std::string question) {
  rouse::heap::Timeout answer(absl::Milliseconds(10), Ask(std::move(question)));
  return rouse::BlockOn(answer);
}

TEST(Heap, GivesUpOnAServer) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(AskForAMoment("Why").status()));
}

// Heap, in a loop of your own.

class Loop {
 public:
  rouse::heap::TimerHandle timer() const { return timer_.handle(); }

  // Runs until `task` completes. This loop waits only for time. A real loop
  // waits for its own events, too, and the waker ends that wait.
  template <class Future>
  void Run(Future task) {
    const rouse::ThreadParker::Unparker unparker = parker_.unparker();
    while (true) {
      rouse::Context cx(unparker.waker());  // one per poll: it has a budget
      if (task.Poll(cx).IsReady()) return;
      static_cast<void>(timer_.Poll(cx));  // a new delay wakes this thread
      timer_.Advance();                    // fires expired timers
      const std::optional<rouse::Instant> next = timer_.NextEvent();
      if (next.has_value()) {
        parker_.ParkFor(*next - timer_.clock().Now());
      } else {
        parker_.Park();
      }
    }
  }

 private:
  rouse::heap::Timer timer_;
  rouse::ThreadParker parker_;
};

TEST(Heap, RunsInACustomLoop) {
  Loop loop;
  rouse::heap::Delay delay(loop.timer(), absl::Milliseconds(2));
  const rouse::Instant end = delay.Deadline();
  loop.Run(std::move(delay));
  EXPECT_GE(loop.timer().clock().Now(), end);
}

// Awaits more delays than the budget of one poll allows.
rouse::Co<void> AwaitManyDelays(rouse::heap::TimerHandle timer) {
  for (uint32_t i = 0; i <= rouse::kBudgetPerPoll; ++i) {
    static_cast<void>(co_await rouse::heap::Delay(timer, absl::ZeroDuration()));
  }
}

TEST(Heap, TheLoopGivesEachPollABudget) {
  Loop loop;
  loop.Run(AwaitManyDelays(loop.timer()));
}

// Wheel, in a runtime.

rouse::Co<int> CountUntilQuiet(auto messages) {
  rouse::StreamTimeout timed(absl::Seconds(30), std::move(messages));
  int count = 0;
  while (auto message = co_await rouse::Next(timed)) {
    if (absl::IsDeadlineExceeded(message->status())) break;  // quiet
    ++count;
  }
  co_return count;
}

rouse::Gen<std::string> Messages() {
  co_yield "one";
  co_await rouse::Sleep(absl::Seconds(29));
  co_yield "two";
  co_await rouse::Sleep(absl::Minutes(29));
  co_yield "three";
}

// Wheel, by itself.

class Node {
 public:
  rouse::wheel::Handle timer() const { return driver_.handle(); }

  template <class Future>
  void Run(Future task) {
    const rouse::wheel::ScopedDefault current(driver_.handle());
    const auto unparker = driver_.unparker();
    while (true) {
      rouse::Context cx(unparker.waker());  // one per poll: it has a budget
      if (task.Poll(cx).IsReady()) return;
      driver_.Park();
    }
  }

 private:
  rouse::wheel::Driver<rouse::ThreadParker> driver_{
      {.resolution = absl::Milliseconds(1)}};
};

TEST(Wheel, RunsOnItsOwnThread) {
  Node node;
  const rouse::Instant end = node.timer().clock().Now() + absl::Milliseconds(2);
  node.Run(rouse::Sleep(absl::Milliseconds(2)));
  EXPECT_GE(node.timer().clock().Now(), end);
}

rouse::Co<void> SleepManyTimes() {
  for (uint32_t i = 0; i <= rouse::kBudgetPerPoll; ++i) {
    static_cast<void>(co_await rouse::Sleep(absl::ZeroDuration()));
  }
}

TEST(Wheel, TheLoopGivesEachPollABudget) {
  Node node;
  node.Run(SleepManyTimes());
}

// A test on a paused clock.

TEST(Sessions, AreQuietAfterHalfAMinute) {
  const std::shared_ptr<rouse::Clock> clock = rouse::PausedClock();
  rouse::wheel::Driver<rouse::ThreadParker> driver({.clock = clock});
  const rouse::wheel::ScopedDefault current(driver.handle());
  const rouse::Waker waker;

  rouse::Co<int> count = CountUntilQuiet(Messages());
  std::optional<int> result;
  for (int seconds = 0; !result.has_value(); ++seconds) {
    ASSERT_LE(seconds, 59);  // 29 to the second message, 30 without a third
    rouse::Context cx(waker);
    auto polled = count.Poll(cx);
    if (polled.IsReady()) result = *polled;
    clock->Advance(absl::Seconds(1));      // takes no time
    driver.ParkFor(absl::ZeroDuration());  // fires expired timers
  }
  EXPECT_EQ(result, 2);
}

}  // namespace
