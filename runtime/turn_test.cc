// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// `Runtime::Turn()` and `Runtime::fd()`: a current-thread runtime in the event
// loop of another library, which is a loop around poll(2) here.

#include <poll.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/net/unix_stream.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;

Runtime Make() { return Builder::CurrentThread().Build().value(); }

// Waits until the descriptor is readable, for at most `wait`. Returns whether
// it is.
bool Wait(const Runtime& runtime, absl::Duration wait) {
  int timeout = -1;
  if (wait != absl::InfiniteDuration()) {
    timeout = static_cast<int>(
        absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1))));
  }
  pollfd fds = {runtime.fd(), POLLIN, 0};
  int ready;
  do {
    ready = poll(&fds, 1, timeout);
  } while (ready < 0 && errno == EINTR);
  return ready == 1;
}

bool IsReadable(const Runtime& runtime) {
  return Wait(runtime, absl::ZeroDuration());
}

// Is the loop of another library.
void LoopUntil(Runtime& runtime, absl::FunctionRef<bool()> done) {
  for (;;) {
    const absl::Duration wait = runtime.Turn();
    if (done()) return;
    Wait(runtime, wait);
  }
}

Co<> Count(int& count) {
  ++count;
  co_return;
}

Co<> YieldForever(int& polls) {
  for (;;) {
    ++polls;
    co_await Yield();
  }
}

Co<> Add(oneshot::Receiver<int> number, int& sum) {
  sum += (co_await number).value();
}

Co<> SleepAndCount(absl::Duration duration, int& count) {
  const absl::Status slept = co_await Sleep(duration);
  if (slept.ok()) ++count;
}

TEST(TurnTest, WithoutATaskTheLoopMayWaitForEver) {
  Runtime runtime = Make();
  EXPECT_EQ(runtime.Turn(), absl::InfiniteDuration());
  EXPECT_FALSE(IsReadable(runtime));
}

TEST(TurnTest, RunsTheTasksThatAreReady) {
  Runtime runtime = Make();
  int count = 0;
  for (int i = 0; i < 10; ++i) runtime.Spawn(Count(count)).Detach();
  EXPECT_EQ(count, 0);
  EXPECT_EQ(runtime.Turn(), absl::InfiniteDuration());
  EXPECT_EQ(count, 10);
  EXPECT_EQ(runtime.handle().alive_tasks(), 0u);
}

TEST(TurnTest, RunsTheTasksThatTheseTasksSpawnAndWake) {
  Runtime runtime = Make();
  int sum = 0;
  auto parent = [&]() -> Co<> {
    auto [sender, receiver] = oneshot::Channel<int>();
    JoinHandle<void> joined = Spawn(Add(std::move(receiver), sum));
    co_await Yield();
    sender.Send(7);
    (void)co_await joined;
    sum *= 2;
  };
  runtime.Spawn(std::move(parent)).Detach();
  EXPECT_EQ(runtime.Turn(), absl::InfiniteDuration());
  EXPECT_EQ(sum, 14);
}

TEST(TurnTest, ReturnsTheTimeUntilTheNextDeadline) {
  Runtime runtime = Make();
  int count = 0;
  runtime.Spawn(SleepAndCount(absl::Hours(2), count)).Detach();
  runtime.Spawn(SleepAndCount(absl::Hours(1), count)).Detach();
  const absl::Duration wait = runtime.Turn();
  // Often about an hour, but the wheel can need a call in between: each 4.7
  // hours of the clock, for deadlines behind the next such moment.
  EXPECT_GT(wait, absl::ZeroDuration());
  EXPECT_LE(wait, absl::Hours(1) + absl::Milliseconds(1));
  EXPECT_FALSE(IsReadable(runtime));
  EXPECT_EQ(count, 0);
}

TEST(TurnTest, RunsATaskWhoseDeadlineHasCome) {
  Runtime runtime = Make();
  int count = 0;
  runtime.Spawn(SleepAndCount(absl::Milliseconds(2), count)).Detach();
  LoopUntil(runtime, [&] { return count == 1; });
}

TEST(TurnTest, AClockThatIsMovedEndsTheWait) {
  const auto clock = PausedClock();
  Runtime runtime = Builder::CurrentThread().WithClock(clock).Build().value();
  int count = 0;
  runtime.Spawn(SleepAndCount(absl::Hours(1), count)).Detach();
  EXPECT_EQ(runtime.Turn(), absl::InfiniteDuration());
  EXPECT_FALSE(IsReadable(runtime));
  clock->Advance(absl::Hours(1));
  EXPECT_TRUE(IsReadable(runtime));
  runtime.Turn();
  EXPECT_EQ(count, 1);
}

TEST(TurnTest, AClockThatAutoAdvancesNeedsNoWait) {
  Runtime runtime =
      Builder::CurrentThread().WithClock(AutoAdvancingClock()).Build().value();
  int count = 0;
  auto sleeps = [&]() -> Co<> {
    for (int i = 0; i < 100; ++i) {
      const absl::Status slept = co_await Sleep(absl::Hours(1));
      if (slept.ok()) ++count;
    }
  };
  runtime.Spawn(std::move(sleeps)).Detach();
  for (int turns = 0; count < 100; ++turns) {
    ASSERT_LT(turns, 1000);
    runtime.Turn();
  }
}

// A sleep of a thread that does not run tasks is no task, but its deadline
// comes sooner than the end of the wait.
TEST(TurnTest, AnEarlierDeadlineEndsTheWait) {
  Runtime runtime = Make();
  int count = 0;
  runtime.Spawn(SleepAndCount(absl::Hours(1), count)).Detach();
  const absl::Duration wait = runtime.Turn();
  EXPECT_FALSE(IsReadable(runtime));
  const EnterGuard enter = runtime.Enter();
  Sleep sleep(wait / 2);
  const Waker waker;
  Context cx(waker);
  EXPECT_TRUE(sleep.Poll(cx).IsPending());
  EXPECT_TRUE(IsReadable(runtime));
  EXPECT_LE(runtime.Turn(), wait / 2 + absl::Milliseconds(1));
}

TEST(TurnTest, ATaskSpawnedByTheLoopEndsTheWait) {
  Runtime runtime = Make();
  runtime.Turn();
  int count = 0;
  runtime.Spawn(Count(count)).Detach();
  EXPECT_TRUE(IsReadable(runtime));
  EXPECT_EQ(runtime.Turn(), absl::InfiniteDuration());
  EXPECT_EQ(count, 1);
  EXPECT_FALSE(IsReadable(runtime));
}

TEST(TurnTest, ATaskWokenByAnotherThreadEndsTheWait) {
  Runtime runtime = Make();
  auto [sender, receiver] = oneshot::Channel<std::thread::id>();
  std::optional<absl::StatusOr<std::thread::id>> received;
  std::thread::id ran_on;
  auto task = [&received, &ran_on, id = std::move(receiver)]() mutable -> Co<> {
    received = co_await id;
    ran_on = std::this_thread::get_id();
  };
  runtime.Spawn(std::move(task)).Detach();
  EXPECT_EQ(runtime.Turn(), absl::InfiniteDuration());
  std::thread other([sender = std::move(sender)]() mutable {
    sender.Send(std::this_thread::get_id());
  });
  const std::thread::id id = other.get_id();
  LoopUntil(runtime, [&] { return received.has_value(); });
  EXPECT_THAT(*received, IsOkAndHolds(id));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  other.join();
}

TEST(TurnTest, ABlockingCallEndsTheWait) {
  Runtime runtime = Make();
  std::optional<absl::StatusOr<int>> result;
  auto task = [&]() -> Co<> {
    auto call = SpawnBlocking([] { return 7; });
    result = co_await call;
  };
  runtime.Spawn(std::move(task)).Detach();
  LoopUntil(runtime, [&] { return result.has_value(); });
  EXPECT_THAT(*result, IsOkAndHolds(7));
}

TEST(TurnTest, ASocketEndsTheWait) {
  Runtime runtime = Make();
  const EnterGuard enter = runtime.Enter();
  absl::StatusOr<std::pair<UnixStream, UnixStream>> pair = UnixStream::Pair();
  ASSERT_THAT(pair, IsOk());
  std::string received;
  auto reads = [&received, stream = std::move(pair->first)]() mutable -> Co<> {
    char byte;
    while ((co_await stream.Read({&byte, 1})).value_or(0) == 1) {
      received.push_back(byte);
    }
    received.push_back('.');
  };
  runtime.Spawn(std::move(reads)).Detach();
  while (runtime.Turn() != absl::InfiniteDuration()) {
  }
  EXPECT_FALSE(IsReadable(runtime));
  auto writes = [](UnixStream stream) -> Co<> {
    (void)co_await stream.WriteAll("hello");
  };
  runtime.Spawn(writes(std::move(pair->second))).Detach();
  LoopUntil(runtime, [&] { return received.ends_with('.'); });
  EXPECT_EQ(received, "hello.");
}

// The event interval is 61 polls by default.
TEST(TurnTest, TheLoopHasItsTurn) {
  Runtime runtime = Make();
  int polls = 0;
  runtime.Spawn(YieldForever(polls)).Detach();
  EXPECT_EQ(runtime.Turn(), absl::ZeroDuration());
  EXPECT_GE(polls, static_cast<int>(scheduler::kEventInterval));
  EXPECT_LE(polls, static_cast<int>(scheduler::kEventInterval) + 4);
}

TEST(TurnTest, EventIntervalSaysHowManyTasksATurnPolls) {
  Runtime runtime = Builder::CurrentThread().EventInterval(5).Build().value();
  int polls = 0;
  runtime.Spawn(YieldForever(polls)).Detach();
  EXPECT_EQ(runtime.Turn(), absl::ZeroDuration());
  EXPECT_GE(polls, 5);
  EXPECT_LE(polls, 9);
}

TEST(TurnTest, TheLoopHasItsTurnBetweenManyTasks) {
  Runtime runtime = Make();
  constexpr int kTasks = 10'000;
  Notify let_go;
  int polls = 0;
  auto task = [](Notify& let_go, int& polls) -> Co<> {
    ++polls;
    co_await let_go.Notified();
    ++polls;
  };
  // From outside, and then by a task.
  for (int i = 0; i < kTasks; ++i) runtime.Spawn(task(let_go, polls)).Detach();
  const auto expect_short_turns = [&runtime, &polls] {
    for (bool is_last = false; !is_last;) {
      const int before = polls;
      is_last = runtime.Turn() != absl::ZeroDuration();
      EXPECT_LE(polls - before,
                static_cast<int>(scheduler::kEventInterval) + 4);
    }
  };
  expect_short_turns();
  EXPECT_EQ(polls, kTasks);
  polls = 0;
  runtime
      .Spawn([&let_go]() -> Co<> {
        let_go.NotifyWaiters();
        co_return;
      })
      .Detach();
  expect_short_turns();
  EXPECT_EQ(polls, kTasks);
}

// A turn that finds tasks ready checks for events before they run.
TEST(TurnTest, TasksThatYieldDoNotKeepEventsAway) {
  Runtime runtime = Make();
  int polls = 0;
  int count = 0;
  runtime.Spawn(YieldForever(polls)).Detach();
  runtime.Spawn(SleepAndCount(absl::Milliseconds(2), count)).Detach();
  LoopUntil(runtime, [&] { return count == 1; });
}

TEST(TurnTest, ABlockOnBetweenTwoTurnsRunsTheTasks) {
  Runtime runtime = Make();
  int count = 0;
  runtime.Turn();
  JoinHandle<void> first = runtime.Spawn(Count(count));
  EXPECT_THAT(runtime.BlockOn(std::move(first)), IsOk());
  EXPECT_EQ(count, 1);
  // For a loop that still waits as the turn before has told it.
  EXPECT_TRUE(IsReadable(runtime));
  while (runtime.Turn() != absl::InfiniteDuration()) {
  }
  EXPECT_FALSE(IsReadable(runtime));
  runtime.Spawn(SleepAndCount(absl::Milliseconds(1), count)).Detach();
  LoopUntil(runtime, [&] { return count == 2; });
  EXPECT_THAT(runtime.BlockOn(Sleep(absl::Milliseconds(1))), IsOk());
}

TEST(TurnTest, TasksDoNotRunOnAnotherThreadThatBlocks) {
  Runtime runtime = Make();
  runtime.Turn();
  std::atomic<bool> has_blocked = false;
  std::thread::id ran_on;
  std::thread other([&] {
    auto task = [&ran_on]() -> Co<int> {
      ran_on = std::this_thread::get_id();
      co_return 7;
    };
    EXPECT_THAT(runtime.BlockOn(runtime.Spawn(std::move(task))),
                IsOkAndHolds(7));
    has_blocked = true;
    // Ends the wait.
    runtime.Spawn([]() -> Co<> { co_return; }).Detach();
  });
  LoopUntil(runtime, [&] { return has_blocked.load(); });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  other.join();
}

TEST(TurnTest, TheRuntimeCanBeDestroyedBetweenTwoTurns) {
  int count = 0;
  const auto alive = std::make_shared<int>();
  {
    Runtime runtime = Make();
    auto task = [](std::shared_ptr<int>, int& count) -> Co<> {
      (void)co_await Sleep(absl::Hours(1));
      ++count;
    };
    runtime.Spawn(task(alive, count)).Detach();
    EXPECT_LT(runtime.Turn(), absl::Hours(2));
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(count, 0);
}

TEST(TurnTest, HooksSayWhenTheThreadParks) {
  std::vector<std::string> log;
  Runtime runtime = Builder::CurrentThread()
                        .OnThreadPark([&log] { log.emplace_back("park"); })
                        .OnThreadUnpark([&log] { log.emplace_back("unpark"); })
                        .Build()
                        .value();
  runtime.Turn();
  EXPECT_THAT(log, ::testing::ElementsAre("park"));
  runtime.Turn();
  EXPECT_THAT(log, ::testing::ElementsAre("park", "unpark", "park"));
}

TEST(TurnTest, AMultiThreadRuntimeHasNoTurns) {
  Runtime runtime = Builder::MultiThread().WorkerThreads(1).Build().value();
  EXPECT_PANIC(runtime.Turn(), "use Builder::CurrentThread");
  EXPECT_PANIC((void)runtime.fd(), "use Builder::CurrentThread");
}

TEST(TurnTest, ATaskCannotTakeATurn) {
  Runtime runtime = Make();
  auto turns = [&runtime]() -> Co<> {
    EXPECT_PANIC(runtime.Turn(), "Runtime::Turn was called inside a task");
    co_return;
  };
  runtime.Spawn(std::move(turns)).Detach();
  runtime.Turn();
  auto main = [&runtime]() -> Co<> {
    EXPECT_PANIC(runtime.Turn(), "Runtime::Turn was called inside");
    co_return;
  };
  runtime.BlockOn(std::move(main));
}

TEST(TurnTest, ASecondThreadCannotTakeATurn) {
  Runtime runtime = Make();
  runtime.Turn();
  std::thread other(
      [&] { EXPECT_PANIC(runtime.Turn(), "another thread runs the tasks"); });
  other.join();
  runtime.Turn();
}

TEST(TurnTest, TheFirstTurnIsBeforeOtherThreadsBlock) {
  Runtime runtime = Make();
  absl::Notification blocks;
  auto [sender, receiver] = oneshot::Channel<int>();
  auto wait = [&blocks](oneshot::Receiver<int> number) -> Co<> {
    blocks.Notify();
    (void)co_await number;
  };
  std::thread other([&, number = wait(std::move(receiver))]() mutable {
    runtime.BlockOn(std::move(number));
  });
  blocks.WaitForNotification();
  EXPECT_PANIC(runtime.Turn(), "another thread runs the tasks");
  sender.Send(1);
  other.join();
  runtime.Turn();
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(TurnTest, TheLoopContinuesAfterAWakerThrows) {
  Runtime runtime = Make();
  runtime.Turn();
  const EnterGuard enter = runtime.Enter();
  const Waker throws =
      Waker::FromCallable([] { throw std::runtime_error("thrown"); });
  Sleep sleep(absl::Milliseconds(1));
  Context cx(throws);
  EXPECT_TRUE(sleep.Poll(cx).IsPending());
  std::optional<std::string> caught;
  while (!caught.has_value()) {
    try {
      Wait(runtime, runtime.Turn());
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
  }
  EXPECT_EQ(*caught, "thrown");
  // For a loop that does not call again by itself.
  EXPECT_TRUE(IsReadable(runtime));
  int count = 0;
  runtime.Spawn(Count(count)).Detach();
  EXPECT_EQ(runtime.Turn(), absl::InfiniteDuration());
  EXPECT_FALSE(IsReadable(runtime));
  EXPECT_EQ(count, 1);
}

TEST(TurnTest, AnExceptionThatShutsTheRuntimeDownEndsTheTurn) {
  Runtime runtime =
      Builder::CurrentThread()
          .OnUnhandledException(UnhandledException::kShutdownRuntime)
          .Build()
          .value();
  auto throws = []() -> Co<> {
    throw std::runtime_error("thrown");
    co_return;
  };
  runtime.Spawn(std::move(throws)).Detach();
  EXPECT_PANIC(runtime.Turn(), "Runtime::Turn: ");
  EXPECT_PANIC(runtime.Turn(), "thrown");
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
