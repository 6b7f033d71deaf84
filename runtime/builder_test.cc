// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the options of a runtime, and the runtime's state after a task has
// thrown.

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/processor_count.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/net/unix_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/sleep.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalidArgument =
    absl::StatusCode::kInvalidArgument;

// Sets ROUSE_WORKER_THREADS for a test.
class WorkerThreadsVariableTest : public ::testing::Test {
 protected:
  WorkerThreadsVariableTest() {
    if (const char* const value = std::getenv(kName)) before_ = value;
  }
  ~WorkerThreadsVariableTest() override {
    if (before_.has_value()) {
      Set(*before_);
    } else {
      unsetenv(kName);
    }
  }

  static void Set(const std::string& value) {
    ASSERT_EQ(setenv(kName, value.c_str(), /*overwrite=*/1), 0);
  }
  static size_t Workers(Builder builder) {
    absl::StatusOr<Runtime> runtime = builder.Build();
    EXPECT_THAT(runtime, IsOk());
    return runtime->metrics().workers.size();
  }

 private:
  static constexpr char kName[] = "ROUSE_WORKER_THREADS";
  std::optional<std::string> before_;
};

TEST_F(WorkerThreadsVariableTest, SetsTheDefault) {
  Set("3");
  EXPECT_EQ(Workers(Builder::MultiThread()), 3u);
  EXPECT_EQ(Workers(std::move(Builder::MultiThread().WorkerThreads(0))), 3u);
}

TEST_F(WorkerThreadsVariableTest, IsOverriddenByTheBuilder) {
  Set("3");
  EXPECT_EQ(Workers(std::move(Builder::MultiThread().WorkerThreads(2))), 2u);
  EXPECT_EQ(Workers(Builder::CurrentThread()), 1u);
}

TEST_F(WorkerThreadsVariableTest, AnEmptyValueMeansTheNumberOfProcessors) {
  Set("");
  EXPECT_EQ(Workers(Builder::MultiThread()), ProcessorCount());
}

TEST_F(WorkerThreadsVariableTest, AnEmptyValueRespectsTheAffinity) {
  Set("");
  std::thread restricted([] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    cpu_set_t first;
    CPU_ZERO(&first);
    int i = 0;
    while (!CPU_ISSET(i, &all)) ++i;
    CPU_SET(i, &first);
    ASSERT_EQ(sched_setaffinity(0, sizeof(first), &first), 0);
    EXPECT_EQ(Workers(Builder::MultiThread()), 1u);
  });
  restricted.join();
}

TEST_F(WorkerThreadsVariableTest, MustBeANumberInRange) {
  for (const char* bad : {"0", "-1", "two", "2x", "32769", "99999999999"}) {
    Set(bad);
    EXPECT_THAT(
        Builder::MultiThread().Build(),
        StatusIs(kInvalidArgument,
                 AllOf(HasSubstr("ROUSE_WORKER_THREADS"), HasSubstr(bad))));
  }
}

TEST(Builder, RefusesTooManyWorkerThreads) {
  EXPECT_THAT(Builder::MultiThread().WorkerThreads(32'769).Build(),
              StatusIs(kInvalidArgument, HasSubstr("WorkerThreads(32769)")));
}

TEST(Builder, RefusesAnEventIntervalOfZero) {
  EXPECT_THAT(Builder::CurrentThread().EventInterval(0).Build(),
              StatusIs(kInvalidArgument, HasSubstr("EventInterval(0)")));
}

TEST(Builder, RefusesTooFewOrTooManyEventsPerTurn) {
  for (size_t bad : {0, 1025}) {
    EXPECT_THAT(Builder::CurrentThread().MaxEventsPerTurn(bad).Build(),
                StatusIs(kInvalidArgument, HasSubstr("MaxEventsPerTurn")));
  }
}

TEST(Builder, TakesMoreEventsThanFitIntoOneTurn) {
  absl::StatusOr<Runtime> runtime =
      Builder::CurrentThread().MaxEventsPerTurn(1).Build();
  ASSERT_THAT(runtime, IsOk());
  auto receive = [](UnixStream stream) -> Co<bool> {
    char byte = 0;
    const absl::StatusOr<size_t> count =
        co_await stream.Read(absl::MakeSpan(&byte, 1));
    co_return count.value_or(0) == 1;
  };
  auto main = [&receive]() -> Co<int> {
    std::vector<UnixStream> senders;
    std::vector<JoinHandle<bool>> receivers;
    for (int i = 0; i < 4; ++i) {
      absl::StatusOr<std::pair<UnixStream, UnixStream>> pair =
          UnixStream::Pair();
      senders.push_back(std::move(pair->first));
      receivers.push_back(Spawn(receive(std::move(pair->second))));
    }
    co_await Yield();
    for (UnixStream& sender : senders) {
      const absl::StatusOr<size_t> sent = co_await sender.Write("x");
      EXPECT_THAT(sent, IsOkAndHolds(1u));
    }
    int received = 0;
    for (JoinHandle<bool>& receiver : receivers) {
      const absl::StatusOr<bool> result = co_await receiver;
      if (result.value_or(false)) ++received;
    }
    co_return received;
  };
  EXPECT_EQ(runtime->BlockOn(main), 4);
}

// A shorter bound would keep a processor busy.
TEST(Builder, RefusesALongPollBoundOfLessThan100Microseconds) {
  for (absl::Duration bad :
       {absl::Nanoseconds(1), absl::Microseconds(99), absl::ZeroDuration(),
        absl::Milliseconds(-1), -absl::InfiniteDuration()}) {
    EXPECT_THAT(
        Builder::MultiThread().LongPollBound(bad).Build(),
        StatusIs(kInvalidArgument, AllOf(HasSubstr("LongPollBound"),
                                         HasSubstr("choose at least 100us"))));
  }
  EXPECT_THAT(
      Builder::MultiThread().LongPollBound(absl::Microseconds(100)).Build(),
      IsOk());
}

TEST(Builder, CanBeUsedAgain) {
  Builder builder = Builder::MultiThread();
  builder.WorkerThreads(1).ThreadName("twin");
  absl::StatusOr<Runtime> one = builder.Build();
  absl::StatusOr<Runtime> two = builder.WorkerThreads(2).Build();
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(two, IsOk());
  EXPECT_EQ(one->metrics().workers.size(), 1u);
  EXPECT_EQ(two->metrics().workers.size(), 2u);
}

TEST(Builder, EachThreadCanHaveItsOwnName) {
  std::atomic<int> named{0};
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread()
          .WorkerThreads(1)
          .ThreadNameFn([&named] { return absl::StrCat("mine-", named++); })
          .Build();
  ASSERT_THAT(runtime, IsOk());
  auto name = []() -> std::string {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    return name;
  };
  auto body = [&name]() -> Co<std::string> { co_return name(); };
  EXPECT_THAT(runtime->BlockOn(runtime->Spawn(body)), IsOkAndHolds("mine-0"));
  EXPECT_THAT(runtime->BlockOn(runtime->SpawnBlocking(name)),
              IsOkAndHolds("mine-1"));
}

// Returns the order in which a task's children run, on a single worker.
std::vector<int> OrderOfChildren(bool lifo_slot) {
  absl::StatusOr<Runtime> runtime =
      Builder::CurrentThread().LifoSlot(lifo_slot).Build();
  EXPECT_THAT(runtime, IsOk());
  std::vector<int> order;
  auto note = [&order](int i) -> Co<> {
    order.push_back(i);
    co_return;
  };
  auto body = [&note]() -> Co<> {
    std::vector<JoinHandle<void>> children;
    for (int i = 0; i < 3; ++i) {
      children.push_back(Spawn([&note, i] { return note(i); }));
    }
    for (JoinHandle<void>& child : children) (void)co_await child;
  };
  EXPECT_THAT(runtime->BlockOn(runtime->Spawn(body)), IsOk());
  return order;
}

TEST(Builder, TheLifoSlotCanBeDisabled) {
  EXPECT_THAT(OrderOfChildren(/*lifo_slot=*/false), ElementsAre(0, 1, 2));
  EXPECT_THAT(OrderOfChildren(/*lifo_slot=*/true), ElementsAre(2, 1, 0));
}

#ifdef ABSL_HAVE_EXCEPTIONS

using UnhandledExceptionTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, UnhandledExceptionTest, ::testing::Bool(),
                         &KindOfRuntime);

Co<int> Throws() {
  co_await Yield();
  throw std::runtime_error("broken");
}
Co<int> Sleeps() {
  co_await Sleep(absl::InfiniteDuration());
  co_return 0;
}

TEST_P(UnhandledExceptionTest, GoesToTheJoinerByDefault) {
  Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(Throws())),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("broken")));
  auto answer = []() -> Co<int> { co_return 42; };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(answer)), IsOkAndHolds(42));
}

TEST_P(UnhandledExceptionTest, CanShutDownTheRuntime) {
  absl::StatusOr<Runtime> runtime =
      MakeBuilder()
          .OnUnhandledException(UnhandledException::kShutdownRuntime)
          .Build();
  ASSERT_THAT(runtime, IsOk());
  JoinHandle<int> other = runtime->Spawn(Sleeps());
  JoinHandle<int> throws = runtime->Spawn(Throws());
  EXPECT_PANIC(runtime->BlockOn(Sleeps()), "ended with an exception: broken");
  // Nothing runs any more.
  JoinHandle<int> late = runtime->Spawn(Throws());
  EXPECT_PANIC(runtime->BlockOn(Sleeps()), "ended with an exception: broken");
  runtime = absl::UnknownError("gone");
  absl::StatusOr<Runtime> elsewhere = Builder::CurrentThread().Build();
  EXPECT_THAT(elsewhere->BlockOn(std::move(other)),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(elsewhere->BlockOn(std::move(late)),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(elsewhere->BlockOn(std::move(throws)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("broken")));
}

TEST_P(UnhandledExceptionTest, DoesNotIncludeBlockingCallsAndLocalTasks) {
  absl::StatusOr<Runtime> runtime =
      MakeBuilder().OnUnhandledException(UnhandledException::kAbort).Build();
  ASSERT_THAT(runtime, IsOk());
  auto call = []() -> int { throw std::runtime_error("broken"); };
  EXPECT_THAT(runtime->BlockOn(runtime->SpawnBlocking(call)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("broken")));
  LocalSet set;
  EXPECT_THAT(runtime->BlockOn(set.RunUntil(set.Spawn(Throws()))),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("broken")));
}

TEST_P(UnhandledExceptionTest, EndsEveryBlockOn) {
  absl::StatusOr<Runtime> runtime =
      MakeBuilder()
          .OnUnhandledException(UnhandledException::kShutdownRuntime)
          .Build();
  ASSERT_THAT(runtime, IsOk());
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      EXPECT_PANIC(runtime->BlockOn(Sleeps()),
                   "ended with an exception: broken");
    });
  }
  runtime->Spawn(Throws()).Detach();
  for (std::thread& thread : threads) thread.join();
}

using UnhandledExceptionDeathTest = UnhandledExceptionTest;
INSTANTIATE_TEST_SUITE_P(Kinds, UnhandledExceptionDeathTest, ::testing::Bool(),
                         &KindOfRuntime);

TEST_P(UnhandledExceptionDeathTest, CanAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        absl::StatusOr<Runtime> runtime =
            MakeBuilder()
                .OnUnhandledException(UnhandledException::kAbort)
                .Build();
        (void)runtime->BlockOn(runtime->Spawn(Throws()));
      },
      "the program aborts, as set by Builder::OnUnhandledException");
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
