// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/paused_clock.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/yield.h"
#include "rouse/net/unix_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;

using PausedClockTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, PausedClockTest, ::testing::Bool(),
                         &KindOfRuntime);

TEST_P(PausedClockTest, SleepsOnAGivenPausedClock) {
  const std::shared_ptr<Clock> clock = PausedClock();
  absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  std::atomic<bool> started{false};
  // The end is an instant. If the clock advanced before the first poll, a
  // duration would begin at the advanced time.
  const Instant end = clock->Now() + absl::Hours(1);
  auto sleeper = [&started, end]() -> Co<> {
    started = true;
    co_await SleepUntil(end);
  };
  JoinHandle<void> handle = runtime->Spawn(sleeper);
  auto advance = [&]() -> Co<absl::Status> {
    while (!started) co_await Yield();
    for (int i = 0; i < 10; ++i) co_await Yield();
    EXPECT_FALSE(handle.IsFinished());
    clock->Advance(absl::Hours(2));
    co_return co_await handle;
  };
  EXPECT_THAT(runtime->BlockOn(advance), IsOk());
}

// Sleeps a year of hours in no real time, and not a tick more.
TEST_P(PausedClockTest, SleepsOnAnAutoAdvancingClock) {
  const std::shared_ptr<Clock> clock = AutoAdvancingClock();
  absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  const Instant start = clock->Now();
  auto sleeper = []() -> Co<> {
    for (int i = 0; i < 365; ++i) co_await Sleep(absl::Hours(24));
  };
  JoinHandle<void> handle = runtime->Spawn(sleeper);
  EXPECT_THAT(runtime->BlockOn(std::move(handle)), IsOk());
  EXPECT_EQ(clock->Now(), start + 365 * absl::Hours(24));
}

// A main future that has yielded, and is woken before its next poll, does not
// hold the clock for longer than that poll.
TEST_P(PausedClockTest, AClockAdvancesAfterAWakeOfAMainFutureThatHasYielded) {
  const std::shared_ptr<Clock> clock = AutoAdvancingClock();
  absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  const Instant start = clock->Now();
  auto nothing = []() -> Co<> { co_return; };
  auto main = [&]() -> Co<> {
    JoinHandle<void> other = Spawn(nothing);
    auto yield = Yield();
    (void)co_await Join(other, yield);
    co_await Sleep(absl::Hours(1));
  };
  runtime->BlockOn(main());
  EXPECT_EQ(clock->Now(), start + absl::Hours(1));
}

// T20: the clock does not pass work that a main future can still do, when a
// worker wakes the future and then parks.
TEST_P(PausedClockTest, AnAutoAdvancingClockWaitsForTheMainFuture) {
  for (int round = 0; round < 50; ++round) {
    const std::shared_ptr<Clock> clock = AutoAdvancingClock();
    absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
    ASSERT_THAT(runtime, IsOk());
    const Instant start = clock->Now();
    auto day = []() -> Co<> { co_await Sleep(absl::Hours(24)); };
    auto main = [&]() -> Co<Instant> {
      JoinHandle<void> other = Spawn(day);
      co_await Sleep(absl::Hours(1));
      co_return clock->Now();
    };
    ASSERT_EQ(runtime->BlockOn(main()), start + absl::Hours(1));
  }
}

TEST_P(PausedClockTest, AnAutoAdvancingClockWaitsForEachBlockOn) {
  const std::shared_ptr<Clock> clock = AutoAdvancingClock();
  absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  const Instant start = clock->Now();
  std::atomic<bool> started{false};
  std::atomic<bool> polling{false};
  std::thread first([&] {
    auto main = [&]() -> Co<> {
      started = true;
      while (!polling) co_await Yield();
      co_await Sleep(absl::Hours(1));
    };
    runtime->BlockOn(main());
  });
  while (!started) std::this_thread::yield();
  auto main = [&]() -> Co<Instant> {
    polling = true;
    // A long poll.
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    co_return clock->Now();
  };
  EXPECT_EQ(runtime->BlockOn(main()), start);
  first.join();
}

// Sends back each byte, until the stream ends.
Co<> Echo(UnixStream stream) {
  char byte;
  const absl::Span<char> buffer(&byte, 1);
  for (;;) {
    const absl::StatusOr<size_t> size = co_await stream.Read(buffer);
    if (!size.ok() || *size == 0) co_return;
    (void)co_await stream.WriteAll(std::string_view(&byte, 1));
  }
}

// Returns in how many rounds the client of an `Echo()` does not receive its
// byte. The operating system delivers each byte at once, so that no time may
// pass.
Co<int> CountTimeouts() {
  auto [client, server] = UnixStream::Pair().value();
  JoinHandle<void> echo = Spawn(Echo(std::move(server)));
  int timeouts = 0;
  for (int round = 0; round < 8'000; ++round) {
    (void)co_await client.WriteAll("x");
    char byte;
    auto read = client.Read(absl::Span<char>(&byte, 1));
    auto result = co_await Timeout(absl::Milliseconds(1), read);
    if (!result.ok()) {
      ++timeouts;
      result = co_await read;
    }
    EXPECT_THAT(result, IsOkAndHolds(1));
  }
  co_return timeouts;
}

TEST_P(PausedClockTest, AnAutoAdvancingClockWaitsForMessagesOfTheMainFuture) {
  const std::shared_ptr<Clock> clock = AutoAdvancingClock();
  absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  const Instant start = clock->Now();
  EXPECT_EQ(runtime->BlockOn(CountTimeouts()), 0);
  EXPECT_EQ(clock->Now(), start);
}

TEST_P(PausedClockTest, AnAutoAdvancingClockWaitsForMessagesOfATask) {
  const std::shared_ptr<Clock> clock = AutoAdvancingClock();
  absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  const Instant start = clock->Now();
  EXPECT_THAT(runtime->BlockOn(runtime->Spawn(CountTimeouts())),
              IsOkAndHolds(0));
  EXPECT_EQ(clock->Now(), start);
}

// T20: work that a task can still do comes before time passes.
TEST_P(PausedClockTest, AnAutoAdvancingClockWaitsForTheTasks) {
  const std::shared_ptr<Clock> clock = AutoAdvancingClock();
  absl::StatusOr<Runtime> runtime = MakeBuilder().WithClock(clock).Build();
  ASSERT_THAT(runtime, IsOk());
  const Instant start = clock->Now();
  auto sleeper = []() -> Co<> { co_await Sleep(absl::Hours(1)); };
  auto busy = [&clock]() -> Co<Instant> {
    for (int i = 0; i < 1000; ++i) co_await Yield();
    co_return clock->Now();
  };
  auto both = [&]() -> Co<Instant> {
    JoinHandle<void> sleeps = Spawn(sleeper());
    JoinHandle<Instant> works = Spawn(busy);
    const absl::StatusOr<Instant> done = co_await works;
    (void)co_await sleeps;
    co_return *done;
  };
  EXPECT_EQ(runtime->BlockOn(both()), start);
  EXPECT_EQ(clock->Now(), start + absl::Hours(1));
}

}  // namespace
}  // namespace rouse
