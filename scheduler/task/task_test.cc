// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task/task.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/task_fixture.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::Optional;

TEST_F(TaskTest, RunsAndIsJoined) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  EXPECT_TRUE(PollOnce(handle).IsPending());
  schedule_->RunAll();
  EXPECT_EQ(polls_, 1);
  EXPECT_FALSE(handle.IsFinished());
  open_ = true;
  std::move(waker_).Wake();
  schedule_->RunAll();
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
}

TEST_F(TaskTest, CompletionWakesTheJoiner) {
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  int woken = 0;
  const Waker waker = Waker::FromCallable([&woken] { ++woken; });
  Context cx(waker);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  schedule_->RunAll();
  EXPECT_EQ(woken, 1);
}

TEST_F(TaskTest, PollFinishedReportsCompletionAndLeavesTheResult) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  int woken = 0;
  const Waker waker = Waker::FromCallable([&woken] { ++woken; });
  Context cx(waker);
  EXPECT_TRUE(handle.PollFinished(cx).IsPending());
  schedule_->RunAll();
  open_ = true;
  std::move(waker_).Wake();
  schedule_->RunAll();
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(handle.PollFinished(cx).IsReady());
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
  EXPECT_TRUE(handle.PollFinished(cx).IsReady());
}

// Trap S20 (tokio #6986).
TEST_F(TaskTest, ADroppedHandleDropsItsWaker) {
  int alive_wakers = 0;
  {
    JoinHandle<int> handle = schedule_->Start(Gate(this));
    const Waker waker = CountedWaker(&alive_wakers);
    Context cx(waker);
    EXPECT_TRUE(handle.Poll(cx).IsPending());
  }
  EXPECT_EQ(alive_wakers, 0);
  open_ = true;
  schedule_->RunAll();
}

TEST_F(TaskTest, CompletionDropsTheWaker) {
  int alive_wakers = 0;
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  {
    const Waker waker = CountedWaker(&alive_wakers);
    Context cx(waker);
    EXPECT_TRUE(handle.Poll(cx).IsPending());
  }
  EXPECT_EQ(alive_wakers, 1);
  schedule_->RunAll();
  EXPECT_EQ(alive_wakers, 0);
}

TEST_F(TaskTest, TheWakerOfTheLastPollIsWoken) {
  int alive_wakers = 0;
  int woken[2] = {0, 0};
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  for (int& count : woken) {
    const Waker waker = CountedWaker(&alive_wakers, &count);
    for (int again = 0; again < 2; ++again) {
      Context cx(waker);
      EXPECT_TRUE(handle.Poll(cx).IsPending());
    }
  }
  EXPECT_EQ(alive_wakers, 1);
  open_ = true;
  schedule_->RunAll();
  EXPECT_EQ(woken[0], 0);
  EXPECT_EQ(woken[1], 1);
}

TEST_F(TaskTest, PollingAgainWithTheSameWakerClonesNothing) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  static constexpr RawWakerVTable kCounting = {
      [](void* clones) {
        ++*static_cast<int*>(clones);
        return RawWaker{clones, &kCounting};
      },
      [](void*) {},
      [](void*) {},
      [](void*) {},
  };
  int clones = 0;
  const Waker waker(RawWaker{&clones, &kCounting});
  Context cx(waker);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  EXPECT_EQ(clones, 1);
  handle.Abort();
  schedule_->RunAll();
}

TEST_F(TaskTest, AWakerCanDropTheHandle) {
  open_ = true;
  std::optional<JoinHandle<int>> handle = schedule_->Start(Gate(this));
  const Waker waker = Waker::FromCallable([&handle] { handle.reset(); });
  Context cx(waker);
  EXPECT_TRUE(handle->Poll(cx).IsPending());
  schedule_->RunAll();
  EXPECT_FALSE(handle.has_value());
}

TEST_F(TaskTest, TheTaskCanDropItsHandle) {
  std::optional<JoinHandle<void>> handle;
  auto body = [&]() -> Co<> {
    handle.reset();
    co_return;
  };
  handle = schedule_->Start(body);
  schedule_->RunAll();
}

TEST_F(TaskTest, ADetachedTaskDropsItsOutput) {
  auto body = [this]() -> Co<std::unique_ptr<Tracked>> {
    co_return std::make_unique<Tracked>(&alive_);
  };
  schedule_->Start(body).Detach();
  schedule_->RunAll();
  EXPECT_EQ(alive_, 0);
}

TEST_F(TaskTest, AnUntakenOutputIsDestroyedWithTheHandle) {
  auto body = [this]() -> Co<std::unique_ptr<Tracked>> {
    co_return std::make_unique<Tracked>(&alive_);
  };
  auto handle = schedule_->Start(body);
  schedule_->RunAll();
  EXPECT_EQ(alive_, 1);
  handle.Detach();
  EXPECT_EQ(alive_, 0);
}

TEST_F(TaskTest, TheHandleKeepsTheIdOfADestroyedTask) {
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  EXPECT_EQ(handle.id(), 1u);
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
  EXPECT_EQ(handle.id(), 1u);
}

// Records the current task id wherever the user's code runs.
class RecordsTaskId {
 public:
  explicit RecordsTaskId(std::vector<std::optional<TaskId>>* seen)
      : seen_(seen) {}
  RecordsTaskId(RecordsTaskId&& other) noexcept
      : seen_(std::exchange(other.seen_, nullptr)) {}
  RecordsTaskId& operator=(RecordsTaskId&&) = delete;
  ~RecordsTaskId() {
    if (seen_ != nullptr) seen_->push_back(CurrentTaskId());
  }
  PollResult<void> Poll(Context&) {
    seen_->push_back(CurrentTaskId());
    return kPending;
  }

 private:
  std::vector<std::optional<TaskId>>* seen_;
};

TEST_F(TaskTest, TheCurrentTaskIsThePolledOrDestroyedOne) {
  std::vector<std::optional<TaskId>> seen;
  JoinHandle<void> aborted = schedule_->Start(RecordsTaskId(&seen));
  schedule_->RunAll();
  aborted.Abort();
  schedule_->RunAll();
  JoinHandle<void> shut_down = schedule_->Start(RecordsTaskId(&seen));
  schedule_->ShutdownListed();
  schedule_->RunAll();
  EXPECT_THAT(seen, ElementsAre(Optional(1u), Optional(1u), Optional(2u)));
  EXPECT_EQ(CurrentTaskId(), std::nullopt);
}

// An output that records its destruction.
class RecordsItsEnd {
 public:
  explicit RecordsItsEnd(std::vector<std::optional<TaskId>>* seen)
      : seen_(seen) {}
  RecordsItsEnd(RecordsItsEnd&& other) noexcept
      : seen_(std::exchange(other.seen_, nullptr)) {}
  RecordsItsEnd& operator=(RecordsItsEnd&&) = delete;
  ~RecordsItsEnd() {
    if (seen_ != nullptr) seen_->push_back(CurrentTaskId());
  }

 private:
  std::vector<std::optional<TaskId>>* seen_;
};

TEST_F(TaskTest, ATaskIsCurrentWhileItsOutputIsDestroyed) {
  std::vector<std::optional<TaskId>> seen;
  auto body = [&seen]() -> Co<RecordsItsEnd> {
    co_return RecordsItsEnd(&seen);
  };
  schedule_->Start(body).Detach();
  schedule_->RunAll();
  {
    const JoinHandle<RecordsItsEnd> handle = schedule_->Start(body);
    schedule_->RunAll();
    EXPECT_THAT(seen, ElementsAre(Optional(1u)));
  }
  EXPECT_THAT(seen, ElementsAre(Optional(1u), Optional(2u)));
  EXPECT_EQ(CurrentTaskId(), std::nullopt);
}

TEST_F(TaskTest, TheCurrentTaskIsRestoredAfterAnInnerTask) {
  auto* inner_schedule = new ManualSchedule;
  std::vector<std::optional<TaskId>> seen;
  auto inner = [&]() -> Co<> {
    seen.push_back(CurrentTaskId());
    co_return;
  };
  inner_schedule->Start(inner).Detach();
  inner_schedule->RunAll();
  auto outer = [&]() -> Co<> {
    inner_schedule->Start(inner).Detach();
    inner_schedule->RunAll();
    seen.push_back(CurrentTaskId());
    co_return;
  };
  schedule_->Start(outer).Detach();
  schedule_->RunAll();
  EXPECT_THAT(seen, ElementsAre(Optional(1u), Optional(2u), Optional(1u)));
  inner_schedule->Unref();
}

TEST_F(TaskTest, ACallableIsKeptUntilItsFutureIsDestroyed) {
  auto body = [tracked = Tracked(&alive_), this]() -> Co<int> {
    co_return co_await Gate(this);
  };
  JoinHandle<int> handle = schedule_->Start(std::move(body));
  schedule_->RunAll();
  open_ = true;
  std::move(waker_).Wake();
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
}

// Threads wake, abort and join a task while another thread runs it.
TEST_F(TaskTest, SurvivesConcurrentWakesAbortsAndJoins) {
  for (int round = 0; round < 500; ++round) {
    class Counter {
     public:
      explicit Counter(std::atomic<int>* left) : left_(left) {}
      PollResult<void> Poll(Context& cx) {
        if (left_->fetch_sub(1) <= 0) return {};
        cx.waker().WakeByRef();
        return kPending;
      }

     private:
      std::atomic<int>* left_;
    };
    // A queue to which several threads may push.
    class LockedSchedule final : public Schedule {
     public:
      void Submit(Header* task) override { Resubmit(task); }
      void Resubmit(Header* task) override {
        const std::lock_guard lock(mu_);
        queue_.push_back(task);
      }
      bool Release(Header*) override { return true; }
      Header* Pop() {
        const std::lock_guard lock(mu_);
        if (queue_.empty()) return nullptr;
        Header* task = queue_.front();
        queue_.pop_front();
        return task;
      }

     private:
      std::mutex mu_;
      std::deque<Header*> queue_;
    };
    std::atomic<int> left{20};
    auto* schedule = new LockedSchedule;
    auto* task = new Cell<Counter>(schedule, 1, Counter(&left));
    JoinHandle<void> handle(task);
    Waker waker(RawWakerOf(task));
    task->state.Ref();
    schedule->Submit(task);
    std::thread waking([waker = std::move(waker)]() mutable {
      for (int i = 0; i < 10; ++i) waker.WakeByRef();
      std::move(waker).Wake();
    });
    std::thread aborting([&handle, round] {
      if (round % 2 == 0) handle.Abort();
    });
    FastRand rand(1);
    while (!handle.IsFinished()) {
      if (Header* next = schedule->Pop()) task::Run(next, &rand);
    }
    waking.join();
    aborting.join();
    while (Header* next = schedule->Pop()) task::Run(next, &rand);
    const absl::Status status = PollOnce(handle).value();
    EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
    schedule->Unref();
  }
}

}  // namespace
}  // namespace rouse::task
