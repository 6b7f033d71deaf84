// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what a task remembers of its spawning, in each way of spawning.

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/task_tracker.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::testing::AllOf;
using ::testing::Eq;
using ::testing::Field;
using ::testing::Optional;

// What a task finds in its own header, through the waker that names the task.
struct Origin {
  std::string name;
  std::string file;
  uint32_t line = 0;
};

class AskOrigin {
 public:
  AskOrigin() = default;
  PollResult<Origin> Poll(Context& cx) {
    const auto* task = static_cast<task::Header*>(cx.waker().raw().data);
    return Origin{std::string(task->name()), task->spawned_at.file_name(),
                  task->spawned_at.line()};
  }
};

auto IsOrigin(std::string_view name, std::source_location where) {
  return IsOkAndHolds(AllOf(Field("name", &Origin::name, Eq(name)),
                            Field("file", &Origin::file, Eq(where.file_name())),
                            Field("line", &Origin::line, Eq(where.line()))));
}

// Returns the place of the call, which must be on the line of the spawning.
std::source_location Here(
    std::source_location here = std::source_location::current()) {
  return here;
}

using SpawnOptionsTest = EitherRuntimeTest;

TEST_P(SpawnOptionsTest, ATaskKnowsWhereItWasSpawned) {
  Runtime runtime = MakeRuntime();
  // clang-format off
  auto a = runtime.Spawn(AskOrigin()); const auto at_a = Here();
  auto b = runtime.handle().Spawn(AskOrigin()); const auto at_b = Here();
  const EnterGuard enter = runtime.Enter();
  auto c = Spawn(AskOrigin()); const auto at_c = Here();
  // clang-format on
  EXPECT_THAT(runtime.BlockOn(std::move(a)), IsOrigin("", at_a));
  EXPECT_THAT(runtime.BlockOn(std::move(b)), IsOrigin("", at_b));
  EXPECT_THAT(runtime.BlockOn(std::move(c)), IsOrigin("", at_c));
}

TEST_P(SpawnOptionsTest, ATaskCanHaveAName) {
  Runtime runtime = MakeRuntime();
  // clang-format off
  auto a = runtime.Spawn(AskOrigin(), {.name = "a"}); const auto at_a = Here();
  auto b = runtime.handle().Spawn(AskOrigin(), {.name = "b"}); const auto at_b = Here();
  const EnterGuard enter = runtime.Enter();
  auto c = Spawn(AskOrigin(), {.name = "c"}); const auto at_c = Here();
  // clang-format on
  EXPECT_THAT(runtime.BlockOn(std::move(a)), IsOrigin("a", at_a));
  EXPECT_THAT(runtime.BlockOn(std::move(b)), IsOrigin("b", at_b));
  EXPECT_THAT(runtime.BlockOn(std::move(c)), IsOrigin("c", at_c));
}

// Neither the set nor the tracker counts as the spawning place.
TEST_P(SpawnOptionsTest, ATaskOfAJoinSetKnowsItsOrigin) {
  Runtime runtime = MakeRuntime();
  JoinSet<Origin> set;
  // clang-format off
  set.SpawnOn(runtime, AskOrigin(), {.name = "a"}); const auto at_a = Here();
  // clang-format on
  EXPECT_THAT(runtime.BlockOn(set.Next()), Optional(IsOrigin("a", at_a)));
  const EnterGuard enter = runtime.Enter();
  // clang-format off
  set.Spawn(AskOrigin(), {.name = "b"}); const auto at_b = Here();
  // clang-format on
  EXPECT_THAT(runtime.BlockOn(set.Next()), Optional(IsOrigin("b", at_b)));
}

TEST_P(SpawnOptionsTest, ATrackedTaskKnowsItsOrigin) {
  Runtime runtime = MakeRuntime();
  const TaskTracker tracker;
  // clang-format off
  auto a = tracker.SpawnOn(runtime, AskOrigin(), {.name = "a"}); const auto at_a = Here();
  const EnterGuard enter = runtime.Enter();
  auto b = tracker.Spawn(AskOrigin(), {.name = "b"}); const auto at_b = Here();
  // clang-format on
  EXPECT_THAT(runtime.BlockOn(std::move(a)), IsOrigin("a", at_a));
  EXPECT_THAT(runtime.BlockOn(std::move(b)), IsOrigin("b", at_b));
}

TEST_P(SpawnOptionsTest, ALocalTaskKnowsItsOrigin) {
  Runtime runtime = MakeRuntime();
  LocalSet set;
  // clang-format off
  auto a = set.Spawn(AskOrigin(), {.name = "a"}); const auto at_a = Here();
  const LocalSetGuard enter = set.Enter();
  auto b = SpawnLocal(AskOrigin(), {.name = "b"}); const auto at_b = Here();
  // clang-format on
  EXPECT_THAT(runtime.BlockOn(set.RunUntil(a)), IsOrigin("a", at_a));
  EXPECT_THAT(runtime.BlockOn(set.RunUntil(b)), IsOrigin("b", at_b));
}

TEST_P(SpawnOptionsTest, ANameIsCopied) {
  Runtime runtime = MakeRuntime();
  std::optional<JoinHandle<Origin>> handle;
  std::source_location where;
  {
    std::string name = "a name that is too long to be stored inside a string";
    const EnterGuard enter = runtime.Enter();
    // On a current-thread runtime the task runs after the name was overwritten.
    handle = Spawn(AskOrigin(), {.name = name}, where = Here());
    name.assign(name.size(), 'x');
  }
  EXPECT_THAT(
      runtime.BlockOn(*std::move(handle)),
      IsOrigin("a name that is too long to be stored inside a string", where));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SpawnOptionsTest, testing::Bool(),
                         &KindOfRuntime);

}  // namespace
}  // namespace rouse
