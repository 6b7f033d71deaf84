// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/scheduler.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/worker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::Each;
using ::testing::Le;

// Has a scheduler without timers, sockets or a runtime.
class SchedulerTest : public ::testing::Test {
 protected:
  ~SchedulerTest() override {
    scheduler_->Close();
    scheduler_->CancelAll();
    EXPECT_EQ(scheduler_->alive_tasks(), 0u);
    scheduler_->Unref();
  }

  static constexpr size_t kWorkers = 3;

  // Runs tasks on this thread until no runnable task is left.
  void RunReady() {
    const ScopedDefault current(*scheduler_);
    Worker& worker = scheduler_->worker(0);
    bool idle = false;
    auto mark = [&idle]() -> Co<> {
      idle = true;
      co_return;
    };
    // Spawned behind all tasks queued now.
    scheduler_->Spawn(mark).Detach();
    worker.RunUntil([&idle] { return idle; });
  }

  ThreadParker bottom_;
  Scheduler* scheduler_ =
      new Scheduler(std::make_unique<DriverRef<ThreadParker>>(bottom_),
                    {.workers = kWorkers, .global_queue_interval = 61});
};

TEST_F(SchedulerTest, RunsTasksInSpawnOrder) {
  std::vector<int> order;
  auto note = [&order](int i) -> Co<> {
    order.push_back(i);
    co_return;
  };
  for (int i = 0; i < 5; ++i) {
    scheduler_->Spawn([&note, i] { return note(i); }).Detach();
  }
  RunReady();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(SchedulerTest, ATaskThatYieldsGoesBehindTheOthers) {
  class YieldOnce {
   public:
    YieldOnce() = default;
    PollResult<void> Poll(Context& cx) {
      if (std::exchange(yielded_, true)) return {};
      cx.waker().WakeByRef();
      return kPending;
    }

   private:
    bool yielded_ = false;
  };
  std::vector<int> order;
  auto body = [&order](int i) -> Co<> {
    order.push_back(i);
    co_await YieldOnce();
    order.push_back(i + 10);
  };
  scheduler_->Spawn([&body] { return body(1); }).Detach();
  scheduler_->Spawn([&body] { return body(2); }).Detach();
  RunReady();
  RunReady();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 11, 12}));
}

TEST_F(SchedulerTest, AFullGlobalQueueDoesNotDelayAWorkersOwnTasks) {
  ThreadParker bottom;
  // Checks the global queue as often as possible.
  auto* const scheduler =
      new Scheduler(std::make_unique<DriverRef<ThreadParker>>(bottom),
                    {.workers = 2, .global_queue_interval = 1});
  int polled = 0;
  int polled_before_child = -1;
  auto child = [&]() -> Co<> {
    polled_before_child = polled;
    co_return;
  };
  auto parent = [&]() -> Co<> {
    Spawn(child).Detach();
    co_return;
  };
  auto other = [&polled]() -> Co<> {
    ++polled;
    co_return;
  };
  // Fill the worker's queue, so that the child comes behind its tasks, and then
  // keep the global queue full.
  constexpr int kOthers = 4000;
  for (int i = 0; i < 200; ++i) scheduler->Spawn(other).Detach();
  scheduler->Spawn(parent).Detach();
  for (int i = 0; i < kOthers; ++i) scheduler->Spawn(other).Detach();
  {
    const ScopedDefault current(*scheduler);
    scheduler->worker(0).RunUntil([&] { return polled == 200 + kOthers; });
  }
  EXPECT_GE(polled_before_child, 0);
  // The child's turn comes after a queue of 256, and as many tasks from the
  // global queue.
  EXPECT_LE(polled_before_child, 200 + 2 * 256);
  scheduler->Close();
  scheduler->CancelAll();
  scheduler->Unref();
}

// A driver that counts the checks for events.
class CountingDriver final : public AnyDriver {
 public:
  explicit CountingDriver(int* checks) : checks_(checks) {}

  void Park() override { parker_.Park(); }
  void ParkFor(absl::Duration) override { ++*checks_; }
  absl::Duration PrepareToWait() override { return absl::ZeroDuration(); }
  void Shutdown() override {}
  void Unpark() const override { unparker_.Unpark(); }

 private:
  int* const checks_;
  ThreadParker parker_;
  const ThreadParker::Unparker unparker_ = parker_.unparker();
};

// One check before each round of tasks that have yielded, and one after every
// 61 polls.
TEST(Scheduler, TasksThatYieldShareACheckForEvents) {
  constexpr int kYields = 100;
  for (const int tasks : {1, 10, 200}) {
    int checks = 0;
    auto* const scheduler =
        new Scheduler(std::make_unique<CountingDriver>(&checks));
    int left = tasks;
    auto yields = [&left]() -> Co<> {
      for (int i = 0; i < kYields; ++i) co_await Yield();
      --left;
    };
    for (int i = 0; i < tasks; ++i) scheduler->Spawn(yields).Detach();
    scheduler->worker(0).RunUntil([&left] { return left == 0; });
    const int after_polls = tasks * (kYields + 1) / 61;
    const int of_rounds = tasks < 61 ? kYields : 0;
    EXPECT_GE(checks, std::max(of_rounds, after_polls)) << tasks;
    EXPECT_LE(checks, of_rounds + after_polls + 2) << tasks;
    scheduler->Close();
    scheduler->CancelAll();
    scheduler->Unref();
  }
}

// A task that uses up its budget is busy: a check each time would be expensive.
TEST(Scheduler, AForcedYieldCostsNoCheckForEvents) {
  int checks = 0;
  auto* const scheduler =
      new Scheduler(std::make_unique<CountingDriver>(&checks));
  bool done = false;
  int polls = 0;
  auto busy = PollFn([&](Context& cx) -> PollResult<void> {
    if (++polls <= 610) return YieldForBudget(cx);
    done = true;
    return {};
  });
  scheduler->Spawn(busy).Detach();
  scheduler->worker(0).RunUntil([&done] { return done; });
  EXPECT_EQ(polls, 611);
  // The checks after every 61 polls.
  EXPECT_GE(checks, 9);
  EXPECT_LE(checks, 12);
  scheduler->Close();
  scheduler->CancelAll();
  scheduler->Unref();
}

// Like the test above, for something that takes the place of a task.
TEST(Scheduler, AForcedYieldOutsideATaskCostsNoCheckForEvents) {
  int checks = 0;
  auto* const scheduler =
      new Scheduler(std::make_unique<CountingDriver>(&checks));
  Worker& worker = scheduler->worker(0);
  int turns = 0;
  worker.RunUntil([&worker, &turns] {
    if (worker.IsYielding()) return false;
    worker.BeginYield(/*by_force=*/true);
    return ++turns > 610;
  });
  // The checks after every 61 turns.
  EXPECT_GE(checks, 9);
  EXPECT_LE(checks, 12);
  scheduler->Close();
  scheduler->CancelAll();
  scheduler->Unref();
}

// One of several workers. The time limit cannot make the check later.
TEST(Scheduler, AWorkerChecksTheGlobalQueueWithin127Polls) {
  ThreadParker bottoms[2];
  auto* const scheduler = new Scheduler(
      std::make_unique<DriverRef<ThreadParker>>(bottoms[0]), {.workers = 2});
  // The tasks woken by this scheduler's worker come to the other scheduler from
  // outside, at no cost.
  auto* const outside =
      new Scheduler(std::make_unique<DriverRef<ThreadParker>>(bottoms[1]), {});
  std::optional<Waker> waits;
  int polls = 0;
  int polls_before = 0;
  std::vector<int> distances;
  auto woken = PollFn([&](Context& cx) -> PollResult<void> {
    ++polls;
    distances.push_back(polls - std::exchange(polls_before, polls));
    waits = cx.waker().Clone();
    return kPending;
  });
  auto busy = [&]() -> Co<> {
    for (;;) {
      ++polls;
      if (waits.has_value()) {
        outside->worker(0).RunUntil([&waits] {
          std::move(*waits).Wake();
          return true;
        });
        waits.reset();
      }
      co_await Yield();
    }
  };
  scheduler->Spawn(busy).Detach();
  scheduler->Spawn(woken).Detach();
  scheduler->worker(0).RunUntil([&distances] { return distances.size() > 50; });
  EXPECT_THAT(distances, Each(Le(127)));
  for (Scheduler* const each : {scheduler, outside}) {
    each->Close();
    each->CancelAll();
    each->Unref();
  }
}

TEST_F(SchedulerTest, SpawnUsesTheCurrentScheduler) {
  EXPECT_EQ(Current(), nullptr);
  const ScopedDefault current(*scheduler_);
  EXPECT_EQ(Current(), scheduler_);
  auto body = []() -> Co<int> { co_return 1; };
  JoinHandle<int> handle = Spawn(body);
  RunReady();
  EXPECT_TRUE(handle.IsFinished());
}

TEST_F(SchedulerTest, CountsLiveTasks) {
  auto body = []() -> Co<> { co_return; };
  scheduler_->Spawn(body).Detach();
  scheduler_->Spawn(body).Detach();
  EXPECT_EQ(scheduler_->alive_tasks(), 2u);
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 0u);
}

// Tasks spawn tasks from every worker while others wake them from outside; all
// workers park and are unparked all the time. A lost wake-up would hang the
// test.
TEST_F(SchedulerTest, LosesNoTaskWhileWorkersParkAndUnpark) {
  constexpr int kRounds = 2'000;
  constexpr int kFan = 4;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kWorkers; ++i) {
    threads.emplace_back([this, i] {
      const ScopedDefault current(*scheduler_);
      scheduler_->worker(i).Run();
    });
  }
  std::atomic<int> ran{0};
  auto leaf = [&ran]() -> Co<> {
    ran.fetch_add(1);
    co_return;
  };
  for (int i = 0; i < kRounds; ++i) {
    auto root = [&leaf]() -> Co<> {
      std::vector<JoinHandle<void>> handles;
      for (int j = 0; j < kFan; ++j) handles.push_back(Spawn(leaf));
      for (JoinHandle<void>& handle : handles) (void)co_await handle;
    };
    JoinHandle<void> handle = scheduler_->Spawn(root);
    ThreadParker parker;
    const ThreadParker::Unparker unparker = parker.unparker();
    for (;;) {
      Context cx(unparker.waker());
      PollResult<absl::Status> result = handle.Poll(cx);
      if (result.IsReady()) {
        EXPECT_THAT(*result, IsOk());
        break;
      }
      parker.Park();
    }
  }
  EXPECT_EQ(ran.load(), kRounds * kFan);
  scheduler_->Close();
  for (std::thread& thread : threads) thread.join();
}

// A driver whose unparker can be held up in the middle.
class HeldUpDriver {
 public:
  struct Control {
    std::atomic<bool> hold_next{false};
    absl::Notification held;
    absl::Notification go_on;
  };

  class Unparker {
   public:
    Unparker(ThreadParker::Unparker below, Control* control)
        : below_(std::move(below)), control_(control) {}
    void Unpark() const {
      if (control_->hold_next.exchange(false)) {
        control_->held.Notify();
        control_->go_on.WaitForNotification();
      }
      below_.Unpark();
    }

   private:
    ThreadParker::Unparker below_;
    Control* control_;
  };

  Unparker unparker() { return Unparker(below_.unparker(), &control); }
  void Park() {
    if (!parked.HasBeenNotified()) parked.Notify();
    below_.Park();
  }
  void ParkFor(absl::Duration limit) { below_.ParkFor(limit); }
  void Shutdown() {}

  // Ends a park without the unparker above.
  void HaveAnEvent() { below_.unparker().Unpark(); }

  Control control;
  absl::Notification parked;

 private:
  ThreadParker below_;
};

// A thread wakes a task. The task ends, and with it the scheduler, before that
// thread has unparked a worker.
TEST(Scheduler, LivesUntilAWakingThreadIsDoneWithIt) {
  HeldUpDriver driver;
  auto* scheduler =
      new Scheduler(std::make_unique<DriverRef<HeldUpDriver>>(driver));
  class Gate {
   public:
    Gate(std::atomic<bool>* open, Waker* waker) : open_(open), waker_(waker) {}
    PollResult<void> Poll(Context& cx) {
      if (*open_) return {};
      *waker_ = cx.waker().Clone();
      return kPending;
    }

   private:
    std::atomic<bool>* open_;
    Waker* waker_;
  };
  std::atomic<bool> open{false};
  Waker waker;
  JoinHandle<void> handle = scheduler->Spawn(Gate(&open, &waker));
  std::thread worker([scheduler] { scheduler->worker(0).Run(); });
  driver.parked.WaitForNotification();
  driver.control.hold_next = true;
  open = true;
  std::thread waking([&waker] { std::move(waker).Wake(); });
  driver.control.held.WaitForNotification();
  driver.HaveAnEvent();
  while (!handle.IsFinished()) std::this_thread::yield();
  handle.Detach();
  scheduler->Close();
  worker.join();
  scheduler->CancelAll();
  scheduler->Unref();
  driver.control.go_on.Notify();
  waking.join();
}

// To all other threads the task is running, so no other thread cancels it.
TEST_F(SchedulerTest, CancelTasksCancelsATaskThatHasYielded) {
  auto body = []() -> Co<> {
    for (;;) co_await Yield();
  };
  const JoinHandle<void> yielding = scheduler_->Spawn(body);
  RunReady();
  EXPECT_FALSE(yielding.IsFinished());
  scheduler_->Close();
  scheduler_->CancelTasks(0);
  EXPECT_TRUE(yielding.IsFinished());
}

TEST_F(SchedulerTest, CancelTasksDestroysSuspendedAndQueuedTasks) {
  class Never {
   public:
    PollResult<void> Poll(Context&) { return kPending; }
  };
  JoinHandle<void> suspended = scheduler_->Spawn(Never());
  RunReady();
  JoinHandle<void> queued = scheduler_->Spawn(Never());
  scheduler_->Close();
  scheduler_->CancelTasks(0);
  const Waker waker;
  Context cx(waker);
  EXPECT_THAT(suspended.Poll(cx).value(),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(queued.Poll(cx).value(), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace rouse::scheduler
