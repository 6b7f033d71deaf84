// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs tasks of all sorts (stress_tasks.h) on runtimes of all sorts, which are
// shut down in the middle of the work, again and again. Nothing leaks, nothing
// hangs, and every handle returns the right result.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/log/log.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_tasks.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/timer/sleep.h"

namespace rouse {
namespace {

using stress::BlockOnLeaf;
using stress::Child;
using stress::Family;
using stress::Output;
using stress::SpawnTask;
using stress::World;

// Longer than any round takes on a busy machine.
constexpr absl::Duration kHangs = absl::Minutes(4);

// Number of threads that spawn tasks from outside.
constexpr int kOutsiders = 2;

// A kind of runtime, for the test's name and the builder.
struct Kind {
  size_t workers;  // 0: current-thread
  bool lifo_slot;
};

std::string NameOf(const testing::TestParamInfo<Kind>& info) {
  const Kind& kind = info.param;
  return absl::StrCat(kind.workers == 0
                          ? "CurrentThread"
                          : absl::StrCat("MultiThread", kind.workers),
                      kind.lifo_slot ? "Slot" : "NoSlot");
}

constexpr Kind kKinds[] = {{0, false}, {0, true}, {1, false}, {1, true},
                           {2, false}, {2, true}, {4, false}, {4, true}};

// Ends the program, and reports the round, if the object exists for too long.
class MustEnd {
 public:
  explicit MustEnd(uint64_t seed)
      : thread_([this, seed] {
          if (!ended_.WaitForNotificationWithTimeout(kHangs)) {
            LOG(FATAL) << "a round hangs: ROUSE_STRESS_SEED=" << seed;
          }
        }) {}
  MustEnd(const MustEnd&) = delete;
  MustEnd& operator=(const MustEnd&) = delete;
  ~MustEnd() {
    ended_.Notify();
    thread_.join();
  }

 private:
  absl::Notification ended_;
  std::thread thread_;
};

// A runtime, from its first task to its end.
class Round {
 public:
  Round(const Kind& kind, uint64_t seed) : rand_(seed) {
    world_.may_block_in_place = kind.workers > 0;
    Builder builder =
        kind.workers == 0 ? Builder::CurrentThread() : Builder::MultiThread();
    const uint32_t intervals[] = {1, 2, 61};
    const absl::Duration bounds[] = {absl::Microseconds(200),
                                     absl::Milliseconds(10),
                                     absl::InfiniteDuration()};
    builder.WorkerThreads(kind.workers)
        .LifoSlot(kind.lifo_slot)
        .Seed(rand_.Next())
        .EventInterval(intervals[rand_.Below(3)])
        .GlobalQueueInterval(rand_.Below(3))
        .LongPollBound(bounds[rand_.Below(3)])
        .MaxBlockingThreads(16)
        .ThreadKeepAlive(absl::Milliseconds(rand_.Below(3)));
    if (rand_.Below(2) == 0) builder.WithClock(AutoAdvancingClock());
    if (rand_.Below(2) == 0) {
      counts_hooks_ = true;
      builder.OnTaskSpawn([this](const TaskMeta&) { ++spawned_; })
          .OnTaskTerminate([this](const TaskMeta&) { ++terminated_; });
    }
    absl::StatusOr<Runtime> runtime = builder.Build();
    if (!runtime.ok()) {
      ADD_FAILURE() << runtime.status();
      return;
    }
    runtime_ = std::make_unique<Runtime>(*std::move(runtime));
    handle_ = runtime_->handle();
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  // Continues for about `tasks` tasks.
  void Run(uint64_t tasks) {
    if (runtime_ == nullptr) return;
    std::vector<std::thread> outsiders;
    for (int i = 0; i < kOutsiders; ++i) {
      outsiders.emplace_back(
          [this, seed = rand_.Next()] { SpawnFromOutside(seed); });
    }
    const bool drains = rand_.Below(2) == 0;
    auto main = [this, tasks, drains]() -> Co<> {
      while (world_.futures.made < tasks) {
        co_await Family(world_, rand_, /*depth=*/3, 1 + rand_.Below(64));
      }
      if (!drains) co_return;
      // No task is lost: all tasks end by themselves.
      stop_ = true;
      while (outside_ < kOutsiders || handle_->alive_tasks() > 0) {
        co_await Sleep(absl::Milliseconds(1));
      }
    };
    runtime_->BlockOn(main);
    world_.closing = true;
    const uint32_t how = rand_.Below(6);
    SCOPED_TRACE(absl::StrCat("shut down in way ", how));
    const bool have_tasks_ended = ShutDown(how);
    stop_ = true;
    for (std::thread& outsider : outsiders) outsider.join();
    Check(how, have_tasks_ended);
  }

  uint64_t tasks() const { return world_.futures.made; }

 private:
  // Spawns, aborts, joins and drops until `stop_` is set, and a little longer.
  void SpawnFromOutside(uint64_t seed) {
    {
      const EnterGuard enter(*handle_);
      FastRand rand(seed);
      std::vector<Child> children;
      int rest = 8;
      while (!stop_ || rest-- > 0) {
        children.push_back(SpawnTask(world_, rand.Next(), /*depth=*/3));
        Child& any =
            children[rand.Below(static_cast<uint32_t>(children.size()))];
        const uint32_t fate = rand.Below(16);
        if (fate == 0) any.Abort();
        if (fate == 1) {
          const RuntimeMetrics metrics = handle_->metrics();
          EXPECT_FALSE(metrics.workers.empty());
        }
        if (fate == 2) BlockOnLeaf(world_, rand.Next());
        if (fate == 3 || children.size() >= 32) {
          std::swap(any, children.back());
          Child last = std::move(children.back());
          children.pop_back();
          if (fate < 8) Join(last);
        }
      }
      for (Child& child : children) Join(child);
    }
    ++outside_;
  }

  void Join(Child& child) {
    const absl::StatusOr<Output> result = BlockOn(std::move(child.handle));
    child.Check(world_, result);
  }

  // Returns whether all tasks of the runtime have ended.
  bool ShutDown(uint32_t how) {
    switch (how) {
      case 0:
        runtime_ = nullptr;
        return true;
      case 1:
        EXPECT_TRUE(
            std::move(*runtime_).ShutdownTimeout(absl::InfiniteDuration()));
        return true;
      case 2:
        // Either the limit or the end may come first.
        return std::move(*runtime_).ShutdownTimeout(absl::Microseconds(100));
      case 3:
        std::move(*runtime_).ShutdownBackground();
        return false;
      case 4:
        std::thread([this] { runtime_ = nullptr; }).join();
        return true;
      case 5:
      default: {
        // A blocking call of the runtime shuts the runtime down. The call's
        // thread is left behind.
        auto call = [runtime = std::move(runtime_)]() mutable {
          runtime = nullptr;
        };
        EXPECT_TRUE(BlockOn(handle_->SpawnBlocking(std::move(call))).ok());
        return true;
      }
    }
  }

  void Check(uint32_t how, bool have_tasks_ended) {
    if (have_tasks_ended && how != 5) {
      EXPECT_EQ(handle_->metrics().blocking.threads, 0u);
    }
    // Calls that were left behind still spawn tasks, which are refused.
    while (handle_->metrics().blocking.threads > 0) std::this_thread::yield();
    if (have_tasks_ended) {
      EXPECT_EQ(handle_->alive_tasks(), 0u);
      EXPECT_EQ(handle_->metrics().inject_queue_depth, 0u);
      if (counts_hooks_) {
        EXPECT_EQ(spawned_, terminated_);
      }
    }
    // Work that was left behind comes to its end.
    while (handle_->alive_tasks() > 0 ||
           handle_->metrics().inject_queue_depth > 0 ||
           (counts_hooks_ && spawned_ != terminated_)) {
      std::this_thread::yield();
    }
    // Unclaimed outputs are destroyed, too.
    while (world_.futures.destroyed.load(std::memory_order_acquire) !=
               world_.futures.made ||
           world_.outputs.destroyed.load(std::memory_order_acquire) !=
               world_.outputs.made) {
      std::this_thread::yield();
    }
  }

  FastRand rand_;
  World world_;
  std::atomic<bool> stop_{false};
  std::atomic<int> outside_{0};  // number of threads that have finished
  bool counts_hooks_ = false;
  std::atomic<uint64_t> spawned_{0};
  std::atomic<uint64_t> terminated_{0};
  std::unique_ptr<Runtime> runtime_;
  std::optional<Handle> handle_;
};

class SchedulerStress : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SchedulerStress, testing::ValuesIn(kKinds),
                         &NameOf);

TEST_P(SchedulerStress, ShutdownsAmidTasksOfAllKinds) {
  const absl::Time start = absl::Now();
  const absl::Time end =
      start + StressTime(absl::Milliseconds(300), std::size(kKinds));
  uint64_t seed = StressSeed();
  uint64_t tasks = 0;
  uint64_t shutdowns = 0;
  absl::Duration longest;
  uint64_t longest_seed = seed;
  do {
    const absl::Time begin = absl::Now();
    SCOPED_TRACE(absl::StrCat("ROUSE_STRESS_SEED=", seed));
    const MustEnd guard(seed);
    Round round(GetParam(), seed);
    // Up to some tens of thousands of tasks, and the tasks that these spawn.
    round.Run(uint64_t{64} << FastRand(seed).Below(11));
    tasks += round.tasks();
    ++shutdowns;
    const absl::Duration took = absl::Now() - begin;
    if (took > longest) {
      longest = took;
      longest_seed = seed;
    }
    ++seed;
  } while (absl::Now() < end && !HasFailure());
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  std::cout << "[  STRESS  ] " << tasks << " tasks in " << seconds << " s, "
            << static_cast<uint64_t>(static_cast<double>(tasks) / seconds)
            << " a second; " << shutdowns << " shutdowns; the longest round "
            << longest << ", with seed " << longest_seed << "\n";
}

}  // namespace
}  // namespace rouse
