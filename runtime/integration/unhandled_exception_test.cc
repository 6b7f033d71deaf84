// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the reports of an exception that has ended a task, and their receivers.

#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/base/log_severity.h"
#include "absl/base/thread_annotations.h"
#include "absl/log/scoped_mock_log.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/task_id.h"

namespace rouse {
namespace {

#ifdef ABSL_HAVE_EXCEPTIONS

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

using UnhandledExceptionTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, UnhandledExceptionTest, ::testing::Bool(),
                         &KindOfRuntime);

Co<int> Throws() {
  co_await Yield();
  throw std::runtime_error("broken");
}

// Captures the lines that are logged as errors while the object exists.
class ErrorLog {
 public:
  ErrorLog() : log_(absl::MockLogDefault::kIgnoreUnexpected) {
    EXPECT_CALL(log_, Log(absl::LogSeverity::kError, _, _))
        .WillRepeatedly([this](absl::LogSeverity, const std::string&,
                               const std::string& line) {
          const absl::MutexLock lock(&mu_);
          lines_.push_back(line);
        });
    log_.StartCapturingLogs();
  }

  std::vector<std::string> lines() const {
    const absl::MutexLock lock(&mu_);
    return lines_;
  }

  // Waits until there are `count` lines, from any threads.
  std::vector<std::string> WaitFor(size_t count) const {
    const absl::MutexLock lock(&mu_);
    const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return lines_.size() >= count;
    };
    mu_.Await(absl::Condition(&enough));
    return lines_;
  }

 private:
  mutable absl::Mutex mu_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mu_);
  absl::ScopedMockLog log_;
};

// Lets the tasks run until the task of `handle` has ended, without taking the
// task's result.
template <class T>
void AwaitEnd(Runtime& runtime, JoinHandle<T>& handle) {
  auto wait = [&handle]() -> Co<> {
    while (!handle.IsFinished()) co_await Sleep(absl::Milliseconds(1));
  };
  runtime.BlockOn(wait());
}

TEST_P(UnhandledExceptionTest, OfADetachedTaskIsLoggedOnce) {
  const ErrorLog log;
  TaskId id = 0;
  const int line = static_cast<int>(std::source_location::current().line()) + 4;
  {
    Runtime runtime = MakeRuntime();
    {
      JoinHandle<int> task = runtime.Spawn(Throws(), {.name = "fragile"});
      id = task.id();
      task.Detach();
    }
    auto until_alone = [&runtime]() -> Co<> {
      while (runtime.handle().alive_tasks() > 0) {
        co_await Sleep(absl::Milliseconds(1));
      }
    };
    runtime.BlockOn(until_alone());
  }
  EXPECT_THAT(
      log.lines(),
      ElementsAre(AllOf(
          HasSubstr(absl::StrCat("task ", id, " \"fragile\" (spawned at ")),
          HasSubstr(absl::StrCat("unhandled_exception_test.cc:", line, ")")),
          HasSubstr("ended with an exception: broken"))));
}

TEST_P(UnhandledExceptionTest, IsNotLoggedIfTaken) {
  const ErrorLog log;
  {
    Runtime runtime = MakeRuntime();
    JoinHandle<int> task = runtime.Spawn(Throws());
    EXPECT_THAT(runtime.BlockOn(std::move(task)),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("broken")));
  }
  EXPECT_THAT(log.lines(), IsEmpty());
}

TEST_P(UnhandledExceptionTest, IsLoggedWhenAnUnjoinedHandleIsDestroyed) {
  const ErrorLog log;
  Runtime runtime = MakeRuntime();
  {
    JoinHandle<int> task = runtime.Spawn(Throws());
    AwaitEnd(runtime, task);
    // The task may yet be awaited.
    EXPECT_THAT(log.lines(), IsEmpty());
  }
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("broken")));
}

TEST_P(UnhandledExceptionTest, IsLoggedByAHandleThatOutlivesTheRuntime) {
  const ErrorLog log;
  std::optional<JoinHandle<int>> task;
  {
    Runtime runtime = MakeRuntime();
    task.emplace(runtime.Spawn(Throws()));
    AwaitEnd(runtime, *task);
  }
  EXPECT_THAT(log.lines(), IsEmpty());
  task.reset();
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("broken")));
}

TEST_P(UnhandledExceptionTest, IsLoggedIfAJoinSetDropsIt) {
  const ErrorLog log;
  Runtime runtime = MakeRuntime();
  auto body = [&runtime, &log]() -> Co<> {
    JoinSet<int> taken;
    taken.SpawnOn(runtime, Throws());
    (void)co_await taken.Next();
    EXPECT_THAT(log.lines(), IsEmpty());
    JoinSet<int> dropped;
    JoinHandle<int> task = runtime.Spawn(Throws());
    while (!task.IsFinished()) co_await Sleep(absl::Milliseconds(1));
    dropped.Insert(std::move(task));
    co_await dropped.Shutdown();
  };
  runtime.BlockOn(body());
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("broken")));
}

TEST_P(UnhandledExceptionTest, OfABlockingCallIsLogged) {
  const ErrorLog log;
  Runtime runtime = MakeRuntime();
  auto call = [] { throw std::runtime_error("broken call"); };
  runtime.SpawnBlocking(call).Detach();
  EXPECT_THAT(log.WaitFor(1),
              ElementsAre(AllOf(HasSubstr("unhandled_exception_test.cc:"),
                                HasSubstr("broken call"))));
}

TEST_P(UnhandledExceptionTest, OfALocalTaskIsLogged) {
  const ErrorLog log;
  Runtime runtime = MakeRuntime();
  LocalSet set;
  set.Spawn(Throws()).Detach();
  auto until_empty = [&set]() -> Co<> { co_await set; };
  runtime.BlockOn(until_empty());
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("broken")));
}

TEST_P(UnhandledExceptionTest, CanBeIgnored) {
  const ErrorLog log;
  {
    absl::StatusOr<Runtime> runtime =
        MakeBuilder().OnUnhandledException(UnhandledException::kIgnore).Build();
    ASSERT_THAT(runtime, IsOk());
    auto call = [] { throw std::runtime_error("broken call"); };
    JoinHandle<void> blocking = runtime->SpawnBlocking(call);
    JoinHandle<int> task = runtime->Spawn(Throws());
    AwaitEnd(*runtime, task);
    AwaitEnd(*runtime, blocking);
  }
  EXPECT_THAT(log.lines(), IsEmpty());
}

TEST_P(UnhandledExceptionTest, CanGoToACallback) {
  const ErrorLog log;
  absl::Mutex mu;
  std::vector<std::string> reported;
  auto report = [&mu, &reported](const TaskMeta& task,
                                 const std::exception_ptr& exception) {
    const absl::MutexLock lock(&mu);
    try {
      std::rethrow_exception(exception);
    } catch (const std::runtime_error& e) {
      reported.push_back(absl::StrCat(task.name, ": ", e.what()));
    }
  };
  std::optional<JoinHandle<int>> outlives;
  {
    absl::StatusOr<Runtime> runtime =
        MakeBuilder().OnUnhandledException(report).Build();
    ASSERT_THAT(runtime, IsOk());
    JoinHandle<int> taken = runtime->Spawn(Throws(), {.name = "taken"});
    (void)runtime->BlockOn(std::move(taken));
    outlives.emplace(runtime->Spawn(Throws(), {.name = "late"}));
    AwaitEnd(*runtime, *outlives);
  }
  EXPECT_THAT(reported, IsEmpty());
  outlives.reset();
  EXPECT_THAT(reported, ElementsAre("late: broken"));
  EXPECT_THAT(log.lines(), IsEmpty());
}

TEST_P(UnhandledExceptionTest, IsLoggedOnceAndNamedInThePanicOfAShutdown) {
  const ErrorLog log;
  absl::StatusOr<Runtime> runtime =
      MakeBuilder()
          .OnUnhandledException(UnhandledException::kShutdownRuntime)
          .Build();
  ASSERT_THAT(runtime, IsOk());
  runtime->Spawn(Throws(), {.name = "fragile"}).Detach();
  EXPECT_THAT(
      [&] { runtime->BlockOn(Sleep(absl::InfiniteDuration())); },
      ThrowsMessage<PanicError>(AllOf(HasSubstr("\"fragile\" (spawned at "),
                                      HasSubstr("unhandled_exception_test.cc:"),
                                      HasSubstr("broken"))));
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("the runtime shuts down")));
}

// The exception is a mistake in the program, for which Rouse throws.
TEST_P(UnhandledExceptionTest, OfAPanicNamesTheTaskAndItsPlace) {
  Runtime runtime = MakeRuntime();
  auto body = []() -> Co<> {
    auto answer = []() -> Co<int> { co_return 42; };
    JoinHandle<int> moved = Spawn(answer);
    const JoinHandle<int> to = std::move(moved);
    (void)co_await moved;
  };
  EXPECT_THAT(
      runtime.BlockOn(runtime.Spawn(body, {.name = "mistaken"})),
      StatusIs(absl::StatusCode::kInternal,
               AllOf(HasSubstr("\"mistaken\" (spawned at "),
                     HasSubstr("unhandled_exception_test.cc:"),
                     HasSubstr("JoinHandle was polled after it completed"))));
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
