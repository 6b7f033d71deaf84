// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests how long a worker whose queue is never empty leaves tasks from outside,
// and timers, waiting. The unit is polls, whose number does not depend on the
// load of the machine.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Le;
using ::testing::SizeIs;

// Of two workers, one is in a poll that does not end before the test.
enum class Kind { kCurrentThread, kOneWorker, kTwoWorkers };

std::string NameOf(const testing::TestParamInfo<Kind>& info) {
  static constexpr const char* kNames[] = {"CurrentThread", "OneWorker",
                                           "TwoWorkers"};
  return kNames[static_cast<int>(info.param)];
}

constexpr int kRounds = 12;

// A runtime whose tasks run on a single worker, which no other worker helps.
class BusyWorker {
 public:
  BusyWorker(Kind kind, const std::function<void(Builder&)>& choose) {
    Builder builder = Builder::CurrentThread();
    if (kind != Kind::kCurrentThread) {
      builder = Builder::MultiThread();
      builder.WorkerThreads(kind == Kind::kOneWorker ? 1 : 2)
          .LongPollBound(absl::InfiniteDuration());
    }
    choose(builder);
    absl::StatusOr<Runtime> runtime = builder.Build();
    EXPECT_THAT(runtime, IsOk());
    runtime_ = *std::move(runtime);
    if (kind != Kind::kTwoWorkers) return;
    auto stuck = [this]() -> Co<> {
      begun_.Notify();
      end_.WaitForNotification();
      co_return;
    };
    runtime_->Spawn(stuck).Detach();
    begun_.WaitForNotification();
  }
  BusyWorker(const BusyWorker&) = delete;
  BusyWorker& operator=(const BusyWorker&) = delete;
  ~BusyWorker() { end_.Notify(); }

  // Polls an endless task that calls `each_time`, beside another task that is
  // woken by another thread as soon as it waits. Returns after how many polls,
  // of both tasks, the other task was polled each time.
  std::vector<int> DistancesFromOutside(const std::function<void()>& each_time =
                                            [] {}) {
    std::optional<Waker> waits;
    auto woken = PollFn([&](Context& cx) -> PollResult<void> {
      NotePoll();
      if (done_) return {};
      waits = cx.waker().Clone();
      return kPending;
    });
    auto busy = [&]() -> Co<> {
      while (!done_) {
        ++polls_;
        each_time();
        if (waits.has_value()) {
          std::thread outside([&waits] { std::move(*waits).Wake(); });
          outside.join();
          waits.reset();
        }
        co_await Yield();
      }
    };
    Run(busy, woken);
    return distances_;
  }

  // Returns the distances like `DistancesFromOutside()`, but for a task whose
  // timer expires as soon as the task waits.
  std::vector<int> DistancesOfTimers(Clock& clock) {
    bool waits = false;
    auto sleeps = [&]() -> Co<> {
      while (!done_) {
        waits = true;
        co_await Sleep(absl::Hours(1));
        NotePoll();
      }
    };
    // Two tasks wake each other. A task that yields would not do: the worker
    // checks for events before it polls such a task again.
    std::optional<Waker> waiting;
    const auto bounce = [&](Context& cx) -> PollResult<void> {
      std::optional<Waker> other = std::exchange(waiting, std::nullopt);
      if (!done_) {
        ++polls_;
        if (std::exchange(waits, false)) clock.Advance(absl::Hours(1));
        waiting = cx.waker().Clone();
      }
      if (other.has_value()) std::move(*other).Wake();
      if (done_) return {};
      return kPending;
    };
    JoinHandle<void> partner = runtime_->Spawn(PollFn(bounce));
    Run(PollFn(bounce), sleeps);
    EXPECT_THAT(runtime_->BlockOn(std::move(partner)), IsOk());
    return distances_;
  }

 private:
  void NotePoll() {
    ++polls_;
    // The first distance does not count: its beginning need not be a check of
    // the worker.
    if (++notes_ > 2) distances_.push_back(polls_ - noted_at_);
    noted_at_ = polls_;
    done_ = distances_.size() == kRounds;
  }

  template <class Busy, class Other>
  void Run(Busy busy, Other other) {
    JoinHandle<void> first = runtime_->Spawn(std::move(busy));
    JoinHandle<void> second = runtime_->Spawn(std::move(other));
    EXPECT_THAT(runtime_->BlockOn(std::move(second)), IsOk());
    EXPECT_THAT(runtime_->BlockOn(std::move(first)), IsOk());
  }

  absl::Notification begun_;
  absl::Notification end_;
  // Used by the tasks, which run on a single thread, until they have been
  // joined.
  int polls_ = 0;
  int notes_ = 0;
  int noted_at_ = 0;
  bool done_ = false;
  std::vector<int> distances_;
  std::optional<Runtime> runtime_;
};

std::vector<int> DistancesFromOutside(
    Kind kind, const std::function<void(Builder&)>& choose = [](Builder&) {}) {
  return BusyWorker(kind, choose).DistancesFromOutside();
}

std::vector<int> DistancesOfTimers(
    Kind kind, const std::function<void(Builder&)>& choose = [](Builder&) {}) {
  const std::shared_ptr<Clock> clock = PausedClock();
  BusyWorker worker(kind, [&](Builder& builder) {
    builder.WithClock(clock);
    // Each turn is a single poll.
    builder.LifoSlot(false);
    choose(builder);
  });
  return worker.DistancesOfTimers(*clock);
}

auto AreAll(int distance, int slack = 0) {
  return AllOf(SizeIs(kRounds),
               Each(AllOf(Ge(distance - slack), Le(distance + slack))));
}

// With two workers, a worker has two queues, which may have a task each. The
// worker takes either the sleeper or the other task first.
int TimerSlack(Kind kind) { return kind == Kind::kTwoWorkers ? 1 : 0; }

class FairnessTest : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, FairnessTest,
                         testing::Values(Kind::kCurrentThread, Kind::kOneWorker,
                                         Kind::kTwoWorkers),
                         &NameOf);

// The interval holds whatever the clock says, even with two workers.
TEST_P(FairnessTest, ChecksTheGlobalQueueAfterTheConfiguredPolls) {
  for (const uint32_t polls : {5, 50, 300}) {
    auto choose = [polls](Builder& builder) {
      builder.GlobalQueueInterval(polls);
    };
    EXPECT_THAT(DistancesFromOutside(GetParam(), choose),
                AreAll(static_cast<int>(polls)));
  }
}

TEST_P(FairnessTest, ChecksForEventsAfterTheConfiguredPolls) {
  for (const uint32_t polls : {5, 50, 300}) {
    auto choose = [polls](Builder& builder) { builder.EventInterval(polls); };
    EXPECT_THAT(DistancesOfTimers(GetParam(), choose),
                AreAll(static_cast<int>(polls), TimerSlack(GetParam())));
  }
}

TEST_P(FairnessTest, ChecksForEventsAfter61PollsByDefault) {
  EXPECT_THAT(DistancesOfTimers(GetParam()),
              AreAll(61, TimerSlack(GetParam())));
}

TEST(Fairness, ASingleWorkerChecksTheGlobalQueueAfter31Polls) {
  for (const Kind kind : {Kind::kCurrentThread, Kind::kOneWorker}) {
    EXPECT_THAT(DistancesFromOutside(kind), AreAll(31));
  }
}

// The earlier of the two limits counts. Each round takes the time to run a
// thread.
TEST(Fairness, OneOfTwoWorkersChecksAfter127PollsOr50Microseconds) {
  EXPECT_THAT(DistancesFromOutside(Kind::kTwoWorkers),
              AllOf(SizeIs(kRounds), Each(Le(127))));
}

// Makes a poll take at least `time`, however loaded the machine is.
void TakeAtLeast(absl::Duration time) {
  const Clock clock;
  const Instant end = clock.Now() + time;
  while (clock.Now() < end) {
  }
}

// The worker reads the clock every eighth turn, at the latest, but not in the
// first turn after a task from outside.
TEST(Fairness, OneOfTwoWorkersChecksAfterEightLongPolls) {
  BusyWorker worker(Kind::kTwoWorkers, [](Builder&) {});
  EXPECT_THAT(
      worker.DistancesFromOutside([] { TakeAtLeast(absl::Microseconds(100)); }),
      AllOf(SizeIs(kRounds), Each(Le(9))));
}

// The worker therefore checks up to eight turns after 50 us.
TEST(Fairness, OneOfTwoWorkersChecksAfter50MicrosecondsOfShortPolls) {
  BusyWorker worker(Kind::kTwoWorkers, [](Builder&) {});
  EXPECT_THAT(
      worker.DistancesFromOutside([] { TakeAtLeast(absl::Microseconds(4)); }),
      AllOf(SizeIs(kRounds), Each(Le(13 + 9))));
}

}  // namespace
}  // namespace rouse
