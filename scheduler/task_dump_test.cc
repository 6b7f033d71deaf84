// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task_dump.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/owned_tasks.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"

namespace rouse {

// Has the same name with all compilers, unlike an anonymous namespace.
namespace dump_test {

class Never {
 public:
  PollResult<void> Poll(Context&) { return kPending; }
};

int await_line;

Co<> AwaitNever() {
  await_line = __LINE__ + 1;
  co_await Never();
}

}  // namespace dump_test

namespace {

using dump_test::AwaitNever;
using dump_test::Never;

// A queue from which any thread may run tasks.
class QueueSchedule final : public task::Schedule {
 public:
  void Submit(task::Header* task) override {
    const std::lock_guard lock(mu_);
    queue_.push_back(task);
  }
  void Resubmit(task::Header* task) override { Submit(task); }
  bool Release(task::Header* task) override { return tasks_.Remove(task); }

  template <class F>
  auto Spawn(F f, const SpawnOptions& options = {},
             std::source_location where = std::source_location::current()) {
    using Future = internal::FutureFrom<F>;
    auto* task =
        new task::Cell<Future>(this, ++last_id_, std::move(f), options, where);
    JoinHandle<FutureOutput<Future>> handle(task);
    EXPECT_TRUE(tasks_.Add(task, task->id));
    Submit(task);
    return handle;
  }

  bool RunNext(uint32_t now_ms = 1) {
    task::Header* task;
    {
      const std::lock_guard lock(mu_);
      if (queue_.empty()) return false;
      task = queue_.front();
      queue_.pop_front();
    }
    thread_local FastRand rand(1);
    task::Run(task, &rand, now_ms);
    return true;
  }

  task::OwnedTasks& tasks() { return tasks_; }

 private:
  std::mutex mu_;
  std::deque<task::Header*> queue_;
  task::OwnedTasks tasks_{2};
  TaskId last_id_ = 0;
};

class TaskDumpTest : public ::testing::Test {
 protected:
  ~TaskDumpTest() override {
    schedule_->tasks().CloseAndShutdownAll(0);
    while (schedule_->RunNext()) {
    }
    EXPECT_EQ(schedule_->tasks().size(), 0u);
    schedule_->Unref();
  }

  TaskDump Dump(uint32_t now_ms = 1) {
    return scheduler::DumpTasks(
        schedule_->tasks().size(),
        [this](absl::FunctionRef<void(task::Header&)> visit) {
          schedule_->tasks().ForEach(visit);
        },
        now_ms);
  }

  QueueSchedule* const schedule_ = new QueueSchedule;
};

TEST_F(TaskDumpTest, OfNoTasksIsEmpty) {
  EXPECT_EQ(Dump().ToString(), "0 tasks\n");
}

TEST_F(TaskDumpTest, PrintsEachTask) {
  const int line = __LINE__ + 1;
  schedule_->Spawn(AwaitNever(), {.name = "reader"}).Detach();
  schedule_->RunNext(1'000);
  schedule_->Spawn(Never()).Detach();
  EXPECT_EQ(Dump(2'200).ToString(),
            absl::StrCat("2 tasks\n"
                         "task 1 \"reader\" spawned at "
                         "scheduler/task_dump_test.cc:",
                         line,
                         ", last polled 1.2s ago\n"
                         "  rouse::dump_test::AwaitNever at "
                         "scheduler/task_dump_test.cc:",
                         dump_test::await_line,
                         "\n"
                         "  awaiting rouse::dump_test::Never\n"
                         "task 2 spawned at scheduler/task_dump_test.cc:",
                         line + 2,
                         ", not polled yet\n"
                         "  awaiting rouse::dump_test::Never\n"));
}

TEST_F(TaskDumpTest, AbslStringifyMatchesThePrintedText) {
  schedule_->Spawn(Never()).Detach();
  const TaskDump dump = Dump();
  EXPECT_EQ(absl::StrCat(dump), dump.ToString());
}

TEST_F(TaskDumpTest, ListsTasksInTheOrderOfTheirIds) {
  for (int i = 0; i < 9; ++i) schedule_->Spawn(Never()).Detach();
  const TaskDump dump = Dump();
  ASSERT_EQ(dump.tasks().size(), 9u);
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(dump.tasks()[i].id, i + 1);
}

TEST_F(TaskDumpTest, NamesAJoinedTask) {
  JoinHandle<void> joined = schedule_->Spawn(Never());
  const auto join = [&]() -> Co<> { (co_await joined).IgnoreError(); };
  schedule_->Spawn(join).Detach();
  while (schedule_->RunNext()) {
  }
  EXPECT_THAT(
      Dump().ToString(),
      ::testing::EndsWith("\n  awaiting rouse::JoinHandle<void>, task 1\n"));
}

TEST_F(TaskDumpTest, LeavesOutCompleteTasks) {
  const auto nothing = []() -> Co<> { co_return; };
  JoinHandle<void> ended = schedule_->Spawn(nothing());
  schedule_->Spawn(Never()).Detach();
  while (schedule_->RunNext()) {
  }
  const TaskDump dump = Dump();
  ASSERT_EQ(dump.tasks().size(), 1u);
  EXPECT_EQ(dump.tasks()[0].id, 2u);
}

TEST_F(TaskDumpTest, TheDumpingTaskIsRunning) {
  std::optional<TaskDump> dump;
  const auto ask = [&]() -> Co<> {
    dump = Dump(5'000);
    co_return;
  };
  schedule_->Spawn(ask).Detach();
  schedule_->RunNext(4'997);
  ASSERT_EQ(dump->tasks().size(), 1u);
  EXPECT_TRUE(dump->tasks()[0].running);
  EXPECT_TRUE(dump->tasks()[0].trace.steps().empty());
  EXPECT_EQ(dump->tasks()[0].polled_ago, absl::Milliseconds(3));
  EXPECT_THAT(dump->ToString(), ::testing::EndsWith(", running for 3ms\n"));
}

// A 32-bit clock of milliseconds wraps after 49 days.
TEST_F(TaskDumpTest, TheClockCanWrap) {
  schedule_->Spawn(Never()).Detach();
  schedule_->RunNext(UINT32_MAX - 4);
  EXPECT_EQ(Dump(5).tasks()[0].polled_ago, absl::Milliseconds(10));
}

TEST_F(TaskDumpTest, APollAfterTheDumpIsShownAsJustNow) {
  schedule_->Spawn(Never()).Detach();
  schedule_->RunNext(10);
  EXPECT_EQ(Dump(9).tasks()[0].polled_ago, absl::ZeroDuration());
}

// Every wake leads to a poll, and every task ends, however often all tasks are
// inspected in the meantime.
TEST_F(TaskDumpTest, DisturbsNoTask) {
  constexpr int kTasks = 50;
  constexpr int kYields = 200;
  std::atomic<int> ended = 0;
  const auto yield = [](std::atomic<int>* ended) -> Co<> {
    for (int i = 0; i < kYields; ++i) co_await Yield();
    ++*ended;
  };
  for (int i = 0; i < kTasks; ++i) schedule_->Spawn(yield(&ended)).Detach();
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&] {
      while (ended.load() < kTasks) {
        if (!schedule_->RunNext()) std::this_thread::yield();
      }
    });
  }
  size_t dumps = 0;
  while (ended.load() < kTasks) {
    EXPECT_LE(Dump().tasks().size(), size_t{kTasks});
    ++dumps;
  }
  for (std::thread& worker : workers) worker.join();
  RecordProperty("dumps", static_cast<int>(dumps));
  EXPECT_EQ(schedule_->tasks().size(), 0u);
}

// Trap: a task that is being inspected must be cancelled all the same, on the
// thread that shuts the scheduler down.
TEST_F(TaskDumpTest, RacesWithAShutdown) {
  class Guard {
   public:
    explicit Guard(std::vector<std::thread::id>* ended) : ended_(ended) {}
    Guard(Guard&& other) noexcept
        : ended_(std::exchange(other.ended_, nullptr)) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard() {
      if (ended_ != nullptr) ended_->push_back(std::this_thread::get_id());
    }
    PollResult<void> Poll(Context&) { return kPending; }

   private:
    std::vector<std::thread::id>* ended_;
  };
  constexpr size_t kTasks = 1000;
  std::vector<std::thread::id> ended;
  for (size_t i = 0; i < kTasks; ++i) schedule_->Spawn(Guard(&ended)).Detach();
  while (schedule_->RunNext()) {
  }
  std::atomic<bool> stop = false;
  std::thread dumping([&] {
    while (!stop.load()) Dump();
  });
  schedule_->tasks().CloseAndShutdownAll(0);
  EXPECT_EQ(ended,
            std::vector<std::thread::id>(kTasks, std::this_thread::get_id()));
  stop.store(true);
  dumping.join();
}

}  // namespace
}  // namespace rouse
