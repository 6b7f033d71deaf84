// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/paused_time.h"

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/yield.h"
#include "rouse/net/unix_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

// The parameter says whether the runtime is multi-threaded.
class PausedTimeTest : public testing::TestWithParam<bool> {
 protected:
  static Runtime MakeRuntime() {
    return GetParam() ? PausedRuntime(Builder::MultiThread().WorkerThreads(2))
                      : PausedRuntime();
  }
};

std::string KindOfRuntime(const testing::TestParamInfo<bool>& info) {
  return info.param ? "MultiThread" : "CurrentThread";
}
INSTANTIATE_TEST_SUITE_P(Kinds, PausedTimeTest, ::testing::Bool(),
                         &KindOfRuntime);

TEST_P(PausedTimeTest, TimePassesOnlyWhenAdvanced) {
  Runtime runtime = MakeRuntime();
  auto sleeper = []() -> Co<> { co_await Sleep(absl::Hours(1)); };
  auto test = [&]() -> Co<> {
    const Instant start = Now();
    JoinHandle<void> sleeps = Spawn(sleeper);
    EXPECT_EQ(co_await Advance(absl::ZeroDuration()), absl::ZeroDuration());
    EXPECT_EQ(co_await Advance(absl::Minutes(59)), absl::Minutes(59));
    EXPECT_FALSE(sleeps.IsFinished());
    EXPECT_EQ(co_await Advance(absl::Minutes(1)), absl::Minutes(1));
    EXPECT_TRUE(sleeps.IsFinished());
    EXPECT_EQ(Now(), start + absl::Hours(1));
  };
  runtime.BlockOn(test);
}

Co<> Relay(int hops, std::atomic<bool>& done) {
  for (int i = 0; i < 10; ++i) co_await Yield();
  if (hops == 0) {
    done = true;
    co_return;
  }
  (void)co_await Spawn(Relay(hops - 1, done));
}

TEST_P(PausedTimeTest, AllDueTasksHaveRun) {
  Runtime runtime = MakeRuntime();
  std::atomic<bool> done{false};
  auto body = [&]() -> Co<> {
    co_await Sleep(absl::Seconds(1));
    co_await Relay(50, done);
  };
  auto test = [&]() -> Co<> {
    JoinHandle<void> task = Spawn(body);
    co_await Advance(absl::Milliseconds(999));
    EXPECT_FALSE(done);
    co_await Advance(absl::Milliseconds(1));
    EXPECT_TRUE(done);
    EXPECT_TRUE(task.IsFinished());
  };
  runtime.BlockOn(test);
}

// This holds even if a task makes the step, and the main future runs.
TEST_P(PausedTimeTest, ATaskCanAdvanceTheClock) {
  Runtime runtime = MakeRuntime();
  std::atomic<bool> done{false};
  auto body = [&]() -> Co<> {
    co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(done);
  };
  auto test = [&]() -> Co<> {
    JoinHandle<void> task = Spawn(body);
    co_await Sleep(absl::Seconds(1));
    for (int i = 0; i < 100; ++i) co_await Yield();
    done = true;
    EXPECT_TRUE((co_await task).ok());
  };
  runtime.BlockOn(test);
}

TEST_P(PausedTimeTest, OtherBranchesOfTheSameFutureHaveRun) {
  Runtime runtime = MakeRuntime();
  bool done = false;
  auto advance = [&]() -> Co<> {
    co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(done);
  };
  auto sleeper = [&]() -> Co<> {
    co_await Sleep(absl::Seconds(1));
    for (int i = 0; i < 100; ++i) co_await Yield();
    done = true;
  };
  auto test = [&]() -> Co<> {
    auto first = advance();
    auto second = sleeper();
    co_await Join(first, second);
  };
  runtime.BlockOn(test);
}

TEST_P(PausedTimeTest, EachEarlierDeadlineFiresAtItsTime) {
  Runtime runtime = MakeRuntime();
  std::vector<absl::Duration> times;
  auto body = [&]() -> Co<> {
    const Instant start = Now();
    for (;;) {
      co_await Sleep(absl::Milliseconds(300));
      times.push_back(Now() - start);
    }
  };
  auto test = [&]() -> Co<> {
    const JoinHandle<void> task = Spawn(body);
    co_await Advance(absl::Seconds(1));
    EXPECT_THAT(times,
                ElementsAre(absl::Milliseconds(300), absl::Milliseconds(600),
                            absl::Milliseconds(900)));
    co_await Advance(absl::Seconds(1));
    EXPECT_EQ(times.size(), 6);
  };
  runtime.BlockOn(test);
}

TEST_P(PausedTimeTest, SocketDataHasBeenRead) {
  Runtime runtime = MakeRuntime();
  std::atomic<int> answers{0};
  auto ping = [](UnixStream stream, std::atomic<int>* answers) -> Co<> {
    co_await Sleep(absl::Seconds(1));
    char byte;
    for (int i = 0; i < 100; ++i) {
      (void)co_await stream.WriteAll("x");
      (void)co_await stream.Read(absl::Span<char>(&byte, 1));
      ++*answers;
    }
  };
  auto echo = [](UnixStream stream) -> Co<> {
    char byte;
    for (;;) {
      auto read = stream.Read(absl::Span<char>(&byte, 1));
      const absl::StatusOr<size_t> size = co_await read;
      if (!size.ok() || *size == 0) co_return;
      (void)co_await stream.WriteAll(std::string_view(&byte, 1));
    }
  };
  auto test = [&]() -> Co<> {
    auto [client, server] = UnixStream::Pair().value();
    const JoinHandle<void> first = Spawn(ping(std::move(client), &answers));
    const JoinHandle<void> second = Spawn(echo(std::move(server)));
    co_await Advance(absl::Seconds(1));
    EXPECT_EQ(answers, 100);
  };
  runtime.BlockOn(test);
}

TEST_P(PausedTimeTest, BlockingCallsHaveReturned) {
  Runtime runtime = MakeRuntime();
  std::atomic<bool> done{false};
  auto body = [&]() -> Co<> {
    co_await Sleep(absl::Seconds(1));
    auto call = [] {};
    (void)co_await SpawnBlocking(call);
    done = true;
  };
  auto test = [&]() -> Co<> {
    const JoinHandle<void> task = Spawn(body);
    co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(done);
  };
  runtime.BlockOn(test);
}

// The deadlines are in several levels of the wheel, so the wheel moves entries
// on the way to a deadline.
TEST_P(PausedTimeTest, AdvancesToTheNextDeadline) {
  Runtime runtime = MakeRuntime();
  auto sleep = [](absl::Duration d) -> Co<> { co_await Sleep(d); };
  auto test = [&]() -> Co<> {
    const Instant start = Now();
    EXPECT_EQ(co_await AdvanceToNext(), absl::ZeroDuration());
    std::vector<JoinHandle<void>> tasks;
    for (const absl::Duration d :
         {absl::Milliseconds(5), absl::Milliseconds(777), absl::Hours(7),
          absl::Hours(7), absl::Hours(24 * 365)}) {
      tasks.push_back(Spawn(sleep(d)));
    }
    co_await AdvanceToNext();
    EXPECT_EQ(Now(), start + absl::Milliseconds(5));
    EXPECT_TRUE(tasks[0].IsFinished());
    EXPECT_EQ(co_await AdvanceToNext(), absl::Milliseconds(772));
    EXPECT_TRUE(tasks[1].IsFinished());
    EXPECT_FALSE(tasks[2].IsFinished());
    co_await AdvanceToNext();
    EXPECT_EQ(Now(), start + absl::Hours(7));
    EXPECT_TRUE(tasks[2].IsFinished());
    EXPECT_TRUE(tasks[3].IsFinished());
    EXPECT_FALSE(tasks[4].IsFinished());
    co_await AdvanceToNext();
    EXPECT_EQ(Now(), start + absl::Hours(24 * 365));
    EXPECT_EQ(co_await AdvanceToNext(), absl::ZeroDuration());
  };
  runtime.BlockOn(test);
}

TEST_P(PausedTimeTest, ADroppedStepEnds) {
  Runtime runtime = MakeRuntime();
  auto test = [&]() -> Co<> {
    const Instant start = Now();
    {
      ClockStep step = Advance(absl::Hours(1));
      const Waker waker;
      Context cx(waker);
      EXPECT_TRUE(step.Poll(cx).IsPending());
    }
    EXPECT_EQ(co_await Advance(absl::Seconds(1)), absl::Seconds(1));
    EXPECT_EQ(Now(), start + absl::Seconds(1));
  };
  runtime.BlockOn(test);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(PausedTime, RefusesOtherRuntimes) {
  Runtime runtime = Builder::CurrentThread().Build().value();
  auto test = []() -> Co<> { co_await Advance(absl::Seconds(1)); };
  EXPECT_THROW(runtime.BlockOn(test), PanicError);
}
#endif

}  // namespace
}  // namespace rouse
