// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/runtime.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <set>
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
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/kept_vlog.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

// Is never ready, and records its destruction.
class Never {
 public:
  explicit Never(std::atomic<int>* destroyed) : destroyed_(destroyed) {}
  Never(Never&& other) noexcept
      : destroyed_(std::exchange(other.destroyed_, nullptr)) {}
  ~Never() {
    if (destroyed_ != nullptr) destroyed_->fetch_add(1);
  }
  PollResult<void> Poll(Context&) { return kPending; }

 private:
  std::atomic<int>* destroyed_;
};

Co<int> Add(int a, int b) { co_return a + b; }

Co<int> SumOfTasks(int count) {
  std::vector<JoinHandle<int>> handles;
  for (int i = 0; i < count; ++i) handles.push_back(Spawn(Add(i, 1)));
  int sum = 0;
  for (JoinHandle<int>& handle : handles) {
    absl::StatusOr<int> result = co_await handle;
    sum += *result;
  }
  co_return sum;
}

using RuntimeTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, RuntimeTest, ::testing::Bool(), &KindOfRuntime);

TEST_P(RuntimeTest, BlockOnReturnsTheOutput) {
  Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(Add(1, 2)), 3);
}

TEST_P(RuntimeTest, BlockOnTakesACallable) {
  Runtime runtime = MakeRuntime();
  auto main = [text = std::string("kept")]() -> Co<std::string> {
    co_await Yield();
    co_return text;
  };
  EXPECT_EQ(runtime.BlockOn(std::move(main)), "kept");
}

TEST_P(RuntimeTest, TasksAreJoined) {
  Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(SumOfTasks(100)), 5050);
}

TEST_P(RuntimeTest, ASpawnedLambdaKeepsItsCaptures) {
  Runtime runtime = MakeRuntime();
  JoinHandle<int> handle = [&runtime] {
    auto value = std::make_unique<int>(7);
    auto body = [value = std::move(value)]() -> Co<int> {
      co_await Yield();
      co_return *value;
    };
    return runtime.Spawn(std::move(body));
  }();
  EXPECT_THAT(runtime.BlockOn(std::move(handle)), IsOkAndHolds(7));
}

TEST_P(RuntimeTest, JoiningFlattensStatusOr) {
  Runtime runtime = MakeRuntime();
  auto fails = []() -> Co<absl::StatusOr<int>> {
    co_return absl::NotFoundError("no");
  };
  JoinHandle<absl::StatusOr<int>> handle = runtime.Spawn(fails);
  absl::StatusOr<int> result = runtime.BlockOn(std::move(handle));
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(RuntimeTest, AbortDestroysTheFutureAndNotifiesTheJoiner) {
  Runtime runtime = MakeRuntime();
  std::atomic<int> destroyed{0};
  JoinHandle<void> handle = runtime.Spawn(Never(&destroyed));
  handle.Abort();
  EXPECT_THAT(runtime.BlockOn(std::move(handle)),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(destroyed, 1);
}

TEST_P(RuntimeTest, AbortAfterCompletionChangesNothing) {
  Runtime runtime = MakeRuntime();
  JoinHandle<int> handle = runtime.Spawn(Add(1, 1));
  auto finish = [&handle]() -> Co<> {
    while (!handle.IsFinished()) co_await Yield();
  };
  runtime.BlockOn(finish);
  handle.Abort();
  EXPECT_THAT(runtime.BlockOn(std::move(handle)), IsOkAndHolds(2));
}

TEST_P(RuntimeTest, ADetachedTaskContinues) {
  Runtime runtime = MakeRuntime();
  std::atomic<bool> done{false};
  auto body = [&done]() -> Co<> {
    for (int i = 0; i < 10; ++i) co_await Yield();
    done = true;
  };
  runtime.Spawn(body);
  auto wait = [&done]() -> Co<> {
    while (!done) co_await Yield();
  };
  runtime.BlockOn(wait);
  EXPECT_TRUE(done);
}

TEST_P(RuntimeTest, DestroyingTheRuntimeCancelsItsTasks) {
  std::atomic<int> destroyed{0};
  std::optional<Runtime> runtime(MakeRuntime());
  JoinHandle<void> handle = runtime->Spawn(Never(&destroyed));
  for (int i = 0; i < 10; ++i) runtime->Spawn(Never(&destroyed));
  auto yield = []() -> Co<> { co_await Yield(); };
  runtime->BlockOn(yield);
  runtime.reset();
  EXPECT_EQ(destroyed, 11);
  const Waker waker;
  Context cx(waker);
  EXPECT_THAT(handle.Poll(cx).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_P(RuntimeTest, SpawningAfterShutdownReturnsACancelledTask) {
  std::optional<Runtime> runtime(MakeRuntime());
  const Handle handle = runtime->handle();
  runtime.reset();
  JoinHandle<int> task = handle.Spawn(Add(1, 2));
  const Waker waker;
  Context cx(waker);
  EXPECT_THAT(task.Poll(cx).value(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(handle.alive_tasks(), 0u);
}

TEST_P(RuntimeTest, AWakerCanOutliveTheRuntime) {
  std::optional<Runtime> runtime(MakeRuntime());
  std::optional<Waker> kept;
  absl::Notification polled;
  class Keep {
   public:
    Keep(std::optional<Waker>* kept, absl::Notification* polled)
        : kept_(kept), polled_(polled) {}
    PollResult<void> Poll(Context& cx) {
      *kept_ = cx.waker().Clone();
      polled_->Notify();
      return kPending;
    }

   private:
    std::optional<Waker>* kept_;
    absl::Notification* polled_;
  };
  runtime->Spawn(Keep(&kept, &polled));
  auto wait = [&polled]() -> Co<> {
    while (!polled.HasBeenNotified()) co_await Yield();
  };
  runtime->BlockOn(wait);
  runtime.reset();
  kept->WakeByRef();
  std::move(*kept).Wake();
}

TEST_P(RuntimeTest, ATaskSpawnedByADestructorDuringShutdownIsCancelled) {
  class SpawnsAtTheEnd {
   public:
    explicit SpawnsAtTheEnd(std::atomic<int>* destroyed)
        : destroyed_(destroyed) {}
    SpawnsAtTheEnd(SpawnsAtTheEnd&& other) noexcept
        : destroyed_(std::exchange(other.destroyed_, nullptr)) {}
    ~SpawnsAtTheEnd() {
      if (destroyed_ != nullptr) Spawn(Never(destroyed_));
    }
    PollResult<void> Poll(Context&) { return kPending; }

   private:
    std::atomic<int>* destroyed_;
  };
  std::atomic<int> destroyed{0};
  {
    Runtime runtime = MakeRuntime();
    runtime.Spawn(SpawnsAtTheEnd(&destroyed));
  }
  EXPECT_EQ(destroyed, 1);
}

// This holds even if the threads begin late.
TEST(Runtime, TasksAreDestroyedOnTheRuntimesThreads) {
  class Noting {
   public:
    explicit Noting(std::atomic<std::thread::id>* where) : where_(where) {}
    Noting(Noting&& other) noexcept
        : where_(std::exchange(other.where_, nullptr)) {}
    Noting& operator=(Noting&&) = delete;
    ~Noting() {
      if (where_ != nullptr) *where_ = std::this_thread::get_id();
    }
    PollResult<void> Poll(Context&) { return kPending; }

   private:
    std::atomic<std::thread::id>* where_;
  };
  std::atomic<std::thread::id> where;
  absl::Notification closed;
  {
    absl::StatusOr<Runtime> runtime =
        Builder::MultiThread()
            .WorkerThreads(2)
            .OnThreadStart([&closed] { closed.WaitForNotification(); })
            .Build();
    ASSERT_THAT(runtime, IsOk());
    JoinHandle<void> task = runtime->Spawn(Noting(&where));
    std::thread closes([&closed, handle = runtime->handle()] {
      // Waits until the runtime accepts no more tasks, and then some time
      // longer, in which an impatient destructor would end.
      JoinHandle<void> refused = handle.Spawn(Noting(nullptr));
      while (!refused.IsFinished()) {
        refused = handle.Spawn(Noting(nullptr));
        absl::SleepFor(absl::Milliseconds(1));
      }
      absl::SleepFor(absl::Milliseconds(10));
      closed.Notify();
    });
    {
      const Runtime destroyed = *std::move(runtime);
    }
    closes.join();
  }
  EXPECT_NE(where.load(), std::thread::id());
  EXPECT_NE(where.load(), std::this_thread::get_id());
}

TEST_P(RuntimeTest, ManyThreadsCanBlockOn) {
  Runtime runtime = MakeRuntime();
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { sum += runtime.BlockOn(SumOfTasks(50)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 4 * 1275);
}

TEST_P(RuntimeTest, EnterLetsThisThreadSpawn) {
  Runtime runtime = MakeRuntime();
  JoinHandle<int> handle = [&runtime] {
    const EnterGuard guard = runtime.Enter();
    return Spawn(Add(2, 3));
  }();
  EXPECT_THAT(runtime.BlockOn(std::move(handle)), IsOkAndHolds(5));
  EXPECT_EQ(scheduler::Current(), nullptr);
}

// The thread that dispatches must unpark the workers of the other runtime,
// because it does not check the other runtime's queue afterwards.
TEST_P(RuntimeTest, ATaskCanSleepOnTheTimerOfAnotherRuntime) {
  Runtime other = MakeRuntime();
  Runtime runtime = MakeRuntime();
  std::optional<wheel::Handle> timer;
  {
    const EnterGuard enter = other.Enter();
    timer = wheel::Handle::Current();
  }
  auto sleep = [&timer]() -> Co<> {
    co_await Sleep(*timer, absl::Milliseconds(1));
  };
  JoinHandle<void> handle = runtime.Spawn(sleep);
  std::atomic<bool> done{false};
  // A current-thread runtime drives its timer only inside BlockOn.
  std::thread driving([&] {
    auto wait = [&done]() -> Co<> {
      while (!done) co_await Sleep(absl::Milliseconds(1));
    };
    other.BlockOn(wait);
  });
  EXPECT_THAT(runtime.BlockOn(std::move(handle)), IsOk());
  done = true;
  driving.join();
}

TEST_P(RuntimeTest, MainFuturesOfSeveralThreadsDrawDifferentRandomNumbers) {
  Runtime runtime = MakeRuntime();
  class Draw {
   public:
    Draw() = default;
    PollResult<uint64_t> Poll(Context& cx) {
      sum_ += cx.rand().Next();
      if (--left_ == 0) return sum_;
      cx.waker().WakeByRef();
      return kPending;
    }

   private:
    int left_ = 1000;
    uint64_t sum_ = 0;
  };
  uint64_t sums[2] = {};
  std::thread other([&] { sums[0] = runtime.BlockOn(Draw()); });
  sums[1] = runtime.BlockOn(Draw());
  other.join();
  EXPECT_NE(sums[0], sums[1]);
}

TEST_P(RuntimeTest, ManyShortBlockOnsBesideALongOne) {
  Runtime runtime = MakeRuntime();
  std::atomic<bool> stop{false};
  std::thread server([&] {
    auto main = [&stop]() -> Co<> {
      while (!stop) co_await Sleep(absl::Milliseconds(1));
    };
    runtime.BlockOn(main);
  });
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(runtime.BlockOn(Add(i, 1)), i + 1);
    auto yield = [i]() -> Co<int> {
      co_await Yield();
      co_return i;
    };
    ASSERT_EQ(runtime.BlockOn(yield), i);
  }
  stop = true;
  server.join();
}

TEST_P(RuntimeTest, AMainFutureCanSpawnInItsDestructor) {
  class SpawnsAtTheEnd {
   public:
    explicit SpawnsAtTheEnd(std::atomic<int>* ran) : ran_(ran) {}
    SpawnsAtTheEnd(SpawnsAtTheEnd&& other) noexcept
        : ran_(std::exchange(other.ran_, nullptr)) {}
    ~SpawnsAtTheEnd() {
      if (ran_ == nullptr) return;
      auto body = [ran = ran_]() -> Co<> {
        ran->fetch_add(1);
        co_return;
      };
      Spawn(body);
    }
    PollResult<void> Poll(Context&) { return {}; }

   private:
    std::atomic<int>* ran_;
  };
  Runtime runtime = MakeRuntime();
  std::atomic<int> ran{0};
  runtime.BlockOn(SpawnsAtTheEnd(&ran));
  auto wait = [&ran]() -> Co<> {
    while (ran == 0) co_await Yield();
  };
  runtime.BlockOn(wait);
  EXPECT_EQ(ran, 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS

// Polls a sleep with a waker that throws.
class SleepThatThrowsWhenDue {
 public:
  explicit SleepThatThrowsWhenDue(const Waker* waker)
      : waker_(waker), sleep_(absl::Milliseconds(1)) {}
  PollResult<void> Poll(Context& cx) {
    Context inner(*waker_, cx);
    static_cast<void>(sleep_.Poll(inner).IsReady());
    return kPending;
  }

 private:
  const Waker* waker_;
  Sleep sleep_;
};

TEST(Runtime, AThrowingWakerInTheDriverLeavesTheRuntimeUsable) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, IsOk());
  const Waker throws =
      Waker::FromCallable([] { throw std::runtime_error("waker"); });
  EXPECT_THROW(runtime->BlockOn(SleepThatThrowsWhenDue(&throws)),
               std::runtime_error);
  auto sleep = []() -> Co<> { co_await Sleep(absl::Milliseconds(1)); };
  runtime->BlockOn(sleep);
}

TEST(Runtime, AThrowingJoinWakerDoesNotKeepTheTask) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, IsOk());
  const Waker throws =
      Waker::FromCallable([] { throw std::runtime_error("joiner"); });
  JoinHandle<int> handle = runtime->Spawn(Add(1, 1));
  {
    Context cx(throws);
    EXPECT_TRUE(handle.Poll(cx).IsPending());
  }
  auto yield = []() -> Co<> { co_await Yield(); };
  EXPECT_THROW(runtime->BlockOn(yield), std::runtime_error);
  EXPECT_EQ(runtime->handle().alive_tasks(), 0u);
  EXPECT_THAT(runtime->BlockOn(std::move(handle)), IsOkAndHolds(2));
}

TEST_P(RuntimeTest, BlockOnInsideATaskPanicsAfterAnotherRuntimeIsDestroyed) {
  Runtime runtime = MakeRuntime();
  auto nested = [&runtime]() -> Co<int> {
    absl::StatusOr<Runtime> inner = Builder::CurrentThread().Build();
    inner = absl::UnknownError("gone");
    co_return runtime.BlockOn(Add(1, 1));
  };
  JoinHandle<int> handle = runtime.Spawn(nested);
  EXPECT_THAT(runtime.BlockOn(std::move(handle)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("use co_await")));
}

TEST_P(RuntimeTest, AnExceptionOfATaskGoesToItsJoiner) {
  Runtime runtime = MakeRuntime();
  auto throws = []() -> Co<int> {
    co_await Yield();
    throw std::runtime_error("went wrong");
  };
  JoinHandle<int> handle = runtime.Spawn(throws);
  auto join = [&handle]() -> Co<absl::StatusOr<int>> {
    co_return co_await handle;
  };
  EXPECT_THAT(runtime.BlockOn(join),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("went wrong")));
  EXPECT_THROW(std::rethrow_exception(handle.exception()), std::runtime_error);
  EXPECT_EQ(runtime.BlockOn(Add(1, 2)), 3);
}

TEST_P(RuntimeTest, AnExceptionOfTheMainFuturePropagatesFromBlockOn) {
  Runtime runtime = MakeRuntime();
  auto throws = []() -> Co<int> {
    co_await Yield();
    throw std::runtime_error("main");
  };
  EXPECT_THROW(runtime.BlockOn(throws), std::runtime_error);
  EXPECT_EQ(runtime.BlockOn(Add(1, 2)), 3);
}

TEST_P(RuntimeTest, SpawningABorrowedLambdaPanics) {
  Runtime runtime = MakeRuntime();
  const std::string text = "abc";
  auto lambda = [text]() -> Co<size_t> { co_return text.size(); };
  auto in_set = [&]() -> Co<> {
    JoinSet<absl::StatusOr<size_t>> set;
    set.Spawn(Timeout(absl::Seconds(1), lambda()));
    co_return;
  };
  const int line = __LINE__ + 1;
  const auto spawn = [&] { runtime.Spawn(lambda()).Detach(); };
  EXPECT_PANIC(spawn(), absl::StrCat("runtime_test.cc:", line));
  EXPECT_PANIC(spawn(), "spawn the lambda itself");
  EXPECT_PANIC(runtime.BlockOn(in_set), "spawn the lambda itself");
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(lambda)), IsOkAndHolds(3u));
}

TEST_P(RuntimeTest, BlockOnInsideATaskPanics) {
  Runtime runtime = MakeRuntime();
  auto nested = [&runtime]() -> Co<int> {
    co_return runtime.BlockOn(Add(1, 1));
  };
  JoinHandle<int> handle = runtime.Spawn(nested);
  EXPECT_THAT(runtime.BlockOn(std::move(handle)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("use co_await")));
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(Runtime, SpawningWithoutARuntimePanics) {
  EXPECT_PANIC(Spawn(Add(1, 2)), "Spawn: this thread has no runtime");
}

TEST_P(RuntimeTest, JoiningTwicePanics) {
  Runtime runtime = MakeRuntime();
  JoinHandle<int> handle = runtime.Spawn(Add(1, 1));
  auto join = [&handle]() -> Co<> { (void)co_await handle; };
  runtime.BlockOn(join);
  const Waker waker;
  Context cx(waker);
  EXPECT_PANIC((void)handle.Poll(cx), "JoinHandle was polled after");
}

using RuntimeDeathTest = RuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, RuntimeDeathTest, ::testing::Bool(),
                         &KindOfRuntime);

TEST_P(RuntimeDeathTest, DestroyingTheRuntimeInItsOwnTaskPanics) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        std::optional<Runtime> runtime(MakeRuntime());
        auto destroy_runtime = [&runtime]() -> Co<> {
          runtime.reset();
          co_return;
        };
        (void)runtime->BlockOn(runtime->Spawn(destroy_runtime));
      },
      "shut down by one of its own tasks");
}

TEST(Runtime, TasksRunOnTheRuntimesThreads) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(2).ThreadName("mine").Build();
  ASSERT_THAT(runtime, IsOk());
  auto body = []() -> Co<std::string> {
    char name[16];
    pthread_getname_np(pthread_self(), name, sizeof name);
    co_return name;
  };
  absl::StatusOr<std::string> name = runtime->BlockOn(runtime->Spawn(body));
  EXPECT_THAT(name, IsOkAndHolds(HasSubstr("mine-")));
}

TEST(Runtime, TwoWorkersRunTwoTasksAtOnce) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(2).Build();
  ASSERT_THAT(runtime, IsOk());
  // Each task blocks its worker until the other task runs.
  absl::Notification first;
  absl::Notification second;
  auto one = [&]() -> Co<> {
    first.Notify();
    second.WaitForNotification();
    co_return;
  };
  auto other = [&]() -> Co<> {
    second.Notify();
    first.WaitForNotification();
    co_return;
  };
  auto both = [&]() -> Co<> {
    JoinHandle<void> a = Spawn(one);
    JoinHandle<void> b = Spawn(other);
    (void)co_await a;
    (void)co_await b;
  };
  runtime->BlockOn(both);
}

TEST(Runtime, ACurrentThreadRuntimeRunsTasksOnlyInBlockOn) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, IsOk());
  std::set<std::thread::id> threads;
  auto body = [&threads]() -> Co<> {
    threads.insert(std::this_thread::get_id());
    co_return;
  };
  JoinHandle<void> handle = runtime->Spawn(body);
  EXPECT_FALSE(handle.IsFinished());
  EXPECT_THAT(runtime->BlockOn(std::move(handle)), IsOk());
  EXPECT_THAT(threads, ::testing::ElementsAre(std::this_thread::get_id()));
}

TEST(Builder, TheTimersHaveTheGivenResolution) {
  auto resolution = []() -> Co<absl::Duration> {
    co_return wheel::Handle::Current().resolution();
  };
  absl::StatusOr<Runtime> standard = Builder::CurrentThread().Build();
  ASSERT_THAT(standard, IsOk());
  EXPECT_EQ(standard->BlockOn(resolution), absl::Milliseconds(1));
  absl::StatusOr<Runtime> fine =
      Builder::CurrentThread().TimerResolution(absl::Microseconds(64)).Build();
  ASSERT_THAT(fine, IsOk());
  EXPECT_EQ(fine->BlockOn(resolution), absl::Microseconds(64));
}

TEST(Builder, RefusesAResolutionOutOfRange) {
  for (absl::Duration bad : {absl::Microseconds(63), absl::Milliseconds(1001),
                             absl::ZeroDuration(), absl::InfiniteDuration()}) {
    EXPECT_THAT(
        Builder::CurrentThread().TimerResolution(bad).Build(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("64us to 1s")))
        << bad;
  }
}

TEST(Runtime, LogsItsEnd) {
  KeptVlog log(1);
  {
    const Runtime runtime = Builder::CurrentThread().Build().value();
  }
  EXPECT_THAT(log.Take(),
              ::testing::Contains("a scheduler was closed with 0 tasks"));
}

}  // namespace
}  // namespace rouse
