// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/group/task_tracker.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

TEST(TaskTracker, IsDoneWhenItIsClosedAndEmpty) {
  const TaskTracker tracker;
  EXPECT_TRUE(PollOnce(tracker.Wait()).IsPending()) << "open";
  std::optional<TaskTrackerToken> token = tracker.Token();
  tracker.Close();
  EXPECT_TRUE(PollOnce(tracker.Wait()).IsPending()) << "not empty";
  token.reset();
  EXPECT_TRUE(PollOnce(tracker.Wait()).IsReady());
}

TEST(TaskTracker, ReturnsTheNumberOfTasks) {
  const TaskTracker tracker;
  EXPECT_TRUE(tracker.empty());
  EXPECT_FALSE(tracker.is_closed());
  const TaskTrackerToken token = tracker.Token();
  {
    const std::vector<TaskTrackerToken> copies(2, token);
    EXPECT_EQ(tracker.size(), 3u);
  }
  EXPECT_EQ(tracker.size(), 1u);
  EXPECT_TRUE(tracker.Close());
  EXPECT_FALSE(tracker.Close());
  EXPECT_TRUE(tracker.is_closed());
  EXPECT_TRUE(tracker.Reopen());
  EXPECT_FALSE(tracker.Reopen());
  EXPECT_FALSE(tracker.is_closed());
}

TEST(TaskTracker, AMovedTokenCountsOnce) {
  const TaskTracker tracker;
  TaskTrackerToken token = tracker.Token();
  TaskTrackerToken moved = std::move(token);
  EXPECT_EQ(tracker.size(), 1u);
  const TaskTracker other;
  moved = other.Token();
  EXPECT_EQ(tracker.size(), 0u);
  EXPECT_EQ(other.size(), 1u);
}

TEST(TaskTracker, TheLastTaskWakesAllWaiters) {
  const TaskTracker tracker;
  std::optional<TaskTrackerToken> first = tracker.Token();
  std::optional<TaskTrackerToken> second = tracker.Token();
  tracker.Close();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    // More waiters than are woken at once.
    std::vector<TaskTrackerWait> waits;
    for (int i = 0; i < 70; ++i) waits.push_back(tracker.Wait());
    for (TaskTrackerWait& wait : waits) {
      EXPECT_TRUE(PollOnce(wait, waker).IsPending());
    }
    first.reset();
    EXPECT_EQ(task.wakes(), 0);
    second.reset();
    EXPECT_EQ(task.wakes(), 70);
    for (TaskTrackerWait& wait : waits) {
      EXPECT_TRUE(PollOnce(wait, waker).IsReady());
    }
  }
}

TEST(TaskTracker, ClosingAnEmptyTrackerWakesWaiters) {
  const TaskTracker tracker;
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    auto wait = tracker.Wait();
    static_assert(Future<decltype(wait)>);
    EXPECT_TRUE(PollOnce(wait, waker).IsPending());
    tracker.Close();
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_TRUE(PollOnce(wait, waker).IsReady());
  }
}

TEST(TaskTracker, AnEmptyMomentBetweenTwoPollsIsSeen) {
  const TaskTracker tracker;
  auto wait = tracker.Wait();
  EXPECT_TRUE(PollOnce(wait).IsPending());
  tracker.Close();
  tracker.Reopen();
  EXPECT_TRUE(PollOnce(tracker.Wait()).IsPending());
  EXPECT_TRUE(PollOnce(wait).IsReady());
}

TEST(TaskTracker, AnEmptyMomentBeforeTheFirstPollIsSeen) {
  const TaskTracker tracker;
  auto before = tracker.Wait();
  tracker.Close();
  auto during = tracker.Wait();
  tracker.Reopen();
  auto after = tracker.Wait();
  EXPECT_TRUE(PollOnce(before).IsReady());
  EXPECT_TRUE(PollOnce(during).IsReady());
  EXPECT_TRUE(PollOnce(after).IsPending());
  tracker.Close();
  EXPECT_TRUE(PollOnce(after).IsReady());
}

TEST(TaskTracker, WakesTheWakerOfTheLastPoll) {
  const TaskTracker tracker;
  CountingWaker first;
  CountingWaker second;
  {
    auto wait = tracker.Wait();
    for (CountingWaker* task : {&first, &second, &second}) {
      const Waker waker = task->NewWaker();
      EXPECT_TRUE(PollOnce(wait, waker).IsPending());
    }
    EXPECT_EQ(second.clones(), 1);
    tracker.Close();
  }
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(TaskTracker, ACancelledWaitIsNotWoken) {
  const TaskTracker tracker;
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    auto wait = tracker.Wait();
    EXPECT_TRUE(PollOnce(wait, waker).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  tracker.Close();
  EXPECT_EQ(task.wakes(), 0);
}

TEST(TaskTracker, AWaitOutlivesTheTracker) {
  std::optional<TaskTracker> tracker(std::in_place);
  std::optional<TaskTrackerToken> token = tracker->Token();
  tracker->Close();
  auto wait = tracker->Wait();
  tracker.reset();
  EXPECT_TRUE(PollOnce(wait).IsPending());
  token.reset();
  EXPECT_TRUE(PollOnce(wait).IsReady());
}

TEST(TaskTracker, CopiesReferToTheSameTasks) {
  TaskTracker tracker;
  const TaskTracker copy = tracker;
  const TaskTrackerToken token = tracker.Token();
  EXPECT_EQ(copy.size(), 1u);
  tracker = TaskTracker();
  EXPECT_EQ(tracker.size(), 0u);
  EXPECT_EQ(copy.size(), 1u);
}

// Records the number of tasks when it is destroyed.
class Witness {
 public:
  Witness(const TaskTracker& tracker, size_t* seen)
      : tracker_(tracker), seen_(seen) {}
  Witness(Witness&& other) noexcept
      : tracker_(other.tracker_), seen_(std::exchange(other.seen_, nullptr)) {}
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (seen_ != nullptr) *seen_ = tracker_.size();
  }
  PollResult<int> Poll(Context&) { return 3; }

 private:
  const TaskTracker& tracker_;
  size_t* seen_;
};

TEST(TaskTracker, ATaskCountsUntilItsFutureIsDestroyed) {
  const TaskTracker tracker;
  size_t seen = 0;
  {
    auto tracked = tracker.Track(Witness(tracker, &seen));
    EXPECT_EQ(tracker.size(), 1u);
    EXPECT_EQ(PollOnce(tracked).value(), 3);
    EXPECT_EQ(tracker.size(), 1u);
  }
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(tracker.size(), 0u);
}

TEST(TaskTracker, AWaitTakesAUnitOfTheBudget) {
  const TaskTracker tracker;
  tracker.Close();
  const Waker waker;
  Context cx(waker);
  uint32_t ready = 0;
  while (tracker.Wait().Poll(cx).IsReady()) ++ready;
  EXPECT_EQ(ready, kBudgetPerPoll);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(TaskTracker, AThrowingWakerDoesNotStopTheOthers) {
  const TaskTracker tracker;
  CountingWaker bad;
  CountingWaker good;
  bad.OnWake([] { throw std::runtime_error("no"); });
  {
    std::vector<TaskTrackerWait> waits;
    for (int i = 0; i < 40; ++i) waits.push_back(tracker.Wait());
    for (int i = 0; i < 40; ++i) {
      const Waker waker = (i == 0 ? bad : good).NewWaker();
      EXPECT_TRUE(PollOnce(waits[i], waker).IsPending());
    }
    EXPECT_THROW(tracker.Close(), std::runtime_error);
    EXPECT_EQ(good.wakes(), 39);
  }
}

TEST(TaskTracker, MovingAPolledWaitPanics) {
  const TaskTracker tracker;
  CountingWaker task;
  {
    auto wait = tracker.Wait();
    auto moved = std::move(wait);
    EXPECT_TRUE(PollOnce(moved, task.NewWaker()).IsPending());
    EXPECT_PANIC(auto again = std::move(moved), "moved after it was polled");
    tracker.Close();
    EXPECT_EQ(task.wakes(), 1);
    // NOLINTNEXTLINE(bugprone-use-after-move): it was not
    EXPECT_TRUE(PollOnce(moved).IsReady());
  }
}

TEST(TaskTracker, AFutureStillCountsAfterAFailedMove) {
  const TaskTracker tracker;
  const TaskTracker other;
  {
    auto tracked = tracker.Track(other.Wait());
    static_assert(!std::is_move_assignable_v<decltype(tracked)>);
    EXPECT_TRUE(PollOnce(tracked).IsPending());
    EXPECT_PANIC(auto moved = std::move(tracked), "moved after it was polled");
    EXPECT_EQ(tracker.size(), 1u);
    other.Close();
    // NOLINTNEXTLINE(bugprone-use-after-move): it was not
    EXPECT_TRUE(PollOnce(tracked).IsReady());
  }
  EXPECT_TRUE(tracker.empty());
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(TaskTracker, PollingACompleteWaitPanics) {
  const TaskTracker tracker;
  tracker.Close();
  auto wait = tracker.Wait();
  EXPECT_TRUE(PollOnce(wait).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(wait)),
               "TaskTracker::Wait was polled after");
}

TEST(TaskTracker, WaitsForTasksThatOtherThreadsRun) {
  ThreadParker bottom;
  auto* const scheduler = new scheduler::Scheduler(
      std::make_unique<scheduler::DriverRef<ThreadParker>>(bottom),
      scheduler::Options{.workers = 2});
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i) {
    threads.emplace_back([scheduler, i] { scheduler->worker(i).Run(); });
  }
  const TaskTracker tracker;
  std::vector<int> ends(200);
  {
    const scheduler::ScopedDefault current(*scheduler);
    for (int& end : ends) {
      auto body = [&tracker, &end, scheduler]() -> Co<> {
        auto child = [&end]() -> Co<> {
          co_await Yield();
          ++end;
        };
        co_await Yield();
        tracker.SpawnOn(*scheduler, child).Detach();
      };
      tracker.Spawn(body).Detach();
    }
  }
  tracker.Close();
  BlockOn(tracker.Wait());
  // Visible without any other synchronization.
  for (const int end : ends) EXPECT_EQ(end, 1);
  EXPECT_EQ(tracker.size(), 0u);
  scheduler->Close();
  for (std::thread& thread : threads) thread.join();
  scheduler->CancelAll();
  scheduler->Unref();
}

class Waits {
 public:
  PollResult<void> Poll(Context&) { return kPending; }
  void Trace(AwaitTrace& trace) const { trace.AddLeaf("Waits", "for ever"); }
};

TEST(TaskTracker, ATraceShowsWhereATrackedFutureWaits) {
  const TaskTracker tracker;
  const auto tracked = tracker.Track(Waits());
  AwaitTrace trace;
  trace.Add(tracked);
  EXPECT_EQ(trace.ToString(), "awaiting Waits, for ever\n");
}

}  // namespace
}  // namespace rouse
