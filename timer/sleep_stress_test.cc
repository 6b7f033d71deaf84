// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads arm, reset and drop sleeps while another thread drives them, on the
// real clock. No sleep may end early, none may be lost, and no destroyed object
// may be accessed (the sanitizers check this). See stress_time.h for the
// duration.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {
namespace {

using Driver = wheel::Driver<ThreadParker>;

constexpr int kThreads = 16;

// Returns the duration of each of the four tests.
absl::Duration RunTime() { return StressTime(absl::Milliseconds(300), 4); }

// Fewer shards than threads, so that threads contend for them.
wheel::Options Fine() {
  wheel::Options options;
  options.resolution = absl::Microseconds(64);
  options.shards = 5;
  return options;
}

// Parks in a driver until the object is destroyed.
class DriverThread {
 public:
  explicit DriverThread(Driver& driver)
      : driver_(driver), thread_([this] {
          while (!stop_.load(std::memory_order_acquire)) driver_.Park();
        }) {}
  ~DriverThread() {
    stop_.store(true, std::memory_order_release);
    driver_.unparker().Unpark();
    thread_.join();
  }

 private:
  Driver& driver_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// A task that blocks its thread until its waker tells it to poll again.
class Task {
 public:
  PollResult<SleepResult> Poll(Sleep& sleep) {
    Context cx(unparker_.waker());
    return sleep.Poll(cx);
  }
  SleepResult BlockOn(Sleep& sleep) {
    for (;;) {
      PollResult<SleepResult> result = Poll(sleep);
      if (result.IsReady()) return *result;
      parker_.Park();
    }
  }

 private:
  ThreadParker parker_;
  ThreadParker::Unparker unparker_ = parker_.unparker();
};

void RunThreads(const auto& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&body, i] { body(FastRand(i)); });
  }
  for (std::thread& thread : threads) thread.join();
}

bool IsRunning(const Clock& clock, Instant start, absl::Duration run_time) {
  return clock.Now() - start < run_time;
}

// T2: tokio #6682. A sleep that is lost hangs the test.
TEST(SleepStress, EverySleepEndsAndNotEarly) {
  Driver driver(Fine());
  const DriverThread driving(driver);
  Clock& clock = driver.clock();
  const Instant start = clock.Now();
  RunThreads([&](FastRand rand) {
    const wheel::ScopedDefault current(driver.handle());
    Task task;
    while (IsRunning(clock, start, RunTime())) {
      const auto duration = absl::Microseconds(rand.Below(500));
      const Instant before = clock.Now();
      Sleep sleep(duration);
      EXPECT_TRUE(task.BlockOn(sleep).ok());
      EXPECT_GE(clock.Now(), before + duration);
    }
  });
}

// T11: tokio #8252.
TEST(SleepStress, SleepsAreCancelledAndResetWhileTheyFire) {
  Driver driver(Fine());
  const DriverThread driving(driver);
  Clock& clock = driver.clock();
  const Instant start = clock.Now();
  RunThreads([&](FastRand rand) {
    const wheel::ScopedDefault current(driver.handle());
    Task task;
    std::optional<Sleep> sleeps[16];
    while (IsRunning(clock, start, RunTime())) {
      std::optional<Sleep>& sleep = sleeps[rand.Below(16)];
      // Deadlines close to now, so that the driver is often working on these
      // sleeps.
      const auto duration = absl::Microseconds(rand.Below(200));
      if (!sleep.has_value()) {
        sleep.emplace(duration);
      } else if (rand.Below(3) == 0) {
        sleep.reset();
        continue;
      } else {
        sleep->Reset(duration);
      }
      PollResult<SleepResult> result = task.Poll(*sleep);
      if (result.IsReady()) {
        EXPECT_TRUE(result->ok());
        EXPECT_GE(clock.Now(), *sleep->Deadline());
      }
    }
    // A sleep never ends at the old deadline after a reset has returned.
    for (std::optional<Sleep>& sleep : sleeps) {
      if (!sleep.has_value()) continue;
      sleep->Reset(absl::Milliseconds(1));
      EXPECT_TRUE(task.BlockOn(*sleep).ok());
      EXPECT_GE(clock.Now(), *sleep->Deadline());
    }
  });
}

TEST(SleepStress, ASleepMovesBetweenTasksWhileItFires) {
  Driver driver(Fine());
  const DriverThread driving(driver);
  Clock& clock = driver.clock();
  const Instant start = clock.Now();
  RunThreads([&](FastRand rand) {
    Task tasks[2];
    while (IsRunning(clock, start, RunTime())) {
      Sleep sleep(driver.handle(), absl::Microseconds(rand.Below(200)));
      bool ready = false;
      for (uint32_t polls = rand.Below(50); polls > 0 && !ready; --polls) {
        ready = tasks[polls % 2].Poll(sleep).IsReady();
      }
      // The task that polled last is woken.
      if (ready) continue;
      EXPECT_TRUE(tasks[0].BlockOn(sleep).ok());
    }
  });
}

TEST(SleepStress, TheDriverIsDestroyedAmidSleeps) {
  const Clock clock;
  const Instant start = clock.Now();
  while (IsRunning(clock, start, RunTime())) {
    auto driver = std::make_unique<Driver>(Fine());
    const wheel::Handle handle = driver->handle();
    std::thread going([&] {
      {
        const DriverThread driving(*driver);
        const Instant start = handle.clock().Now();
        while (IsRunning(handle.clock(), start, absl::Milliseconds(3))) {
        }
      }
      driver.reset();
    });
    RunThreads([&](FastRand rand) {
      Task task;
      bool gone = false;
      while (!gone) {
        // Some sleeps have ended, others wait and are dropped or shortened.
        auto first = std::make_unique<Sleep>(
            handle, absl::Microseconds(rand.Below(100)));
        Sleep second(handle, absl::Microseconds(rand.Below(100)));
        gone = task.Poll(second).IsReady() && !second.IsElapsed();
        static_cast<void>(task.Poll(*first));
        if (!gone && rand.Below(2) == 0 && !second.IsElapsed()) {
          second.Reset(absl::Microseconds(rand.Below(100)));
        }
        first.reset();
        if (!gone && rand.Below(4) == 0) {
          second.Reset(absl::Microseconds(50));
          gone = !task.BlockOn(second).ok();
        }
      }
      EXPECT_TRUE(handle.IsShutDown());
    });
    going.join();
  }
}

}  // namespace
}  // namespace rouse
