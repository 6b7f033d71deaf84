// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/handle.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task_dump.h"
#include "rouse/scheduler/worker_index.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/sleep.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Lt;

Co<int> Seven() {
  co_await Yield();
  co_return 7;
}

using HandleTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, HandleTest, testing::Bool(), &KindOfRuntime);

TEST_P(HandleTest, BlockOnReturnsTheOutputOnAnyThread) {
  Runtime runtime = MakeRuntime();
  int output = 0;
  std::thread other([handle = runtime.handle(), &output] {
    output = handle.BlockOn(Seven());
  });
  other.join();
  EXPECT_EQ(output, 7);
}

// On a current-thread runtime, `Runtime::BlockOn()` runs these tasks.
TEST_P(HandleTest, BlockOnWaitsForTasksThatOthersRun) {
  Runtime runtime = MakeRuntime();
  absl::Notification joined;
  std::thread other([handle = runtime.handle(), &joined] {
    EXPECT_THAT(handle.BlockOn(handle.Spawn(Seven())), IsOkAndHolds(7));
    joined.Notify();
  });
  auto until_joined = [&joined]() -> Co<> {
    while (!joined.HasBeenNotified()) co_await Yield();
  };
  runtime.BlockOn(until_joined);
  other.join();
}

TEST_P(HandleTest, BlockOnSleepsOnTheRuntimesClock) {
  Runtime runtime = *MakeBuilder().WithClock(AutoAdvancingClock()).Build();
  auto sleep = []() -> Co<bool> {
    const SleepResult slept = co_await Sleep(absl::Hours(1));
    co_return slept.ok();
  };
  // Drives the clock of a current-thread runtime.
  absl::Notification done;
  std::thread other([handle = runtime.handle(), &sleep, &done] {
    EXPECT_TRUE(handle.BlockOn(sleep));
    done.Notify();
  });
  auto until_done = [&done]() -> Co<> {
    while (!done.HasBeenNotified()) {
      (void)co_await Sleep(absl::Seconds(10));
    }
  };
  runtime.BlockOn(until_done);
  other.join();
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_P(HandleTest, BlockOnInsideATaskPanics) {
  Runtime runtime = MakeRuntime();
  auto body = []() -> Co<> {
    EXPECT_PANIC((void)Handle::Current().BlockOn(Seven()),
                 "called inside task");
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
}

#endif

Co<> WaitsForever() { (void)co_await Sleep(absl::InfiniteDuration()); }
Co<> WaitsDeeply() { co_await WaitsForever(); }

// Waits until the task sleeps.
TEST_P(HandleTest, ReturnsTheNameIdAndFlavorOfTheRuntime) {
  absl::StatusOr<Runtime> one = MakeBuilder().Name("front").Build();
  const Runtime other = MakeRuntime();
  ASSERT_THAT(one, IsOk());
  const Handle handle = one->handle();
  EXPECT_EQ(handle.name(), "front");
  EXPECT_EQ(other.handle().name(), "");
  EXPECT_NE(handle.id(), 0u);
  EXPECT_NE(handle.id(), other.handle().id());
  EXPECT_EQ(handle.flavor(), GetParam() ? RuntimeFlavor::kMultiThread
                                        : RuntimeFlavor::kCurrentThread);
  auto id = []() -> Co<RuntimeId> { co_return Handle::Current().id(); };
  EXPECT_THAT(one->BlockOn(one->Spawn(id)), IsOkAndHolds(handle.id()));
  one = absl::UnknownError("gone");
  EXPECT_EQ(handle.name(), "front");
}

TEST_P(HandleTest, WorkerIndexIsThatOfTheCallingWorker) {
  Runtime runtime = MakeRuntime();
  EXPECT_EQ(WorkerIndex(), std::nullopt);
  auto body = []() -> Co<size_t> { co_return WorkerIndex().value_or(99); };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)),
              IsOkAndHolds(Lt(runtime.metrics().workers.size())));
  auto call = [] { return WorkerIndex().has_value(); };
  EXPECT_THAT(runtime.BlockOn(runtime.SpawnBlocking(call)),
              IsOkAndHolds(false));
}

TEST_P(HandleTest, DumpShowsWhereATaskWaits) {
  Runtime runtime = MakeRuntime();
  JoinHandle<void> task = runtime.Spawn(WaitsDeeply(), {.name = "sleeper"});
  TaskDump::Task sleeper;
  auto check = [&]() -> Co<> {
    for (;;) {
      co_await Yield();
      const TaskDump dump = Handle::Current().Dump();
      const auto found = std::find_if(
          dump.tasks().begin(), dump.tasks().end(),
          [&](const TaskDump::Task& t) { return t.id == task.id(); });
      if (found == dump.tasks().end() || found->running) continue;
      if (!found->polled_ago.has_value()) continue;
      sleeper = *found;
      co_return;
    }
  };
  runtime.BlockOn(check);
  EXPECT_EQ(sleeper.name, "sleeper");
  EXPECT_LE(*sleeper.polled_ago, absl::Minutes(1));
  EXPECT_THAT(sleeper.spawned_at.file_name(), HasSubstr("handle_test.cc"));
  EXPECT_THAT(absl::StrCat(sleeper.trace),
              AllOf(HasSubstr("WaitsDeeply"), HasSubstr("WaitsForever"),
                    HasSubstr("handle_test.cc:"), HasSubstr("Sleep")));
}

TEST_P(HandleTest, TimerReturnsTheTimerHandle) {
  Runtime runtime = MakeRuntime();
  EXPECT_EQ(&runtime.handle().timer().clock(), &runtime.handle().clock());
  // The sleep is made where no driver is current.
  Sleep sleep(runtime.handle().timer(), absl::Milliseconds(1));
  auto wait = [&sleep]() -> Co<bool> { co_return (co_await sleep).ok(); };
  EXPECT_TRUE(runtime.BlockOn(wait));
}

TEST_P(HandleTest, DumpLeavesOutCompleteTasks) {
  Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(Seven())), IsOkAndHolds(7));
  EXPECT_TRUE(runtime.handle().Dump().tasks().empty());
}

// Trap S22.
TEST_P(HandleTest, GuardsDestroyedInTheWrongOrderAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Runtime one = MakeRuntime();
  Runtime two = MakeRuntime();
  const auto in_wrong_order = [&] {
    auto first = std::make_unique<EnterGuard>(one.handle());
    const EnterGuard second(two.handle());
    first.reset();
  };
  EXPECT_DEATH(in_wrong_order(), "in reverse order");
}

TEST(Handle, TheCurrentHandleIsThatOfTheRuntimeEnteredLast) {
  Runtime outer = Builder::CurrentThread().Build().value();
  Runtime inner = Builder::CurrentThread().Build().value();
  EXPECT_FALSE(Handle::TryCurrent().has_value());
  {
    const EnterGuard outer_guard = outer.Enter();
    {
      const EnterGuard inner_guard = inner.Enter();
      EXPECT_EQ(&Handle::Current().clock(), &inner.handle().clock());
    }
    EXPECT_EQ(&Handle::Current().clock(), &outer.handle().clock());
  }
  EXPECT_FALSE(Handle::TryCurrent().has_value());
}

TEST(Handle, CurrentWithoutARuntimePanics) {
  EXPECT_PANIC(Handle::Current(),
               "Handle::Current: this thread has no runtime");
}

TEST(Handle, IsPrinted) {
  const Runtime one = Builder::CurrentThread().Name("server").Build().value();
  EXPECT_EQ(absl::StrCat(one.handle()),
            absl::StrCat("runtime ", one.handle().id(),
                         " \"server\" (current-thread)"));
  EXPECT_EQ(absl::StrCat(RuntimeFlavor::kMultiThread), "multi-thread");
}

}  // namespace
}  // namespace rouse
