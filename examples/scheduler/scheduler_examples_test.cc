// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the examples of docs/guide/scheduler.md. scheduler_quotes_test compares
// that page with this file.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/runtime/stack_of_thread.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/long_poll.h"
#include "rouse/scheduler/metrics.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/scheduler/task_dump.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"

namespace {

using Numbers = std::vector<int64_t>;

rouse::Co<int64_t> Sum(const Numbers& numbers, size_t from, size_t to) {
  int64_t sum = 0;
  for (size_t i = from; i < to; ++i) {
    sum += numbers[i];
    if (i % 65536 == 65535) co_await rouse::Yield();
  }
  co_return sum;
}

rouse::Co<absl::StatusOr<int64_t>> SumOfHalves(
    std::shared_ptr<const Numbers> numbers) {
  const size_t middle = numbers->size() / 2;
  auto half = [numbers](size_t from, size_t to) -> rouse::Co<int64_t> {
    co_return co_await Sum(*numbers, from, to);
  };
  // Runs on another thread if another worker has nothing to do.
  auto first = [half, middle] { return half(0, middle); };
  rouse::JoinHandle<int64_t> other = rouse::Spawn(first);
  int64_t sum = co_await Sum(*numbers, middle, numbers->size());
  sum += co_await rouse::OrReturn(other);
  co_return sum;
}

// Stands for a library that blocks.
class Table {
 public:
  void WriteTo(const std::string& path) const { written_to_ = path; }
  const std::string& written_to() const { return written_to_; }

 private:
  mutable std::string written_to_;
};

rouse::Co<absl::Status> Save(std::shared_ptr<const Table> table) {
  auto write = [table] { table->WriteTo("table.db"); };
  co_return co_await rouse::SpawnBlocking(write);
}

// Called deep inside code that does not use coroutines.
void SaveNow(const Table& table) {
  rouse::BlockInPlace([&table] { table.WriteTo("table.db"); });
}

std::string Report(const rouse::Runtime& runtime) {
  const rouse::RuntimeMetrics metrics = runtime.metrics();
  std::string report = absl::StrCat(
      metrics.alive_tasks, " tasks, ", metrics.inject_queue_depth, " shared, ",
      metrics.blocking.threads, " blocking threads\n");
  for (const rouse::scheduler::WorkerMetrics& worker : metrics.workers) {
    absl::StrAppend(&report, worker.local_queue_depth, " waiting, ",
                    worker.polls, " polls of ",
                    absl::FormatDuration(worker.mean_poll_time), ", ",
                    worker.steals, " stolen\n");
  }
  return report;
}

// Lists the tasks whose last poll began `long_time` ago or earlier.
std::string Stuck(const rouse::Runtime& runtime, absl::Duration long_time) {
  std::string stuck;
  const rouse::TaskDump dump = runtime.handle().Dump();
  for (const rouse::TaskDump::Task& task : dump.tasks()) {
    if (task.polled_ago < long_time) continue;
    absl::StrAppend(&stuck, task.id, " ", task.name, "\n", task.trace);
  }
  return stuck;
}

absl::StatusOr<rouse::Runtime> MakeCounted(std::atomic<int>& alive) {
  using rouse::TaskMeta;
  return rouse::Builder::MultiThread()
      .WorkerThreads(2)
      .OnTaskSpawn([&alive](const TaskMeta&) { ++alive; })
      .OnTaskTerminate([&alive](const TaskMeta&) { --alive; })
      .Build();
}

absl::StatusOr<rouse::Runtime> MakeWatched() {
  auto report = [](const rouse::LongPoll& poll) {
    // task 17 "reader" (spawned at server.cc:40) has been polled for 7ms on ...
    LOG(WARNING) << poll;
    if (poll.ended) return;
    // Shows where the thread is now; from runtime/stack_of_thread.h.
    absl::StatusOr<std::string> stack = rouse::StackOfThread(poll.thread);
    if (stack.ok()) LOG(WARNING) << *stack;
  };
  return rouse::Builder::MultiThread().OnLongPoll(report).Build();
}

absl::StatusOr<rouse::Runtime> MakeRepeatable(uint64_t seed) {
  auto clock = std::make_shared<rouse::Clock>();
  clock->Pause();
  clock->AdvanceTo(rouse::Instant() + absl::Hours(24 * 365 * 10));
  clock->SetAutoAdvance(true);
  return rouse::Builder::CurrentThread().Seed(seed).WithClock(clock).Build();
}

// ---- Tests.

rouse::Runtime MakeRuntime() {
  return rouse::Builder::MultiThread().WorkerThreads(2).Build().value();
}

TEST(SchedulerExamplesTest, SumsInTwoTasks) {
  auto numbers = std::make_shared<Numbers>(10'000);
  std::iota(numbers->begin(), numbers->end(), 1);
  EXPECT_EQ(MakeRuntime().BlockOn(SumOfHalves(numbers)).value(), 50'005'000);
}

TEST(SchedulerExamplesTest, SavesOnABlockingThread) {
  auto table = std::make_shared<Table>();
  EXPECT_TRUE(MakeRuntime().BlockOn(Save(table)).ok());
  EXPECT_EQ(table->written_to(), "table.db");
}

TEST(SchedulerExamplesTest, SavesInPlace) {
  rouse::Runtime runtime = MakeRuntime();
  Table table;
  auto save = [&table]() -> rouse::Co<> {
    SaveNow(table);
    co_return;
  };
  EXPECT_TRUE(runtime.BlockOn(runtime.Spawn(save)).ok());
  EXPECT_EQ(table.written_to(), "table.db");
}

TEST(SchedulerExamplesTest, ReportsMetrics) {
  const rouse::Runtime runtime = MakeRuntime();
  const std::string report = Report(runtime);
  const std::string begin =
      "0 tasks, 0 shared, 0 blocking threads\n0 waiting, 0 polls";
  EXPECT_EQ(report.find(begin), 0u) << report;
}

TEST(SchedulerExamplesTest, ListsTasks) {
  rouse::Runtime runtime = MakeRuntime();
  auto forever = []() -> rouse::Co<> {
    co_await rouse::Sleep(absl::InfiniteDuration());
  };
  runtime.Spawn(forever, {.name = "sleeper"}).Detach();
  EXPECT_EQ(Stuck(runtime, absl::InfiniteDuration()), "");
  std::string stuck;
  auto check = [&]() -> rouse::Co<> {
    while (stuck.find("Sleep") == std::string::npos) {
      co_await rouse::Yield();
      stuck = Stuck(runtime, absl::ZeroDuration());
    }
  };
  runtime.BlockOn(check);
  EXPECT_NE(stuck.find("sleeper"), std::string::npos) << stuck;
}

TEST(SchedulerExamplesTest, CountsTasks) {
  std::atomic<int> alive{0};
  {
    rouse::Runtime runtime = MakeCounted(alive).value();
    auto forever = []() -> rouse::Co<> {
      co_await rouse::Sleep(absl::InfiniteDuration());
    };
    runtime.Spawn(forever).Detach();
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(SchedulerExamplesTest, ReportsALongPoll) {
  rouse::Runtime runtime = MakeWatched().value();
  auto computes = [&runtime]() -> rouse::Co<> {
    while (runtime.metrics().long_polls == 0) {
    }
    co_return;
  };
  EXPECT_TRUE(runtime.BlockOn(runtime.Spawn(computes)).ok());
}

// Returns the order in which tasks wake with a seed.
std::vector<int> OrderOf(uint64_t seed) {
  rouse::Runtime runtime = MakeRepeatable(seed).value();
  std::vector<int> order;
  auto task = [&order](int id) -> rouse::Co<> {
    for (int i = 1; i <= 3; ++i) {
      co_await rouse::Sleep(absl::Minutes(i * (id % 3)));
      order.push_back(id);
    }
  };
  auto main = [&]() -> rouse::Co<> {
    std::vector<rouse::JoinHandle<void>> handles;
    for (int id = 0; id < 6; ++id) {
      handles.push_back(rouse::Spawn([&task, id] { return task(id); }));
    }
    for (rouse::JoinHandle<void>& handle : handles) {
      const absl::Status joined = co_await handle;
      EXPECT_TRUE(joined.ok()) << joined;
    }
  };
  runtime.BlockOn(main);
  return order;
}

TEST(SchedulerExamplesTest, IsRepeatable) {
  const std::vector<int> order = OrderOf(7);
  EXPECT_EQ(order.size(), 18u);
  EXPECT_EQ(order, OrderOf(7));
}

}  // namespace
