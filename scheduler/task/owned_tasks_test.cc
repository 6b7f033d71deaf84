// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task/owned_tasks.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Stays pending forever. Records its destruction in a list.
class Never {
 public:
  explicit Never(std::vector<int>* ended = nullptr, int name = 0)
      : ended_(ended), name_(name) {}
  Never(Never&& other) noexcept
      : ended_(std::exchange(other.ended_, nullptr)), name_(other.name_) {}
  Never& operator=(Never&&) = delete;
  ~Never() {
    if (ended_ != nullptr) ended_->push_back(name_);
  }
  PollResult<void> Poll(Context&) { return kPending; }

 private:
  std::vector<int>* ended_;
  int name_;
};

class AtOnce {
 public:
  AtOnce() = default;
  PollResult<void> Poll(Context&) { return {}; }
};

// Runs a task only when the test says so, and at once.
class TestSchedule final : public Schedule {
 public:
  explicit TestSchedule(size_t owners, size_t shards_for_each = 1)
      : tasks(owners, shards_for_each) {}
  void Submit(Header* task) override { task::Unref(task); }
  void Resubmit(Header* task) override { task::Unref(task); }
  bool Release(Header* task) override { return tasks.Remove(task); }

  template <class F>
  JoinHandle<void> Start(F future, size_t shard = 0, bool run = true) {
    auto* task = new Cell<F>(this, NextTaskId(), std::move(future));
    JoinHandle<void> handle(task);
    if (!tasks.Add(task, shard)) {
      task::Shutdown(task);
      task::Unref(task);  // the set's reference
      task::Unref(task);  // the queue's reference
    } else if (run) {
      FastRand rand(1);
      task::Run(task, &rand);
    } else {
      task::Unref(task);  // the queue's reference
    }
    return handle;
  }

  OwnedTasks tasks;
};

class OwnedTasksTest : public ::testing::Test {
 protected:
  ~OwnedTasksTest() override { schedule_->Unref(); }

  TestSchedule* schedule_ = new TestSchedule(4);
  OwnedTasks& tasks_ = schedule_->tasks;
};

TEST_F(OwnedTasksTest, TheNumberOfShardsIsAPowerOfTwo) {
  EXPECT_EQ(OwnedTasks(0).shards(), 1u);
  EXPECT_EQ(OwnedTasks(1).shards(), 1u);
  EXPECT_EQ(OwnedTasks(5).shards(), 8u);
  EXPECT_EQ(OwnedTasks(8).shards(), 8u);
  EXPECT_EQ(OwnedTasks(5, 3).shards(), 32u);
}

// Each owner has four shards.
class OwnedTasksOfSeveralShardsTest : public ::testing::Test {
 protected:
  ~OwnedTasksOfSeveralShardsTest() override {
    tasks_.CloseAndShutdownAll(0);
    EXPECT_EQ(tasks_.size(), 0u);
    schedule_->Unref();
  }

  // Expects that the tasks of owner 2 are in several of the owner's shards.
  void ExpectDistribution() {
    std::set<uint32_t> shards;
    tasks_.ForEach([&](Header& task) { shards.insert(task.shard); });
    EXPECT_GT(shards.size(), 1u);
    EXPECT_GE(*shards.begin(), 2 * kEach);
    EXPECT_LT(*shards.rbegin(), 3 * kEach);
  }

  static constexpr size_t kEach = 4;
  TestSchedule* schedule_ = new TestSchedule(4, kEach);
  OwnedTasks& tasks_ = schedule_->tasks;
};

TEST_F(OwnedTasksOfSeveralShardsTest, DistributesAddedTasks) {
  for (int i = 0; i < 100; ++i) schedule_->Start(Never(), 2).Detach();
  ExpectDistribution();
}

TEST_F(OwnedTasksOfSeveralShardsTest, DistributesTasksOfAdders) {
  for (int i = 0; i < 8; ++i) {
    auto* const task = new Cell<Never>(schedule_, NextTaskId(), Never());
    JoinHandle<void>(task).Detach();
    OwnedTasks::Adder(tasks_, 2).Add(task);
    task::Unref(task);  // the queue's reference
  }
  EXPECT_EQ(tasks_.added_late(), 8u);
  ExpectDistribution();
}

TEST_F(OwnedTasksOfSeveralShardsTest, RemovesTasksForTheirOwnerAndForOthers) {
  const auto add = [this] {
    auto* const task = new Cell<Never>(schedule_, NextTaskId(), Never());
    JoinHandle<void>(task).Detach();
    EXPECT_TRUE(tasks_.Add(task, 2));
    return task;
  };
  const auto drop = [](Header* task) {
    task::Shutdown(task);
    task::Unref(task);  // the set's reference
    task::Unref(task);  // the queue's reference
  };
  for (int i = 0; i < 8; ++i) {
    Header* const one = add();
    Header* const other = add();
    EXPECT_TRUE(tasks_.Remove(one, 2));
    EXPECT_TRUE(tasks_.Remove(other, 1));
    EXPECT_FALSE(tasks_.Remove(one, 2));
    drop(one);
    drop(other);
  }
}

TEST_F(OwnedTasksTest, CountsLiveTasks) {
  EXPECT_EQ(tasks_.size(), 0u);
  schedule_->Start(AtOnce()).Detach();
  EXPECT_EQ(tasks_.size(), 0u);
  schedule_->Start(Never(), 0).Detach();
  schedule_->Start(Never(), 1).Detach();
  EXPECT_EQ(tasks_.size(), 2u);
  tasks_.CloseAndShutdownAll(0);
  EXPECT_EQ(tasks_.size(), 0u);
}

TEST_F(OwnedTasksTest, VisitsLiveTasks) {
  const JoinHandle<void> first = schedule_->Start(Never(), 0);
  const JoinHandle<void> second = schedule_->Start(Never(), 7);
  const JoinHandle<void> ended = schedule_->Start(AtOnce(), 0);
  std::vector<TaskId> seen;
  tasks_.ForEach([&seen](Header& task) { seen.push_back(task.id); });
  EXPECT_THAT(seen, UnorderedElementsAre(first.id(), second.id()));
  tasks_.CloseAndShutdownAll(0);
}

TEST_F(OwnedTasksTest, CancelsAllTasksFromTheGivenShardOn) {
  std::vector<int> ended;
  for (int shard = 0; shard < 4; ++shard) {
    schedule_->Start(Never(&ended, shard), shard).Detach();
  }
  EXPECT_THAT(ended, IsEmpty());
  tasks_.CloseAndShutdownAll(2);
  EXPECT_THAT(ended, ElementsAre(2, 3, 0, 1));
}

TEST_F(OwnedTasksTest, AClosedSetRefusesTasks) {
  tasks_.CloseAndShutdownAll(0);
  std::vector<int> ended;
  const JoinHandle<void> handle = schedule_->Start(Never(&ended, 1), 3);
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_THAT(ended, ElementsAre(1));
  EXPECT_EQ(tasks_.size(), 0u);
}

// Has a task that waits in a queue and is unknown to the set.
class OwnedTasksAdderTest : public OwnedTasksTest {
 protected:
  ~OwnedTasksAdderTest() override {
    if (!OwnedTasks::WasAdded(task_)) {
      task::Shutdown(task_);
      task::Unref(task_);  // the set's reference
    }
    task::Unref(task_);  // the queue's reference
    tasks_.CloseAndShutdownAll(0);
    EXPECT_TRUE(handle_.IsFinished());
  }

  Header* const task_ = new Cell<Never>(schedule_, NextTaskId(), Never());
  const JoinHandle<void> handle_{task_};
};

TEST_F(OwnedTasksAdderTest, AddsATaskLate) {
  EXPECT_FALSE(OwnedTasks::WasAdded(task_));
  {
    OwnedTasks::Adder adder(tasks_, 1);
    ASSERT_FALSE(adder.IsClosed());
    adder.Add(task_);
  }
  EXPECT_TRUE(OwnedTasks::WasAdded(task_));
  EXPECT_EQ(tasks_.size(), 1u);
  EXPECT_EQ(tasks_.added_late(), 1u);
  tasks_.CloseAndShutdownAll(0);
  EXPECT_TRUE(handle_.IsFinished());
  EXPECT_EQ(tasks_.size(), 0u);
  EXPECT_EQ(tasks_.added_late(), 1u);
}

TEST_F(OwnedTasksAdderTest, AddsNoTaskTwice) {
  for (const size_t shard : {1, 2}) {
    OwnedTasks::Adder adder(tasks_, shard);
    adder.Add(task_);
  }
  EXPECT_EQ(tasks_.size(), 1u);
  EXPECT_EQ(tasks_.added_late(), 1u);
}

TEST_F(OwnedTasksAdderTest, FindsTheSetClosed) {
  tasks_.CloseAndShutdownAll(0);
  EXPECT_TRUE(OwnedTasks::Adder(tasks_, 3).IsClosed());
}

TEST_F(OwnedTasksAdderTest, ATaskThatWasNotAddedIsNotInTheSet) {
  EXPECT_FALSE(tasks_.Remove(task_));
}

TEST_F(OwnedTasksTest, ACancelledTaskCanSpawnAnother) {
  class SpawnsAtItsEnd {
   public:
    SpawnsAtItsEnd(TestSchedule* schedule, int* refused)
        : schedule_(schedule), refused_(refused) {}
    SpawnsAtItsEnd(SpawnsAtItsEnd&& other) noexcept
        : schedule_(std::exchange(other.schedule_, nullptr)),
          refused_(other.refused_) {}
    SpawnsAtItsEnd& operator=(SpawnsAtItsEnd&&) = delete;
    ~SpawnsAtItsEnd() {
      if (schedule_ == nullptr) return;
      // Including the shard that has been emptied already.
      for (size_t shard = 0; shard < 4; ++shard) {
        if (schedule_->Start(Never(), shard).IsFinished()) ++*refused_;
      }
    }
    PollResult<void> Poll(Context&) { return kPending; }

   private:
    TestSchedule* schedule_;
    int* refused_;
  };
  int refused = 0;
  schedule_->Start(SpawnsAtItsEnd(schedule_, &refused), 2).Detach();
  tasks_.CloseAndShutdownAll(0);
  EXPECT_EQ(refused, 4);
}

TEST_F(OwnedTasksTest, ATaskIsNotRemovedTwice) {
  class Idle final : public Schedule {
   public:
    void Submit(Header*) override {}
    void Resubmit(Header*) override {}
    bool Release(Header*) override { return false; }
  };
  auto* schedule = new Idle;
  auto* task = new Cell<AtOnce>(schedule, 1, AtOnce());
  OwnedTasks tasks(2);
  EXPECT_FALSE(tasks.Remove(task));
  ASSERT_TRUE(tasks.Add(task, 1));
  EXPECT_TRUE(tasks.Remove(task));
  EXPECT_FALSE(tasks.Remove(task));
  ASSERT_TRUE(tasks.Add(task, 1));
  EXPECT_TRUE(tasks.Remove(task, 1));
  EXPECT_FALSE(tasks.Remove(task, 1));
  Shutdown(task);
  JoinHandle<void>(task).Detach();
  task::Unref(task);
  task::Unref(task);
  schedule->Unref();
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(OwnedTasksTest, AThrowingWakerKeepsNoOtherTaskAlive) {
  std::vector<int> ended;
  std::vector<JoinHandle<void>> handles;
  const Waker waker =
      Waker::FromCallable([] { throw std::runtime_error("no"); });
  for (int i = 0; i < 3; ++i) {
    handles.push_back(schedule_->Start(Never(&ended, i)));
    Context cx(waker);
    EXPECT_TRUE(handles.back().Poll(cx).IsPending());
  }
  EXPECT_THROW(tasks_.CloseAndShutdownAll(0), std::runtime_error);
  EXPECT_THAT(ended, ElementsAre(0, 1, 2));
}
#endif

// Threads spawn, finish and count tasks while others close the set.
TEST_F(OwnedTasksTest, ClosesWhileTasksAreAddedAndRemoved) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t shard = 0; shard < 3; ++shard) {
    threads.emplace_back([this, shard, &stop] {
      while (!stop.load()) {
        // The first task is removed here, without a statement that the caller
        // is the owner.
        schedule_->Start(AtOnce(), shard).Detach();
        if (tasks_.size() < 10'000) {
          schedule_->Start(Never(), shard).Detach();
        }
      }
    });
  }
  while (tasks_.size() < 100) std::this_thread::yield();
  for (size_t start = 0; start < 2; ++start) {
    threads.emplace_back([this, start] { tasks_.CloseAndShutdownAll(start); });
  }
  threads[3].join();
  threads[4].join();
  stop.store(true);
  for (size_t i = 0; i < 3; ++i) threads[i].join();
  EXPECT_EQ(tasks_.size(), 0u);
}

}  // namespace
}  // namespace rouse::task
