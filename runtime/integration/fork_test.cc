// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests forks whose children move to other workers.

#include "rouse/scheduler/fork.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/consume_budget.h"
#include "rouse/future/task_local.h"
#include "rouse/future/unconstrained.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/fork_all.h"
#include "rouse/scheduler/parallel_for.h"
#include "rouse/scheduler/parallel_reduce.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/internal/runtime_fixture.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;

Co<> Nothing() { co_return; }

Co<uint64_t> Fibonacci(uint64_t n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await Fork(Fibonacci(n - 1), Fibonacci(n - 2));
  co_return a + b;
}

// Forks again and again until `done`, so that the thread's worker notices when
// another worker has nothing to do. Never gives way to a later child.
Co<> ForkUntil(const std::atomic<bool>& done) {
  auto forks = [&done]() -> Co<> {
    while (!done.load(std::memory_order_acquire)) {
      co_await Fork(Nothing(), Nothing());
    }
  };
  co_await Unconstrained(forks());
}

using ForkTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, ForkTest, ::testing::Bool(), &KindOfRuntime);

TEST_P(ForkTest, ComputesInATask) {
  Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(Fibonacci(20))),
              IsOkAndHolds(6765u));
}

TEST_P(ForkTest, ComputesInTheMainFuture) {
  Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(Fibonacci(20)), 6765u);
  // The tasks of children that were taken back end by themselves.
  while (runtime.metrics().alive_tasks > 0) std::this_thread::yield();
}

TEST_P(ForkTest, ComputesInLoops) {
  Runtime runtime = MakeRuntime();
  auto task = []() -> Co<size_t> {
    std::vector<std::atomic<int>> calls(1000);
    auto call = [&calls](size_t i) { ++calls[i]; };
    co_await ParallelFor(size_t{0}, calls.size(), 3, call);
    auto count = [&calls](size_t i) -> size_t { return calls[i] == 1 ? 1 : 0; };
    co_return co_await ParallelReduce(size_t{0}, calls.size(), 10, size_t{0},
                                      count, std::plus<>());
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(task)), IsOkAndHolds(1000u));
}

TEST_P(ForkTest, AForkWithoutChildrenIsReady) {
  Runtime runtime = MakeRuntime();
  const absl::StatusOr<std::vector<int>> outputs =
      runtime.BlockOn(runtime.Spawn(ForkAll(std::vector<Co<int>>())));
  EXPECT_THAT(outputs, IsOkAndHolds(::testing::IsEmpty()));
}

TEST_P(ForkTest, NestsAsDeeplyAsMemoryAllows) {
  Runtime runtime = MakeRuntime();
  struct Recursion {
    static Co<size_t> Depth(size_t n) {
      if (n == 0) co_return 0;
      const auto [deeper, nothing] = co_await Fork(Depth(n - 1), Nothing());
      co_return deeper + 1;
    }
  };
  constexpr size_t kDepth = 50000;
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(Recursion::Depth(kDepth))),
              IsOkAndHolds(kDepth));
  EXPECT_EQ(runtime.BlockOn(Recursion::Depth(kDepth)), kDepth);
}

TEST_P(ForkTest, LetsOtherTasksRun) {
  Runtime runtime = MakeRuntime();
  auto task = []() -> Co<bool> {
    std::atomic<bool> has_run = false;
    auto other = [&has_run]() -> Co<> {
      co_await Yield();
      has_run = true;
    };
    JoinHandle<void> handle = Spawn(other);
    while (!has_run) co_await Fibonacci(20);
    absl::Status joined = co_await handle;
    co_return joined.ok();
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(task)), IsOkAndHolds(true));
}

TEST_P(ForkTest, WaitsInChildren) {
  Runtime runtime = MakeRuntime();
  auto task = []() -> Co<int> {
    auto [send_a, receive_a] = oneshot::Channel<int>();
    auto [send_b, receive_b] = oneshot::Channel<int>();
    auto a = [&receive_a, &send_b]() -> Co<int> {
      absl::StatusOr<int> got = co_await receive_a;
      (void)std::move(send_b).Send(*got + 1);
      co_return *got;
    };
    auto b = [&receive_b]() -> Co<int> {
      absl::StatusOr<int> got = co_await receive_b;
      co_return *got;
    };
    auto c = [&send_a]() -> Co<int> {
      co_await Yield();
      (void)std::move(send_a).Send(1);
      co_return 0;
    };
    const auto [x, y, z] = co_await Fork(a, b, c);
    co_return x * 10 + y + z;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(task)), IsOkAndHolds(12));
}

TEST_P(ForkTest, EndsWithTheRuntime) {
  std::optional<Runtime> runtime = MakeRuntime();
  std::atomic<bool> begun = false;
  auto endless = [&begun]() -> Co<> {
    for (;;) {
      co_await Fibonacci(15);
      begun = true;
    }
  };
  runtime->Spawn(endless).Detach();
  auto wait = [&begun]() -> Co<> {
    while (!begun) co_await Yield();
  };
  runtime->BlockOn(wait);
  runtime.reset();
}

// ---- With two workers.

class StolenForkTest : public testing::Test {
 protected:
  // Runs `a` and `b` as children of a fork in a task, and returns its outcome.
  template <class A, class B>
  absl::Status Run(A a, B b) {
    auto task = [&a, &b]() -> Co<> { co_await Fork(a, b); };
    JoinHandle<void> handle = runtime_.Spawn(task);
    return runtime_.BlockOn(std::move(handle));
  }

  absl::StatusOr<Runtime> built_ =
      Builder::MultiThread().WorkerThreads(2).Build();
  Runtime& runtime_ = *built_;
};

TEST_F(StolenForkTest, AChildMovesToAnotherWorker) {
  std::atomic<bool> done = false;
  std::thread::id first;
  std::thread::id second;
  auto a = [&]() -> Co<> {
    co_await ForkUntil(done);
    first = std::this_thread::get_id();
  };
  auto b = [&]() -> Co<> {
    second = std::this_thread::get_id();
    done.store(true, std::memory_order_release);
    co_return;
  };
  EXPECT_THAT(Run(a, b), IsOk());
  EXPECT_NE(first, second);
}

TEST_F(StolenForkTest, AChildWaitsInATaskOfItsOwn) {
  std::atomic<bool> done = false;
  auto [send, receive] = oneshot::Channel<int>();
  int got = 0;
  auto a = [&]() -> Co<> {
    co_await ForkUntil(done);
    (void)std::move(send).Send(5);
  };
  auto b = [&]() -> Co<> {
    done.store(true, std::memory_order_release);
    absl::StatusOr<int> value = co_await receive;
    got = *value;
  };
  EXPECT_THAT(Run(a, b), IsOk());
  EXPECT_EQ(got, 5);
  while (runtime_.metrics().alive_tasks > 0) std::this_thread::yield();
}

constinit TaskLocal<int> local("local");

TEST_F(StolenForkTest, AChildSeesTaskLocalValues) {
  std::atomic<bool> done = false;
  int seen = 0;
  auto a = [&]() -> Co<> { co_await ForkUntil(done); };
  auto b = [&]() -> Co<> {
    seen = *local.Get();
    done.store(true, std::memory_order_release);
    co_return;
  };
  auto task = [&]() -> Co<> { co_await local.Scope(7, Fork(a, b)); };
  EXPECT_THAT(runtime_.BlockOn(runtime_.Spawn(task)), IsOk());
  EXPECT_EQ(seen, 7);
}

constinit TaskLocal<std::string> name("name");

// The child's task has ended before the child is destroyed.
TEST_F(StolenForkTest, AChildKeepsPointersToTaskLocalValuesToItsEnd) {
  const std::string value(100, 'x');
  std::atomic<bool> done = false;
  std::string seen;
  auto [send, receive] = oneshot::Channel<int>();
  auto a = [&]() -> Co<> {
    co_await ForkUntil(done);
    for (;;) co_await Yield();
  };
  auto b = [&]() -> Co<> {
    const std::string* const here = name.Get();
    const absl::Cleanup at_end = [&, here] {
      // The parent remains.
      while (runtime_.metrics().alive_tasks > 1) std::this_thread::yield();
      seen = *here;
    };
    done = true;
    absl::StatusOr<int> never = co_await receive;
  };
  auto task = [&]() -> Co<> { co_await name.Scope(value, Fork(a, b)); };
  JoinHandle<void> handle = runtime_.Spawn(task);
  while (!done) std::this_thread::yield();
  handle.Abort();
  EXPECT_TRUE(absl::IsCancelled(runtime_.BlockOn(std::move(handle))));
  EXPECT_EQ(seen, value);
}

// The other worker is in a poll of the child when the fork is destroyed.
TEST_F(StolenForkTest, AbortingTheTaskWaitsForAChildThatRuns) {
  std::atomic<bool> running = false;
  std::atomic<bool> has_ended = false;
  absl::Notification may_end;
  auto a = [&]() -> Co<> {
    co_await ForkUntil(running);
    // Never ends.
    for (;;) co_await Yield();
  };
  auto b = [&]() -> Co<> {
    running = true;
    may_end.WaitForNotification();
    has_ended = true;
    for (;;) co_await Yield();
  };
  bool had_ended = false;
  auto task = [&]() -> Co<> {
    struct Check {
      ~Check() { *had = ended->load(); }
      bool* had;
      std::atomic<bool>* ended;
    };
    const Check check{&had_ended, &has_ended};
    co_await Fork(a, b);
  };
  JoinHandle<void> handle = runtime_.Spawn(task);
  while (!running) std::this_thread::yield();
  handle.Abort();
  may_end.Notify();
  EXPECT_TRUE(absl::IsCancelled(runtime_.BlockOn(std::move(handle))));
  EXPECT_TRUE(had_ended);
  // The task of the child ends, too.
  while (runtime_.metrics().alive_tasks > 0) std::this_thread::yield();
}

// The child waits in a task of its own when the fork is destroyed.
TEST_F(StolenForkTest, AbortingTheTaskDestroysAChildThatWaits) {
  std::atomic<bool> done = false;
  std::atomic<bool> destroyed = false;
  auto [send, receive] = oneshot::Channel<int>();
  struct Sets {
    ~Sets() { *flag = true; }
    std::atomic<bool>* flag;
  };
  auto a = [&]() -> Co<> {
    co_await ForkUntil(done);
    for (;;) co_await Yield();
  };
  auto b = [&]() -> Co<> {
    const Sets sets{&destroyed};
    done = true;
    absl::StatusOr<int> value = co_await receive;
  };
  auto task = [&]() -> Co<> { co_await Fork(a, b); };
  JoinHandle<void> handle = runtime_.Spawn(task);
  while (!done) std::this_thread::yield();
  handle.Abort();
  EXPECT_TRUE(absl::IsCancelled(runtime_.BlockOn(std::move(handle))));
  EXPECT_TRUE(destroyed);
  while (runtime_.metrics().alive_tasks > 0) std::this_thread::yield();
}

TEST_F(StolenForkTest, AChildCanBlockInPlace) {
  std::atomic<bool> done = false;
  auto a = [&]() -> Co<> {
    // The other child runs elsewhere, even if no other worker is idle now.
    BlockInPlace([&done] {
      while (!done) std::this_thread::yield();
    });
    co_return;
  };
  auto b = [&]() -> Co<> {
    done = true;
    co_return;
  };
  EXPECT_THAT(Run(a, b), IsOk());
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_F(StolenForkTest, AnExceptionOfAChildElsewherePropagates) {
  std::atomic<bool> done = false;
  auto a = [&]() -> Co<> {
    co_await ForkUntil(done);
    // Cancelled.
    for (;;) co_await Yield();
  };
  auto b = [&]() -> Co<> {
    done = true;
    throw std::runtime_error("thrown elsewhere");
    co_return;
  };
  auto task = [&]() -> Co<std::string> {
    auto fork = Fork(a, b);
    std::string what;
    try {
      co_await fork;
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    co_return what;
  };
  EXPECT_THAT(runtime_.BlockOn(runtime_.Spawn(task)),
              IsOkAndHolds("thrown elsewhere"));
}

// A child that never began keeps others waiting, but not an exception.
TEST_F(StolenForkTest, AnExceptionPropagatesBeforeAllChildrenHaveBegun) {
  std::atomic<bool> done = false;
  auto task = [&]() -> Co<bool> {
    struct Child {
      // Gives way in each poll, and lets no further child begin.
      static Co<> First(const std::atomic<bool>& done) {
        co_await ForkUntil(done);
        for (;;) {
          co_await ConsumeBudget();
        }
      }
      static Co<> Next() { co_return; }
      static Co<> Last(std::atomic<bool>& done) {
        done = true;
        co_await Yield();
        throw std::runtime_error("thrown");
      }
    };
    std::vector<Co<>> children;
    children.push_back(Child::First(done));
    for (int i = 0; i < 1000; ++i) children.push_back(Child::Next());
    children.push_back(Child::Last(done));
    auto all = ForkAll(std::move(children));
    bool thrown = false;
    try {
      co_await all;
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    co_return thrown;
  };
  EXPECT_THAT(runtime_.BlockOn(runtime_.Spawn(task)), IsOkAndHolds(true));
}

TEST_F(StolenForkTest, AnExceptionWaitsForAChildThatRuns) {
  std::atomic<bool> running = false;
  std::atomic<bool> has_ended = false;
  absl::Notification may_end;
  auto a = [&]() -> Co<> {
    co_await ForkUntil(running);
    may_end.Notify();
    throw std::runtime_error("thrown");
  };
  auto b = [&]() -> Co<> {
    running = true;
    may_end.WaitForNotification();
    has_ended = true;
    for (;;) co_await Yield();
  };
  auto task = [&]() -> Co<bool> {
    auto fork = Fork(a, b);
    bool had_ended = false;
    try {
      co_await fork;
    } catch (const std::runtime_error&) {
      had_ended = has_ended;
    }
    co_return had_ended;
  };
  EXPECT_THAT(runtime_.BlockOn(runtime_.Spawn(task)), IsOkAndHolds(true));
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
