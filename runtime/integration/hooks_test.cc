// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the hooks of a runtime.

#include <atomic>
#include <set>
#include <source_location>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::testing::ElementsAre;

// Records the calls, in order.
class Log {
 public:
  // Returns a hook that takes a task.
  auto Adder(std::string what) {
    return [this, what = std::move(what)](const TaskMeta& task) {
      const absl::MutexLock lock(&mu_);
      entries_.push_back(what);
      ids_.insert(task.id);
      names_.insert(std::string(task.name));
      spawned_at_.insert(static_cast<int>(task.spawned_at.line()));
    };
  }
  std::vector<std::string> entries() {
    const absl::MutexLock lock(&mu_);
    return entries_;
  }
  std::set<TaskId> ids() {
    const absl::MutexLock lock(&mu_);
    return ids_;
  }
  std::set<std::string> names() {
    const absl::MutexLock lock(&mu_);
    return names_;
  }
  std::set<int> spawned_at() {
    const absl::MutexLock lock(&mu_);
    return spawned_at_;
  }

 private:
  absl::Mutex mu_;
  std::vector<std::string> entries_ ABSL_GUARDED_BY(mu_);
  std::set<TaskId> ids_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> names_ ABSL_GUARDED_BY(mu_);
  std::set<int> spawned_at_ ABSL_GUARDED_BY(mu_);
};

// Counts, and lets a future wait for a count.
class Count {
 public:
  void Add() {
    ++count_;
    waker_.Wake();
  }
  auto AtLeast(int count) {
    return PollFn([this, count](Context& cx) -> PollResult<void> {
      waker_.Register(cx.waker());
      if (count_ < count) return kPending;
      return {};
    });
  }
  int now() const { return count_; }

 private:
  std::atomic<int> count_{0};
  AtomicWaker waker_;
};

// A hook that spawns a task in each call, up to a number of tasks.
class SpawningHook {
 public:
  explicit SpawningHook(int tasks) : left_(tasks) {}
  auto call() {
    return [this] {
      if (left_.fetch_sub(1) > 0) Spawn(Ran()).Detach();
    };
  }
  // Counts the tasks that have run.
  Count& ran() { return ran_; }

 private:
  Co<> Ran() {
    ran_.Add();
    co_return;
  }

  std::atomic<int> left_;
  Count ran_;
};

Co<> YieldOnce() { co_await Yield(); }

using HooksTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, HooksTest, ::testing::Bool(), &KindOfRuntime);

TEST_P(HooksTest, OfATaskAreCalledInOrder) {
  Log log;
  absl::StatusOr<Runtime> runtime = MakeBuilder()
                                        .OnTaskSpawn(log.Adder("spawn"))
                                        .BeforeTaskPoll(log.Adder("before"))
                                        .AfterTaskPoll(log.Adder("after"))
                                        .OnTaskTerminate(log.Adder("terminate"))
                                        .Build();
  ASSERT_THAT(runtime, IsOk());
  const int line = static_cast<int>(std::source_location::current().line()) + 1;
  JoinHandle<void> handle = runtime->Spawn(YieldOnce(), {.name = "observed"});
  const TaskId id = handle.id();
  EXPECT_THAT(runtime->BlockOn(std::move(handle)), IsOk());
  runtime = absl::UnknownError("gone");
  EXPECT_THAT(log.entries(), ElementsAre("spawn", "before", "after", "before",
                                         "terminate", "after"));
  EXPECT_THAT(log.ids(), ElementsAre(id));
  // The name and the place are known even after the poll that has ended the
  // task.
  EXPECT_THAT(log.names(), ElementsAre("observed"));
  EXPECT_THAT(log.spawned_at(), ElementsAre(line));
}

TEST_P(HooksTest, OnTaskSpawnIsCalledOnTheSpawningThread) {
  std::thread::id spawned_on;
  absl::StatusOr<Runtime> runtime =
      MakeBuilder()
          .OnTaskSpawn([&spawned_on](const TaskMeta&) {
            spawned_on = std::this_thread::get_id();
          })
          .Build();
  ASSERT_THAT(runtime, IsOk());
  runtime->Spawn(YieldOnce()).Detach();
  EXPECT_EQ(spawned_on, std::this_thread::get_id());
}

TEST_P(HooksTest, OnTaskTerminateIsCalledForATaskThatIsAborted) {
  Log log;
  absl::StatusOr<Runtime> runtime =
      MakeBuilder().OnTaskTerminate(log.Adder("terminate")).Build();
  ASSERT_THAT(runtime, IsOk());
  auto never = []() -> Co<> { co_await Sleep(absl::InfiniteDuration()); };
  JoinHandle<void> handle = runtime->Spawn(never);
  handle.Abort();
  EXPECT_THAT(runtime->BlockOn(std::move(handle)),
              absl_testing::StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(log.entries(), ElementsAre("terminate"));
}

TEST_P(HooksTest, OnTaskTerminateIsCalledForATaskThatEndsWithItsRuntime) {
  Log log;
  absl::StatusOr<Runtime> runtime =
      MakeBuilder().OnTaskTerminate(log.Adder("terminate")).Build();
  ASSERT_THAT(runtime, IsOk());
  auto never = []() -> Co<> { co_await Sleep(absl::InfiniteDuration()); };
  runtime->Spawn(never).Detach();
  runtime->BlockOn(YieldOnce());
  runtime = absl::UnknownError("gone");
  EXPECT_THAT(log.entries(), ElementsAre("terminate"));
}

TEST_P(HooksTest, ParksAndUnparksArePaired) {
  Count parks;
  Count unparks;
  absl::StatusOr<Runtime> runtime = MakeBuilder()
                                        .OnThreadPark([&] { parks.Add(); })
                                        .OnThreadUnpark([&] { unparks.Add(); })
                                        .Build();
  ASSERT_THAT(runtime, IsOk());
  runtime->BlockOn(parks.AtLeast(1));
  auto sleep = []() -> Co<> { co_await Sleep(absl::Milliseconds(1)); };
  runtime->BlockOn(sleep);
  runtime = absl::UnknownError("gone");
  EXPECT_EQ(parks.now(), unparks.now());
}

// Tokio #7834, #8212. All tasks come from the hook, and nothing else wakes a
// worker: a task that is left lying makes the test hang.
TEST_P(HooksTest, BeforeParkCanSpawn) {
  constexpr int kTasks = 100;
  SpawningHook hook(kTasks);
  absl::StatusOr<Runtime> runtime =
      MakeBuilder().OnThreadPark(hook.call()).Build();
  ASSERT_THAT(runtime, IsOk());
  runtime->BlockOn(hook.ran().AtLeast(kTasks));
  EXPECT_EQ(hook.ran().now(), kTasks);
}

// Tokio #8222.
TEST_P(HooksTest, BeforeParkCanWakeATask) {
  Count parks;
  absl::StatusOr<Runtime> runtime =
      MakeBuilder().OnThreadPark([&parks] { parks.Add(); }).Build();
  ASSERT_THAT(runtime, IsOk());
  for (int i = 1; i < 20; ++i) {
    JoinHandle<void> task = runtime->Spawn(parks.AtLeast(i));
    ASSERT_THAT(runtime->BlockOn(std::move(task)), IsOk());
  }
}

// Tokio #8222: the main future was polled again and again, and the driver was
// never polled.
TEST_P(HooksTest, BeforeParkCanWakeTheMainFutureBesideATimer) {
  std::atomic<bool> slept{false};
  Count parks;
  absl::StatusOr<Runtime> runtime =
      MakeBuilder().OnThreadPark([&parks] { parks.Add(); }).Build();
  ASSERT_THAT(runtime, IsOk());
  auto sleep = [&slept]() -> Co<> {
    co_await Sleep(absl::Milliseconds(1));
    slept = true;
  };
  runtime->Spawn(sleep).Detach();
  for (;;) {
    const int before = parks.now();
    if (slept) break;
    // A short wait, which ends with the hook's effect.
    runtime->BlockOn(parks.AtLeast(before + 1));
  }
}

TEST_P(HooksTest, AfterUnparkCanSpawn) {
  constexpr int kTasks = 20;
  SpawningHook hook(kTasks);
  absl::StatusOr<Runtime> runtime =
      MakeBuilder().OnThreadUnpark(hook.call()).Build();
  ASSERT_THAT(runtime, IsOk());
  auto main = [&hook]() -> Co<> {
    // Each sleep ends a park.
    while (hook.ran().now() < kTasks) co_await Sleep(absl::Milliseconds(1));
  };
  runtime->BlockOn(main);
  EXPECT_EQ(hook.ran().now(), kTasks);
}

TEST(Hooks, ThreadsStartAndStop) {
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread()
          .WorkerThreads(2)
          .ThreadKeepAlive(absl::InfiniteDuration())
          .OnThreadStart([&] { ++started; })
          .OnThreadStop([&] { ++stopped; })
          .Build();
  ASSERT_THAT(runtime, IsOk());
  EXPECT_THAT(runtime->BlockOn(runtime->SpawnBlocking([] {})), IsOk());
  EXPECT_EQ(stopped, 0);
  runtime = absl::UnknownError("gone");
  EXPECT_EQ(started, 3);
  EXPECT_EQ(stopped, 3);
}

// A worker inside a hook no longer searches: the other worker is woken for a
// task.
TEST(Hooks, AWorkerThatIsAboutToParkDoesNotPreventWakes) {
  for (int round = 0; round < 20; ++round) {
    absl::Notification may_park;
    absl::Notification ran;
    std::atomic<int> parks{0};
    absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                          .WorkerThreads(2)
                                          .OnThreadPark([&] {
                                            if (parks++ == 0)
                                              may_park.WaitForNotification();
                                          })
                                          .Build();
    ASSERT_THAT(runtime, IsOk());
    while (parks < 2) std::this_thread::yield();
    // Leaves time for the other worker to fall asleep.
    absl::SleepFor(absl::Milliseconds(2));
    auto body = [&ran]() -> Co<> {
      ran.Notify();
      co_return;
    };
    runtime->handle().Spawn(body).Detach();
    ran.WaitForNotification();
    may_park.Notify();
  }
}

// A worker that has just been woken does not search either: another worker is
// woken for its task.
TEST(Hooks, AnUnparkedWorkerDoesNotPreventWakes) {
  absl::Notification may_go_on;
  absl::Notification ran;
  std::atomic<int> parks{0};
  std::atomic<int> unparks{0};
  absl::StatusOr<Runtime> runtime = Builder::MultiThread()
                                        .WorkerThreads(2)
                                        .LongPollBound(absl::InfiniteDuration())
                                        .OnThreadPark([&] { ++parks; })
                                        .OnThreadUnpark([&] {
                                          if (unparks++ == 0)
                                            may_go_on.WaitForNotification();
                                        })
                                        .Build();
  ASSERT_THAT(runtime, IsOk());
  while (parks < 2) std::this_thread::yield();
  auto body = [&ran]() -> Co<> {
    ran.Notify();
    co_return;
  };
  runtime->handle().Spawn(body).Detach();
  ran.WaitForNotification();
  may_go_on.Notify();
}

}  // namespace
}  // namespace rouse
