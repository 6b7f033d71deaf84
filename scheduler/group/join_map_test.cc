// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/group/join_map.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/stream.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/group/join_set.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/group_fixture.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::UnorderedElementsAre;

using Map = JoinMap<std::string, int>;

static_assert(Stream<Map>);

class JoinMapTest : public GroupTest {
 protected:
  // Returns the key that `Next()` gives now, or "".
  static std::string NextNow(Map& map) {
    auto next = PollOnce(map.Next());
    return next.IsReady() && next->has_value() ? (*next)->key : "";
  }

  static std::vector<std::string> KeysOf(const Map& map) {
    std::vector<std::string> keys;
    map.ForEachKey([&keys](const std::string& key) { keys.push_back(key); });
    return keys;
  }
};

TEST_F(JoinMapTest, ReturnsKeysAndResultsInTheOrderOfCompletion) {
  Map map;
  map.Spawn("a", gates_.Task(0));
  const TaskId second = map.Spawn("b", gates_.Task(1));
  map.SpawnOn(*scheduler_, "c", gates_.Task(2));
  RunReady();
  EXPECT_EQ(NextNow(map), "");
  EXPECT_THAT(KeysOf(map), UnorderedElementsAre("a", "b", "c"));
  OpenAndRun(1);
  OpenAndRun(0);
  const auto joined = PollOnce(map.Next()).value();
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->key, "b");
  EXPECT_EQ(joined->id, second);
  EXPECT_THAT(joined->result, IsOkAndHolds(1));
  EXPECT_EQ(joined->exception, nullptr);
  EXPECT_FALSE(joined->was_cancelled);
  EXPECT_FALSE(map.Contains("b"));
  EXPECT_TRUE(map.Contains("a"));
  EXPECT_EQ(map.TryNext()->key, "a");
  EXPECT_FALSE(map.TryNext().has_value());
  OpenAndRun(2);
  EXPECT_EQ(NextNow(map), "c");
  EXPECT_TRUE(map.empty());
  EXPECT_FALSE(PollOnce(map.Next()).value().has_value());
}

TEST_F(JoinMapTest, WakesTheWaiterWhenATaskEnds) {
  Map map;
  map.Spawn("a", gates_.Task(0));
  RunReady();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    auto next = map.Next();
    static_assert(Future<decltype(next)>);
    EXPECT_TRUE(PollOnce(next, waker).IsPending());
    OpenAndRun(0);
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_TRUE(PollOnce(next, waker).IsReady());
    EXPECT_PANIC(static_cast<void>(PollOnce(next)),
                 "JoinMap::Next was polled after");
  }
  EXPECT_EQ(task.live(), 0);
}

TEST_F(JoinMapTest, ACancelledNextTakesNoResultAndIsNotWoken) {
  Map map;
  map.Spawn("a", gates_.Task(0));
  RunReady();
  CountingWaker task;
  {
    auto next = map.Next();
    EXPECT_TRUE(PollOnce(next, task.NewWaker()).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  OpenAndRun(0);
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(NextNow(map), "a");
}

TEST_F(JoinMapTest, ANewTaskReplacesATaskThatRuns) {
  Map map;
  map.Spawn("a", gates_.Task(0));
  RunReady();
  map.Spawn("a", gates_.Task(1));
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(scheduler_->alive_tasks(), 2u);
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 1u) << "the replaced task is aborted";
  EXPECT_EQ(NextNow(map), "");
  OpenAndRun(1);
  const auto joined = map.TryNext();
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->key, "a");
  EXPECT_THAT(joined->result, IsOkAndHolds(1));
  EXPECT_TRUE(map.empty());
}

TEST_F(JoinMapTest, ANewTaskReplacesATaskThatHasEnded) {
  Map map;
  for (int round = 0; round < 3; ++round) {
    map.Spawn("a", gates_.Task(round));
    RunReady();
    OpenAndRun(round);
  }
  EXPECT_EQ(map.size(), 1u);
  const auto joined = map.TryNext();
  ASSERT_TRUE(joined.has_value());
  EXPECT_THAT(joined->result, IsOkAndHolds(2));
  EXPECT_FALSE(map.TryNext().has_value());
  // Replaced again, and not taken.
  map.Spawn("a", gates_.Task(0));
  RunReady();
  map.Spawn("a", gates_.Task(1));
  RunReady();
}

TEST_F(JoinMapTest, AReplacedTaskDoesNotWakeTheWaiter) {
  Map map;
  map.Spawn("a", gates_.Task(0));
  RunReady();
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    auto next = map.Next();
    EXPECT_TRUE(PollOnce(next, waker).IsPending());
    map.Spawn("a", gates_.Task(1));
    RunReady();
    EXPECT_EQ(task.wakes(), 0);
    OpenAndRun(1);
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_EQ((*PollOnce(next, waker))->key, "a");
  }
}

TEST_F(JoinMapTest, AbortsByKey) {
  Map map;
  for (int i = 0; i < 4; ++i) map.Spawn(std::to_string(i), gates_.Task(i));
  RunReady();
  EXPECT_FALSE(map.Abort("4"));
  EXPECT_TRUE(map.Abort("2"));
  RunReady();
  auto joined = map.TryNext();
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->key, "2");
  EXPECT_THAT(joined->result, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(joined->was_cancelled);
  EXPECT_FALSE(map.Abort("2")) << "was taken";
  map.AbortMatching([](const std::string& key) { return key == "0"; });
  RunReady();
  EXPECT_EQ(NextNow(map), "0");
  EXPECT_EQ(map.size(), 2u);
  map.AbortAll();
  RunReady();
  EXPECT_TRUE(map.TryNext().has_value());
  EXPECT_TRUE(map.TryNext().has_value());
}

TEST_F(JoinMapTest, EachResultTakesAUnitOfTheBudget) {
  Map map;
  constexpr int kTasks = kBudgetPerPoll + 1;
  for (int i = 0; i < kTasks; ++i) {
    gates_.Open(i);
    map.Spawn(std::to_string(i), gates_.Task(i));
  }
  RunReady();
  const Waker waker;
  Context cx(waker);
  int ready = 0;
  while (map.PollNext(cx).IsReady()) ++ready;
  EXPECT_EQ(ready, static_cast<int>(kBudgetPerPoll));
  EXPECT_EQ(map.size(), 1u);
}

TEST_F(JoinMapTest, HoldsTasksOfVoidAndKeysThatOnlyMove) {
  JoinMap<std::unique_ptr<int>, void> map;
  auto body = []() -> Co<> { co_return; };
  auto key = std::make_unique<int>(1);
  const int* const address = key.get();
  map.Insert(std::move(key), Spawn(body));
  RunReady();
  const auto joined = map.TryNext();
  ASSERT_TRUE(joined.has_value());
  EXPECT_THAT(joined->result, IsOk());
  EXPECT_EQ(joined->key.get(), address);
}

TEST_F(JoinMapTest, ShutdownAbortsAndWaits) {
  Map map;
  map.Spawn("a", gates_.Task(0));
  map.Spawn("b", gates_.Task(1));
  RunReady();
  auto shutdown = map.Shutdown();
  EXPECT_TRUE(PollOnce(shutdown).IsPending());
  RunReady();
  EXPECT_TRUE(PollOnce(shutdown).IsReady());
  EXPECT_TRUE(map.empty());
  EXPECT_FALSE(map.Contains("a"));
  EXPECT_PANIC(static_cast<void>(PollOnce(shutdown)),
               "JoinMap::Shutdown was polled after");
}

TEST_F(JoinMapTest, DetachAllLetsTasksContinue) {
  Map map;
  map.Spawn("a", gates_.Task(0));
  map.Spawn("b", gates_.Task(1));
  RunReady();
  OpenAndRun(1);
  map.Spawn("b", gates_.Task(2));
  RunReady();
  map.DetachAll();
  EXPECT_TRUE(map.empty());
  EXPECT_FALSE(map.Contains("a"));
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 2u);
  map.Spawn("a", gates_.Task(3));
  OpenAndRun(0);
  OpenAndRun(2);
  EXPECT_EQ(NextNow(map), "") << "a new task with the key of a detached task";
  OpenAndRun(3);
  EXPECT_EQ(NextNow(map), "a");
}

TEST_F(JoinMapTest, DestroyingOrReplacingTheMapAbortsItsTasks) {
  {
    Map map;
    map.Spawn("a", gates_.Task(0));
    Map other;
    other.Spawn("b", gates_.Task(1));
    RunReady();
    map = std::move(other);
    RunReady();
    EXPECT_EQ(scheduler_->alive_tasks(), 1u);
    EXPECT_THAT(KeysOf(map), UnorderedElementsAre("b"));
    Map moved(std::move(map));
    EXPECT_TRUE(moved.Contains("b"));
    RunReady();
    EXPECT_EQ(scheduler_->alive_tasks(), 1u);
  }
  RunReady();
  EXPECT_EQ(scheduler_->alive_tasks(), 0u);
}

// A result that uses the map when the result is destroyed.
class UsesTheMap {
 public:
  UsesTheMap(JoinMap<int, UsesTheMap>* map, int* destroyed)
      : map_(map), destroyed_(destroyed) {}
  UsesTheMap(UsesTheMap&& other) noexcept
      : map_(std::exchange(other.map_, nullptr)),
        destroyed_(other.destroyed_) {}
  UsesTheMap& operator=(UsesTheMap&&) = delete;
  ~UsesTheMap() {
    if (map_ == nullptr) return;
    ++*destroyed_;
    map_->AbortMatching([](int key) { return key == 2; });
    map_->Abort(2);
  }

 private:
  JoinMap<int, UsesTheMap>* map_;
  int* destroyed_;
};

TEST_F(JoinMapTest, TheDestructorOfAResultCanUseTheMap) {
  int destroyed = 0;
  {
    JoinMap<int, UsesTheMap> map;
    auto body = [&]() -> Co<UsesTheMap> {
      co_return UsesTheMap(&map, &destroyed);
    };
    map.Spawn(1, body);
    map.Spawn(2, body);
    RunReady();
    map.Spawn(1, body);
    EXPECT_EQ(destroyed, 1) << "replaced";
    RunReady();
  }
  EXPECT_EQ(destroyed, 3);
}

#ifdef ABSL_HAVE_EXCEPTIONS

// A future that cannot be spawned, because its move throws.
class Unmovable {
 public:
  Unmovable() = default;
  Unmovable(Unmovable&&) noexcept(false) { throw std::runtime_error("no"); }
  PollResult<int> Poll(Context&) { return 1; }
};

TEST_F(JoinMapTest, AFailedSpawnChangesNothing) {
  Map map;
  map.Spawn("a", gates_.Task(0));
  RunReady();
  EXPECT_THROW(map.Spawn("a", Unmovable()), std::runtime_error);
  EXPECT_THROW(map.Spawn("b", Unmovable()), std::runtime_error);
  EXPECT_THAT(KeysOf(map), UnorderedElementsAre("a"));
  EXPECT_EQ(map.size(), 1u);
  OpenAndRun(0);
  const auto joined = map.TryNext();
  ASSERT_TRUE(joined.has_value());
  EXPECT_THAT(joined->result, IsOkAndHolds(0));
}

TEST_F(JoinMapTest, ReportsTheExceptionOfATask) {
  Map map;
  auto body = []() -> Co<int> {
    throw std::runtime_error("oops");
    co_return 0;
  };
  map.Spawn("a", body);
  RunReady();
  const auto joined = map.TryNext();
  ASSERT_TRUE(joined.has_value());
  EXPECT_THAT(joined->result, StatusIs(absl::StatusCode::kInternal));
  EXPECT_THROW(std::rethrow_exception(joined->exception), std::runtime_error);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
