// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests forks at their limits: deep recursion, its end at any time, the budget,
// task-local values, threads without workers, and errors of the program.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/thread.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/task_local.h"
#include "rouse/future/unconstrained.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/fork.h"
#include "rouse/scheduler/fork_all.h"
#include "rouse/scheduler/parallel_for.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

// More than fit into a stack.
constexpr size_t kDeep = 20000;

Co<> Nothing() { co_return; }

Co<uint64_t> Fibonacci(uint64_t n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await Fork(Fibonacci(n - 1), Fibonacci(n - 2));
  co_return a + b;
}

// Counts the objects that exist.
class Counted {
 public:
  explicit Counted(std::atomic<size_t>& alive) : alive_(alive) { ++alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive_; }

 private:
  std::atomic<size_t>& alive_;
};

Co<> YieldForever() {
  for (;;) co_await Yield();
}

// Forks within a fork, `depth` times, and then never ends.
Co<> NeverEnds(size_t depth, std::atomic<size_t>& alive) {
  const Counted counted(alive);
  if (depth == 0) {
    co_await YieldForever();
    co_return;
  }
  co_await Fork(NeverEnds(depth - 1, alive), Nothing());
}

Co<> AwaitCount(const std::atomic<size_t>& count, size_t at_least) {
  while (count < at_least) co_await Yield();
}

using ForkLimitsTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, ForkLimitsTest, ::testing::Bool(),
                         &KindOfRuntime);

// ---- Deep recursion.

TEST_P(ForkLimitsTest, AbortsADeepRecursion) {
  Runtime runtime = MakeRuntime();
  std::atomic<size_t> alive = 0;
  JoinHandle<void> handle = runtime.Spawn(NeverEnds(kDeep, alive));
  runtime.BlockOn(AwaitCount(alive, kDeep + 1));
  handle.Abort();
  EXPECT_TRUE(absl::IsCancelled(runtime.BlockOn(std::move(handle))));
  EXPECT_EQ(alive, 0u);
}

TEST_P(ForkLimitsTest, ARuntimeEndsDuringADeepRecursion) {
  std::optional<Runtime> runtime = MakeRuntime();
  std::atomic<size_t> alive = 0;
  JoinHandle<void> handle = runtime->Spawn(NeverEnds(kDeep, alive));
  runtime->BlockOn(AwaitCount(alive, kDeep + 1));
  runtime.reset();
  EXPECT_EQ(alive, 0u);
  EXPECT_TRUE(absl::IsCancelled(BlockOn(std::move(handle))));
}

// Counts the polls of a coroutine.
class Counting {
 public:
  Counting(Co<> co, std::atomic<size_t>& polls)
      : co_(std::move(co)), polls_(&polls) {}

  PollResult<void> Poll(Context& cx) {
    ++*polls_;
    return co_.Poll(cx);
  }

 private:
  Co<> co_;
  std::atomic<size_t>* polls_;
};

// The innermost fork gives way again and again, and each time its task is
// polled. The other forks are polled when they begin, when their tasks have
// used up the budget, and when the fork inside has ended.
TEST_P(ForkLimitsTest, AWakeCostsTheSameAtAnyDepth) {
  constexpr size_t kWakes = 1000;
  struct Polls {
    std::atomic<size_t> all = 0;
    size_t by_wakes = 0;
  };
  struct Recursion {
    static Co<> Depth(size_t n, Polls& polls) {
      if (n == 0) {
        const size_t before = polls.all;
        for (size_t i = 0; i < kWakes; ++i) co_await Yield();
        polls.by_wakes = polls.all - before;
        co_return;
      }
      co_await Fork(Counting(Depth(n - 1, polls), polls.all), Nothing());
    }
  };
  Runtime runtime = MakeRuntime();
  Polls polls;
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(Recursion::Depth(kDeep, polls))),
              IsOk());
  EXPECT_GE(polls.all, kDeep);
  EXPECT_LE(polls.by_wakes / kWakes, 200u);
  EXPECT_LE((polls.all - polls.by_wakes) / kDeep, 10u);
}

// Polls a recursion of `NeverEnds()`, and is ready when the recursion is deep.
class PollUntilDeep {
 public:
  PollUntilDeep(ForkFuture<Co<>, Co<>>& deep, const std::atomic<size_t>& alive)
      : deep_(deep), alive_(alive) {}

  PollResult<void> Poll(Context& cx) {
    if (alive_ > kDeep) return {};
    (void)deep_.Poll(cx);
    cx.Yield();
    return kPending;
  }

 private:
  ForkFuture<Co<>, Co<>>& deep_;
  const std::atomic<size_t>& alive_;
};

// A main future that is destroyed before its end.
TEST_P(ForkLimitsTest, DestroysADeepRecursionInTheMainFuture) {
  Runtime runtime = MakeRuntime();
  std::atomic<size_t> alive = 0;
  auto main = [&alive]() -> Co<> {
    auto fork = Fork(NeverEnds(kDeep, alive), Nothing());
    PollUntilDeep until(fork, alive);
    co_await until;
  };
  runtime.BlockOn(main);
  EXPECT_EQ(alive, 0u);
}

// Calls `f()` on a thread with a small stack.
template <class F>
void RunOnSmallStack(F f) {
  absl::StatusOr<Thread> thread =
      Thread::Start("small", std::move(f), size_t{512} << 10);
  ASSERT_THAT(thread, IsOk());
  thread->Join();
}

TEST(ForkWithoutScheduler, RecursesAsDeeplyAsMemoryAllows) {
  struct Recursion {
    static Co<size_t> Depth(size_t n) {
      if (n == 0) co_return 0;
      const auto [deeper, nothing] = co_await Fork(Depth(n - 1), Nothing());
      co_return deeper + 1;
    }
  };
  RunOnSmallStack([] {
    constexpr size_t kDepth = 20000;
    EXPECT_EQ(BlockOn(Recursion::Depth(kDepth)), kDepth);
  });
}

TEST(ForkWithoutScheduler, DestroysADeepRecursion) {
  std::atomic<size_t> alive = 0;
  RunOnSmallStack([&alive] {
    constexpr size_t kDepth = 20000;
    Co<> deep = NeverEnds(kDepth, alive);
    while (alive <= kDepth) EXPECT_TRUE(PollOnce(deep).IsPending());
  });
  EXPECT_EQ(alive, 0u);
}

// A recursion that goes on after its scheduler was closed. The task cannot move
// to others any more.
TEST(ForkShutdown, DuringADeepRecursionIsNoPanic) {
  std::optional<Runtime> runtime =
      *Builder::MultiThread().WorkerThreads(1).Build();
  const Handle outside = runtime->handle();
  struct Control {
    absl::Notification has_begun;
    absl::Notification is_closed;
  };
  struct Recursion {
    static Co<> Depth(size_t n, Control& control) {
      if (n == 0) co_return;
      if (n == kDeep - 10) {
        control.has_begun.Notify();
        control.is_closed.WaitForNotification();
      }
      co_await Fork(Depth(n - 1, control), Nothing());
    }
  };
  Control control;
  JoinHandle<void> handle =
      runtime->Spawn(Unconstrained(Recursion::Depth(kDeep, control)));
  control.has_begun.WaitForNotification();
  std::thread end([&runtime] { runtime.reset(); });
  // The worker runs no other task: a task that ends was cancelled.
  while (!outside.Spawn(Nothing()).IsFinished()) std::this_thread::yield();
  control.is_closed.Notify();
  end.join();
  const absl::Status status = BlockOn(std::move(handle));
  EXPECT_FALSE(absl::IsInternal(status)) << status;
}

// ---- Threads without a worker.

TEST(ForkOnAnyThread, EndsUnderEnterOfARuntimeThatNoThreadRuns) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_THAT(runtime, IsOk());
  const auto enter = runtime->Enter();
  EXPECT_EQ(BlockOn(Fibonacci(15)), 610u);
}

TEST(ForkOnAnyThread, ComputesOnTheWorkersUnderEnter) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(2).Build();
  ASSERT_THAT(runtime, IsOk());
  const auto enter = runtime->Enter();
  std::thread::id id;
  auto note = [&id]() -> Co<> {
    id = std::this_thread::get_id();
    co_return;
  };
  BlockOn(Fork(note, Nothing()));
  EXPECT_NE(id, std::this_thread::get_id());
  EXPECT_EQ(BlockOn(Fibonacci(15)), 610u);
}

// A task would need a worker that is free.
TEST(ForkOnAnyThread, AForkWithoutChildrenIsReadyAtOnce) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(1).Build();
  ASSERT_THAT(runtime, IsOk());
  const auto enter = runtime->Enter();
  auto none = ForkAll(std::vector<Co<int>>());
  EXPECT_TRUE(PollOnce(none).IsReady());
}

TEST(ForkOnAnyThread, EndsUnderEnterOfARuntimeThatHasEnded) {
  std::optional<Runtime> runtime =
      *Builder::MultiThread().WorkerThreads(1).Build();
  const Handle handle = runtime->handle();
  runtime.reset();
  const auto enter = handle.Enter();
  EXPECT_EQ(BlockOn(Fibonacci(15)), 610u);
}

// ---- The budget.

// Returns the largest number by which `count` grows in one poll of `future`.
template <class F>
size_t MostInOnePoll(F future, const std::atomic<size_t>& count) {
  Runtime runtime = *Builder::CurrentThread().Build();
  std::atomic<bool> done = false;
  auto task = [&]() -> Co<> {
    co_await future;
    done = true;
  };
  auto watch = [&]() -> Co<size_t> {
    size_t most = 0;
    for (size_t before = 0;;) {
      const size_t now = count;
      most = std::max(most, now - before);
      before = now;
      if (done) break;
      co_await Yield();
    }
    co_return most;
  };
  JoinHandle<void> handle = runtime.Spawn(task);
  const absl::StatusOr<size_t> most = runtime.BlockOn(runtime.Spawn(watch));
  EXPECT_THAT(runtime.BlockOn(std::move(handle)), IsOk());
  return *most;
}

TEST(ForkBudget, CountsEachChild) {
  std::atomic<size_t> count = 0;
  auto children =
      std::views::iota(0, 10000) | std::views::transform([&count](int) -> Co<> {
        struct Child {
          static Co<> Run(std::atomic<size_t>& count) {
            ++count;
            co_return;
          }
        };
        return Child::Run(count);
      });
  const size_t most = MostInOnePoll(ForkAll(children), count);
  EXPECT_EQ(count, 10000u);
  EXPECT_GE(most, 1000u);
  EXPECT_LE(most, 2048u);
}

TEST(ForkBudget, CountsTheChildrenOfChildren) {
  std::atomic<size_t> count = 0;
  struct Recursion {
    static Co<> Tree(size_t n, std::atomic<size_t>& count) {
      ++count;
      if (n > 0) co_await Fork(Tree(n - 1, count), Tree(n - 1, count));
    }
  };
  const size_t most = MostInOnePoll(Recursion::Tree(13, count), count);
  EXPECT_EQ(count, (size_t{2} << 13) - 1);
  EXPECT_GE(most, 1000u);
  EXPECT_LE(most, 2049u);  // with the root
}

// Not breadth-first, however often the computation gives way.
TEST(ForkBudget, ALongComputationHasFewFramesAtOnce) {
  struct Most {
    size_t alive = 0;
    size_t most = 0;
  };
  struct Recursion {
    static Co<> Tree(size_t n, Most& most) {
      most.most = std::max(most.most, ++most.alive);
      if (n > 0) co_await Fork(Tree(n - 1, most), Tree(n - 1, most));
      --most.alive;
    }
  };
  constexpr size_t kDepth = 18;
  Runtime runtime = *Builder::CurrentThread().Build();
  Most most;
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(Recursion::Tree(kDepth, most))),
              IsOk());
  EXPECT_EQ(most.most, kDepth + 1);
}

TEST(ForkBudget, EachPartOfALoopTakesAUnit) {
  std::atomic<size_t> count = 0;
  auto call = [&count](int) { ++count; };
  const size_t most = MostInOnePoll(ParallelFor(0, 10000, 10, call), count);
  EXPECT_EQ(count, 10000u);
  EXPECT_GE(most, 500u);
  EXPECT_LE(most, 1280u);
}

TEST(ForkBudget, ShortLoopsTakeAUnitEach) {
  std::atomic<size_t> count = 0;
  auto loops = [&count]() -> Co<> {
    auto call = [&count](int) { ++count; };
    for (int i = 0; i < 1000; ++i) co_await ParallelFor(0, 2, 10, call);
  };
  const size_t most = MostInOnePoll(loops(), count);
  EXPECT_EQ(count, 2000u);
  EXPECT_LE(most, 256u);
}

// ---- Task-local values, with another worker that has nothing to do.

class IdleWorkerTest : public testing::Test {
 protected:
  // Runs `future` in a task, and returns its outcome.
  template <class F>
  absl::Status Run(F future) {
    return runtime_->BlockOn(runtime_->Spawn(std::move(future)));
  }

  absl::StatusOr<Runtime> runtime_ =
      Builder::MultiThread().WorkerThreads(2).Build();
};

constinit TaskLocal<std::unique_ptr<int>> unique("unique");

// Otherwise a child would see the value or not, by chance.
TEST_F(IdleWorkerTest, ChildrenStayWithAValueThatCannotBeCopied) {
  auto forks = []() -> Co<> {
    const std::thread::id id = std::this_thread::get_id();
    for (int i = 0; i < 10000; ++i) {
      bool same = false;
      int seen = 0;
      auto child = [&]() -> Co<> {
        same = std::this_thread::get_id() == id;
        std::unique_ptr<int>* const value = unique.Get();
        if (value != nullptr && *value != nullptr) seen = **value;
        co_return;
      };
      auto other = [&]() -> Co<> { co_await Fork(Nothing(), Nothing()); };
      co_await unique.Scope(std::make_unique<int>(7), Fork(other, child));
      EXPECT_EQ(seen, 7);
      EXPECT_TRUE(same);
      if (seen != 7 || !same) break;
    }
  };
  auto task = [&forks]() -> Co<> { co_await Unconstrained(forks()); };
  EXPECT_THAT(Run(task), IsOk());
}

#ifdef ABSL_HAVE_EXCEPTIONS

class CannotBeCopiedNow {
 public:
  explicit CannotBeCopiedNow(std::atomic<size_t>* copies) : copies_(copies) {}
  CannotBeCopiedNow(CannotBeCopiedNow&&) = default;
  CannotBeCopiedNow(const CannotBeCopiedNow& other) : copies_(other.copies_) {
    ++*copies_;
    throw std::runtime_error("not now");
  }
  CannotBeCopiedNow& operator=(const CannotBeCopiedNow&) = delete;
  ~CannotBeCopiedNow() = default;

 private:
  std::atomic<size_t>* copies_;
};

constinit TaskLocal<CannotBeCopiedNow> throwing("throwing");

TEST_F(IdleWorkerTest, NothingLeaksWhenTheCopyOfAValueThrows) {
  std::atomic<size_t> copies = 0;
  auto forks = [&]() -> Co<> {
    while (copies < 20000) co_await Fork(Nothing(), Nothing());
  };
  auto task = [&]() -> Co<> {
    co_await throwing.Scope(CannotBeCopiedNow(&copies), forks());
  };
  const size_t before = FramePool::BytesHeld();
  EXPECT_THAT(Run(task), IsOk());
  EXPECT_LT(FramePool::BytesHeld(), before + (size_t{1} << 20));
}

#endif  // ABSL_HAVE_EXCEPTIONS

// ---- A fork moves between threads.

// The coroutine's code must not keep the address of a variable of the thread on
// which the coroutine was before.
TEST_F(IdleWorkerTest, ForksBeforeAndAfterTheTaskChangesThreads) {
  auto wander = []() -> Co<uint64_t> {
    uint64_t sum = 0;
    for (int i = 0; i < 2000; ++i) {
      sum += co_await Fibonacci(6);
      const auto [a, b] = co_await Fork(Fibonacci(5), Fibonacci(4));
      sum += a + b;
      co_await Yield();
    }
    co_return sum;
  };
  std::vector<JoinHandle<uint64_t>> tasks;
  for (int i = 0; i < 4; ++i) tasks.push_back(runtime_->Spawn(wander));
  for (JoinHandle<uint64_t>& task : tasks) {
    EXPECT_THAT(runtime_->BlockOn(std::move(task)), IsOkAndHolds(2000u * 16));
  }
}

// ---- Blocking.

#ifdef ABSL_HAVE_EXCEPTIONS

// The child's poll waits for a task of the worker that destroys the fork.
TEST_F(IdleWorkerTest, AWorkerThatWaitsForAChildLetsOthersRunItsTasks) {
  std::atomic<bool> running = false;
  absl::Notification other_has_run;
  auto throws = [&]() -> Co<> {
    auto forks = [&running]() -> Co<> {
      while (!running) co_await Fork(Nothing(), Nothing());
    };
    co_await Unconstrained(forks());
    Spawn([&other_has_run]() -> Co<> {
      other_has_run.Notify();
      co_return;
    }).Detach();
    throw std::runtime_error("thrown");
  };
  auto child = [&]() -> Co<> {
    running = true;
    other_has_run.WaitForNotification();
    for (;;) co_await Yield();
  };
  auto task = [&]() -> Co<> { co_await Fork(throws, child); };
  EXPECT_THAT(Run(task), StatusIs(absl::StatusCode::kInternal,
                                  ::testing::HasSubstr("thrown")));
}

#endif  // ABSL_HAVE_EXCEPTIONS

// ---- Errors of the program.

// A fork whose first child destroys the fork, in the child's own poll.
class SelfDestroyingFork {
 public:
  SelfDestroyingFork() { fork_.emplace(Run(*this), Nothing()); }

  void Poll() {
    if (PollOnce(*fork_).IsReady()) return;
    was_polled_.Notify();
    absl::Notification never;
    never.WaitForNotification();
  }

 private:
  static Co<> Run(SelfDestroyingFork& self) {
    self.was_polled_.WaitForNotification();
    self.fork_.reset();
    co_return;
  }

  absl::Notification was_polled_;
  std::optional<ForkFuture<Co<>, Co<>>> fork_;
};

TEST(ForkDeathTest, AChildMustNotDestroyItsFork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        // A worker of the runtime polls the children.
        Runtime runtime = *Builder::MultiThread().WorkerThreads(1).Build();
        const auto enter = runtime.Enter();
        SelfDestroyingFork().Poll();
      },
      "destroyed by one of its own children");
}

}  // namespace
}  // namespace rouse
