// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/block_in_place.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/runtime_scope.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Has a worker on this thread, which tests make other threads run in various
// ways, and another worker, which no thread runs.
class BlockInPlaceTest : public ::testing::Test {
 protected:
  ~BlockInPlaceTest() override {
    scheduler_->Close();
    if (replacement_.joinable()) replacement_.join();
    scheduler_->CancelAll();
    EXPECT_EQ(scheduler_->alive_tasks(), 0u);
    scheduler_->Unref();
  }

  // Runs the worker here until `done`. Returns false if the worker was given
  // away permanently.
  bool RunUntil(const bool& done) {
    const internal::RuntimeScope here(scheduler_);
    return worker().RunUntil([&done] { return done; });
  }

  // Makes another thread take the worker over at once.
  void ReplacementThread() {
    run_elsewhere_ = [this](size_t) {
      replacement_ = std::thread([this] {
        taken_over_ = worker().TakeOver();
        if (taken_over_) {
          taken_.Notify();
          EXPECT_TRUE(worker().Run());
        }
      });
      taken_.WaitForNotification();
    };
  }

  // Makes the hook before a park a call in place that sets `done`.
  void BlockInAHook(bool& done) {
    before_park_ = [this, &done] {
      EXPECT_EQ(CurrentTaskId(), std::nullopt);
      BlockInPlace([this, &done] {
        EXPECT_EQ(Worker::Current(), &worker());
        done = true;
      });
      worker().Unpark();
    };
  }

  Worker& worker() { return scheduler_->worker(0); }

  std::function<void(size_t)> run_elsewhere_ = [this](size_t worker) {
    offered_.push_back(worker);
  };
  std::function<void()> before_park_ = [] {};
  const std::thread::id here_ = std::this_thread::get_id();
  std::vector<size_t> offered_;
  absl::Notification taken_;
  bool taken_over_ = false;
  std::thread replacement_;
  ThreadParker bottom_;
  Scheduler* scheduler_ = new Scheduler(
      std::make_unique<DriverRef<ThreadParker>>(bottom_),
      {.workers = 2,
       .hooks = {.before_park = [this] { before_park_(); }},
       .run_elsewhere = [this](size_t worker) { run_elsewhere_(worker); }});
};

TEST_F(BlockInPlaceTest, OutsideOfATaskOnlyCalls) {
  EXPECT_EQ(BlockInPlace([] { return 7; }), 7);
  EXPECT_THAT(offered_, IsEmpty());
}

// The worker is in the middle of something else.
TEST_F(BlockInPlaceTest, InAHookOnlyCalls) {
  bool done = false;
  BlockInAHook(done);
  EXPECT_TRUE(RunUntil(done));
  EXPECT_THAT(offered_, IsEmpty());
}

// Like the test above, on a thread that runs the worker in place of another:
// there the worker runs in a blocking call, which is a task itself.
TEST_F(BlockInPlaceTest, InAHookOfAReplacementThreadOnlyCalls) {
  bool done = false;
  BlockInAHook(done);
  const task::ScopedTaskId blocking_call(task::NextTaskId());
  EXPECT_TRUE(RunUntil(done));
  EXPECT_THAT(offered_, IsEmpty());
}

// Like the tests above, where a hook destroys a task.
TEST_F(BlockInPlaceTest, InATaskDestroyedByAHookOnlyCalls) {
  bool done = false;
  before_park_ = [&] {
    scheduler_->Close();
    auto blocks = absl::MakeCleanup([&] {
      BlockInPlace([&] {
        EXPECT_EQ(Worker::Current(), &worker());
        done = true;
      });
    });
    auto body = [blocks = std::move(blocks)]() -> Co<> { co_return; };
    // The scheduler is closed already, and tasks that come late are destroyed
    // at once.
    scheduler_->CancelTasks(worker().index());
    scheduler_->Spawn(std::move(body)).Detach();
  };
  EXPECT_TRUE(RunUntil(done));
  EXPECT_TRUE(done);
  EXPECT_THAT(offered_, IsEmpty());
}

// Two tasks wake each other, and never find their worker taken.
TEST_F(BlockInPlaceTest, LetsOtherTasksRunBetweenTwoThatWakeEachOther) {
  bool done = false;
  int rounds = 0;
  AtomicWaker wakers[2];
  auto player = [&](int side) -> Co<> {
    auto play = PollFn([&, side](Context& cx) -> PollResult<void> {
      wakers[side].Register(cx.waker());
      BlockInPlace([] {});
      wakers[1 - side].Wake();
      return ++rounds < 1000 && !done ? PollResult<void>(kPending)
                                      : PollResult<void>();
    });
    co_await play;
  };
  auto other = [&]() -> Co<> {
    co_await Yield();
    done = true;
  };
  for (int side = 0; side < 2; ++side) {
    scheduler_->Spawn([&player, side] { return player(side); }).Detach();
  }
  scheduler_->Spawn(other).Detach();
  RunUntil(done);
  EXPECT_LT(rounds, 1000);
}

TEST_F(BlockInPlaceTest, OffersTheWorkerBeforeItCalls) {
  bool done = false;
  auto body = [&]() -> Co<> {
    BlockInPlace([&] {
      EXPECT_EQ(Worker::Current(), nullptr);
      EXPECT_FALSE(internal::RuntimeScope::MustNotBlock());
      EXPECT_THAT(offered_, ElementsAre(0));
    });
    done = true;
    co_return;
  };
  scheduler_->Spawn(body).Detach();
  RunUntil(done);
}

TEST_F(BlockInPlaceTest, TakesBackAWorkerThatNoThreadHasTaken) {
  bool done = false;
  auto body = [&]() -> Co<> {
    BlockInPlace([] {});
    EXPECT_EQ(Worker::Current(), &worker());
    EXPECT_TRUE(internal::RuntimeScope::MustNotBlock());
    // A thread that comes too late finds no worker to take over.
    EXPECT_FALSE(worker().TakeOver());
    co_await Yield();
    done = true;
  };
  scheduler_->Spawn(body).Detach();
  EXPECT_TRUE(RunUntil(done));
}

TEST_F(BlockInPlaceTest, OneInsideAnotherOnlyCalls) {
  bool done = false;
  auto body = [&]() -> Co<> {
    auto inner = [this] {
      EXPECT_EQ(Worker::Current(), nullptr);
      return offered_.size();
    };
    auto outer = [&inner] {
      const size_t offers = BlockInPlace(inner);
      EXPECT_EQ(Worker::Current(), nullptr);
      return offers;
    };
    EXPECT_EQ(BlockInPlace(outer), 1u);
    EXPECT_EQ(Worker::Current(), &worker());
    done = true;
    co_return;
  };
  scheduler_->Spawn(body).Detach();
  EXPECT_TRUE(RunUntil(done));
}

// The worker was the last one awake, and no thread runs it instead.
TEST_F(BlockInPlaceTest, MakesASleepingWorkerParkInTheDriver) {
  Scheduler::Queues& queues = scheduler_->queues();
  bool done = false;
  auto body = [&]() -> Co<> {
    scheduler_->driver().Release();
    BlockInPlace([this] {
      while (!scheduler_->driver().IsHeld()) std::this_thread::yield();
    });
    done = true;
    co_return;
  };
  scheduler_->Spawn(body).Detach();
  task::Header* const task = queues.Of(0).PopGlobal();
  ASSERT_TRUE(scheduler_->driver().TryHold());
  replacement_ = std::thread([this] { scheduler_->worker(1).Run(); });
  while (!queues.idle().IsAsleep(1)) std::this_thread::yield();
  queues.Of(0).PushNext(task);
  EXPECT_TRUE(RunUntil(done));
}

TEST_F(BlockInPlaceTest, OneAfterAnotherOffersAgain) {
  bool done = false;
  auto body = [&]() -> Co<> {
    BlockInPlace([] {});
    BlockInPlace([] {});
    done = true;
    co_return;
  };
  scheduler_->Spawn(body).Detach();
  EXPECT_TRUE(RunUntil(done));
  EXPECT_THAT(offered_, ElementsAre(0, 0));
}

// Tokio #6596.
TEST_F(BlockInPlaceTest, GivesTheWorkersPrivateTasksToOthers) {
  bool done = false;
  auto nothing = []() -> Co<> { co_return; };
  auto body = [&]() -> Co<> {
    scheduler_->Spawn(nothing).Detach();
    Scheduler::Queues& queues = scheduler_->queues();
    BlockInPlace([&queues] {
      FastRand rand(0);
      task::Header* const task = queues.Of(1).Steal(rand);
      ASSERT_NE(task, nullptr);
      queues.Of(1).EndSearching();
      queues.Inject(task);
    });
    done = true;
    co_return;
  };
  scheduler_->Spawn(body).Detach();
  EXPECT_TRUE(RunUntil(done));
}

TEST_F(BlockInPlaceTest, EndsThePollWithoutTheWorkerIfAnotherThreadHasIt) {
  ReplacementThread();
  std::thread::id ended_on;
  absl::Notification ended;
  auto body = [&]() -> Co<> {
    BlockInPlace([] {});
    EXPECT_EQ(Worker::Current(), nullptr);
    EXPECT_TRUE(internal::RuntimeScope::MustNotBlock());
    EXPECT_EQ(std::this_thread::get_id(), here_);
    // The thread no longer has a worker to give away.
    BlockInPlace([] {});
    co_await Yield();
    ended_on = std::this_thread::get_id();
    ended.Notify();
  };
  scheduler_->Spawn(body).Detach();
  const bool never = false;
  EXPECT_FALSE(RunUntil(never));
  ended.WaitForNotification();
  EXPECT_EQ(ended_on, replacement_.get_id());
  EXPECT_TRUE(taken_over_);
}

TEST_F(BlockInPlaceTest, WithoutItsWorkerATaskSpawnsAndJoins) {
  ReplacementThread();
  absl::Notification ended;
  auto answer = []() -> Co<int> { co_return 42; };
  auto body = [&]() -> Co<> {
    BlockInPlace([] {});
    JoinHandle<int> handle = scheduler_->Spawn(answer);
    EXPECT_EQ(*(co_await handle), 42);
    ended.Notify();
  };
  scheduler_->Spawn(body).Detach();
  const bool never = false;
  EXPECT_FALSE(RunUntil(never));
  ended.WaitForNotification();
}

}  // namespace
}  // namespace rouse::scheduler
