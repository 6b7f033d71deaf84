// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests a `LocalSet`, a `JoinSet`, a `TaskTracker` and task-locals on either
// kind of runtime.

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/task_local.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task_tracker.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using LocalSetTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, LocalSetTest, testing::Bool(), &KindOfRuntime);

TEST_P(LocalSetTest, TasksSleepAndStayOnTheirThread) {
  Runtime runtime = *MakeBuilder().WithClock(AutoAdvancingClock()).Build();
  const std::thread::id here = std::this_thread::get_id();
  LocalSet set;
  std::vector<int> log;
  auto child = [&](int number) -> Co<bool> {
    const SleepResult slept = co_await Sleep(absl::Seconds(10 - number));
    log.push_back(number);
    co_return slept.ok() && std::this_thread::get_id() == here;
  };
  auto main = [&]() -> Co<bool> {
    JoinSet<bool> tasks;
    for (int i = 0; i < 4; ++i)
      tasks.SpawnOn(set, [&child, i] { return child(i); });
    bool all = true;
    for (;;) {
      const auto joined = co_await tasks.Next();
      if (!joined.has_value()) break;
      all = all && joined->ok() && **joined;
    }
    co_return all;
  };
  EXPECT_TRUE(runtime.BlockOn(set.RunUntil(main)));
  EXPECT_THAT(log, ElementsAre(3, 2, 1, 0));
}

TEST_P(LocalSetTest, TasksSpawnOntoTheRuntime) {
  Runtime runtime = MakeRuntime();
  LocalSet set;
  auto elsewhere = []() -> Co<int> {
    co_await Yield();
    co_return 7;
  };
  auto child = [&]() -> Co<absl::StatusOr<int>> {
    co_return co_await Spawn(elsewhere);
  };
  auto main = [&]() -> Co<absl::StatusOr<int>> {
    co_return co_await SpawnLocal(child);
  };
  EXPECT_THAT(runtime.BlockOn(set.RunUntil(main)), IsOkAndHolds(7));
}

// L6, tokio #7368 and #7372.
class BlockInPlaceInALocalSet : public testing::Test {
 protected:
  // The runtime has a single worker: no other worker could run the awaited
  // task.
  static Runtime MakeRuntime() {
    absl::StatusOr<Runtime> runtime =
        Builder::MultiThread().WorkerThreads(1).Build();
    EXPECT_THAT(runtime, IsOk());
    return *std::move(runtime);
  }

  // Fills a set with a task that waits for a task outside, and with another
  // task.
  void SpawnBoth(LocalSet& set) {
    auto blocks = [this]() -> Co<> {
      BlockInPlace([this] { ran_outside_.WaitForNotification(); });
      log_.push_back(std::this_thread::get_id());
      co_return;
    };
    auto other = [this]() -> Co<> {
      EXPECT_TRUE(ran_outside_.HasBeenNotified());
      log_.push_back(std::this_thread::get_id());
      co_return;
    };
    set.Spawn(blocks).Detach();
    set.Spawn(other).Detach();
  }
  Co<> RunOutside() {
    ran_outside_.Notify();
    co_return;
  }

  absl::Notification ran_outside_;
  std::vector<std::thread::id> log_;
};

TEST_F(BlockInPlaceInALocalSet, DelaysTheSetButNotTheRuntime) {
  Runtime runtime = MakeRuntime();
  LocalSet set;
  SpawnBoth(set);
  runtime.Spawn(RunOutside()).Detach();
  runtime.BlockOn(std::move(set));
  const std::thread::id here = std::this_thread::get_id();
  EXPECT_THAT(log_, ElementsAre(here, here));
}

// The worker moves to another thread, but the poll ends on this thread.
TEST_F(BlockInPlaceInALocalSet, InATaskDelaysTheSetButNotTheWorker) {
  Runtime runtime = MakeRuntime();
  auto body = [this]() -> Co<std::thread::id> {
    LocalSet set;
    SpawnBoth(set);
    Spawn(RunOutside()).Detach();
    co_await set;
    co_return std::this_thread::get_id();
  };
  const absl::StatusOr<std::thread::id> on =
      runtime.BlockOn(runtime.Spawn(body));
  ASSERT_THAT(on, IsOk());
  EXPECT_THAT(log_, ElementsAre(*on, *on));
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(BlockInPlaceInALocalSet, InACurrentThreadRuntimePanics) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, IsOk());
  LocalSet set;
  auto body = []() -> Co<int> { co_return BlockInPlace([] { return 1; }); };
  JoinHandle<int> handle = set.Spawn(body);
  EXPECT_THAT(
      runtime->BlockOn(set.RunUntil(handle)),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("use SpawnBlocking")));
}
#endif

using JoinSetTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, JoinSetTest, testing::Bool(), &KindOfRuntime);

TEST_P(JoinSetTest, HoldsTasksOfARuntimeAndOfAHandle) {
  Runtime runtime = MakeRuntime();
  auto child = [](int number) -> Co<int> { co_return number; };
  auto main = [&]() -> Co<int> {
    JoinSet<int> tasks;
    tasks.SpawnOn(runtime, child(1));
    tasks.SpawnOn(Handle::Current(), child(2));
    tasks.Spawn(child(4));
    auto blocking = [] { return 8; };
    tasks.Insert(SpawnBlocking(blocking));
    int sum = 0;
    for (;;) {
      const auto joined = co_await tasks.Next();
      if (!joined.has_value()) break;
      sum += joined->value_or(0);
    }
    co_return sum;
  };
  EXPECT_EQ(runtime.BlockOn(main), 15);
}

TEST_P(JoinSetTest, OutlivesItsRuntime) {
  JoinSet<int> tasks;
  {
    Runtime runtime = MakeRuntime();
    auto child = []() -> Co<int> {
      co_await Sleep(absl::Hours(1));
      co_return 1;
    };
    tasks.SpawnOn(runtime, child);
  }
  EXPECT_EQ(tasks.TryNext()->status().code(), absl::StatusCode::kCancelled);
}

using TaskTrackerTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, TaskTrackerTest, testing::Bool(),
                         &KindOfRuntime);

TEST_P(TaskTrackerTest, WaitsForTheTasksOfARuntime) {
  Runtime runtime = MakeRuntime();
  const TaskTracker tracker;
  std::vector<int> ends(50);
  auto main = [&]() -> Co<> {
    for (int& end : ends) {
      auto child = [&end]() -> Co<> {
        co_await Yield();
        end = 1;
      };
      tracker.Spawn(child).Detach();
    }
    tracker.Close();
    co_await tracker.Wait();
  };
  runtime.BlockOn(main);
  for (const int end : ends) EXPECT_EQ(end, 1);
}

constinit TaskLocal<int> number("number");

using TaskLocalTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, TaskLocalTest, testing::Bool(), &KindOfRuntime);

TEST_P(TaskLocalTest, ASpawnedTaskHasAValueOnlyIfInherited) {
  Runtime runtime = MakeRuntime();
  auto child = []() -> Co<int> {
    int seen = 0;
    for (int i = 0; i < 3; ++i) {
      co_await Yield();
      const int* const value = number.Get();
      seen = 10 * seen + (value != nullptr ? *value : 0);
    }
    co_return seen;
  };
  auto spawn = [&]() -> Co<absl::StatusOr<int>> {
    auto without = Spawn(child());
    auto with = Spawn(InheritTaskLocals(child));
    number.With([](int& value) { value = 9; });
    const absl::StatusOr<int> first = co_await without;
    const absl::StatusOr<int> second = co_await with;
    co_return *first * 1000 + *second;
  };
  auto main = [&]() -> Co<absl::StatusOr<int>> {
    co_return co_await number.Scope(7, spawn());
  };
  EXPECT_THAT(runtime.BlockOn(main), IsOkAndHolds(777));
}

// The main future of a current-thread runtime is polled between the tasks.
TEST_P(TaskLocalTest, AScopeAroundBlockOnAppliesOnlyToTheMainFuture) {
  Runtime runtime = MakeRuntime();
  auto child = []() -> Co<bool> { co_return number.Get() == nullptr; };
  auto main = [&]() -> Co<bool> {
    const absl::StatusOr<bool> hidden = co_await Spawn(child);
    const int* const value = number.Get();
    co_return hidden.value_or(false) && value != nullptr && *value == 5;
  };
  EXPECT_TRUE(number.SyncScope(5, [&] { return runtime.BlockOn(main); }));
}

// Checks, in its destructor, whether it is in a scope.
class AsksAtItsEnd {
 public:
  explicit AsksAtItsEnd(std::atomic<int>* hidden) : hidden_(hidden) {}
  AsksAtItsEnd(AsksAtItsEnd&& other) noexcept
      : hidden_(std::exchange(other.hidden_, nullptr)) {}
  AsksAtItsEnd& operator=(AsksAtItsEnd&&) = delete;
  ~AsksAtItsEnd() {
    if (hidden_ != nullptr && number.Get() == nullptr) ++*hidden_;
  }
  PollResult<void> Poll(Context&) { return kPending; }

 private:
  std::atomic<int>* hidden_;
};

TEST_P(TaskLocalTest, ATaskIsNotInTheScopeThatDestroysItsRuntime) {
  std::atomic<int> hidden = 0;
  number.SyncScope(5, [&] {
    std::optional<Runtime> runtime(MakeRuntime());
    const Handle handle = runtime->handle();
    handle.Spawn(AsksAtItsEnd(&hidden)).Detach();
    runtime.reset();
    EXPECT_EQ(hidden, 1);
    handle.Spawn(AsksAtItsEnd(&hidden)).Detach();
    EXPECT_EQ(hidden, 2);
  });
}

TEST(TaskLocal, ALocalTaskIsNotInTheScopeThatClosesItsSet) {
  std::atomic<int> hidden = 0;
  number.SyncScope(5, [&] {
    // A task whose end spawns another task, which is refused.
    auto set = std::make_unique<LocalSet>();
    auto at_end = absl::MakeCleanup([closed = set.get(), &hidden] {
      closed->Spawn(AsksAtItsEnd(&hidden)).Detach();
    });
    auto body = [at_end = std::move(at_end)](Context&) -> PollResult<void> {
      return kPending;
    };
    set->Spawn(PollFn(std::move(body))).Detach();
    set.reset();
  });
  EXPECT_EQ(hidden, 1);
}

TEST(JoinSetOfARuntime, ReturnsAllResultsAtOnce) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, absl_testing::IsOk());
  auto body = []() -> Co<std::vector<absl::StatusOr<int>>> {
    JoinSet<int> set;
    auto after = [](int yields) -> Co<int> {
      for (int i = 0; i < yields; ++i) co_await Yield();
      co_return yields;
    };
    for (const int yields : {7, 1, 4}) set.Spawn(after(yields));
    auto aborted = []() -> Co<int> { co_return 9; };
    JoinHandle<int> handle = Spawn(aborted);
    handle.Abort();
    set.Insert(std::move(handle));
    std::vector<absl::StatusOr<int>> results = co_await set.JoinAll();
    EXPECT_TRUE(set.empty());
    // For an empty set, the call is ready at once.
    const auto none = co_await set.JoinAll();
    EXPECT_TRUE(none.empty());
    co_return results;
  };
  EXPECT_THAT(runtime->BlockOn(body()),
              ::testing::ElementsAre(
                  absl_testing::StatusIs(absl::StatusCode::kCancelled),
                  absl_testing::IsOkAndHolds(1), absl_testing::IsOkAndHolds(4),
                  absl_testing::IsOkAndHolds(7)));
}

TEST(JoinSetOfARuntime, TakesBlockingCalls) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, absl_testing::IsOk());
  auto body = []() -> Co<std::vector<absl::StatusOr<int>>> {
    JoinSet<int> set;
    auto call = [] { return 42; };
    set.SpawnBlocking(call);
    set.SpawnBlocking(call);
    co_return co_await set.JoinAll();
  };
  EXPECT_THAT(runtime->BlockOn(body()),
              ::testing::ElementsAre(absl_testing::IsOkAndHolds(42),
                                     absl_testing::IsOkAndHolds(42)));
}

}  // namespace
}  // namespace rouse
