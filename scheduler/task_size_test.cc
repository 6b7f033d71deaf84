// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Checks the memory used by a task.

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>

#include "gtest/gtest.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/future/poll_fn.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task/state.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::task {
namespace {

using scheduler::DriverRef;
using scheduler::Scheduler;

// The cost of a dump for programs without one, as docs/internals/scheduler.md
// says.
constexpr size_t kPlace = 8;
constexpr size_t kName = 8;
constexpr size_t kTime = 4;

// Everything else that a task needs.
constexpr size_t kRest =
    sizeof(IntrusiveListNode<AllTasksTag>) + sizeof(State) +
    sizeof(const VTable*) + sizeof(Schedule*) + sizeof(TaskId) +
    sizeof(Header::shard) + 2 * sizeof(Header*) + sizeof(JoinWaker) +
    2 * sizeof(bool);  // still_running, and whether it keeps the scheduler

constexpr size_t RoundUp(size_t size, size_t unit) {
  return (size + unit - 1) / unit * unit;
}

static_assert(sizeof(Header) ==
              RoundUp(kRest + kPlace + kName + kTime, alignof(Header)));
// The rounding must not hide any of these members.
static_assert(sizeof(Header::spawned_at) == kPlace);
static_assert(sizeof(Header::details) == kName);
static_assert(sizeof(Header::polled_ms) == kTime);

// A future that is ready when polled the second time.
template <size_t kFuture, size_t kOutput>
class Sized {
 public:
  using Output = std::array<char, kOutput>;

  Sized() = default;

  PollResult<Output> Poll(Context& cx) {
    if (++polls_ > 1) return Output{};
    cx.waker().WakeByRef();
    return kPending;
  }

 private:
  std::array<char, kFuture - 1> bytes_{};
  char polls_ = 0;
};

// Checks that a task has the header, and the future or the result in one place:
// nothing more, except what an exception needs.
template <size_t kFuture, size_t kOutput>
constexpr bool IsNoLarger() {
  using F = Sized<kFuture, kOutput>;
  static_assert(sizeof(F) == kFuture);
  const size_t held =
      std::max({sizeof(F), sizeof(JoinResult<typename F::Output>),
                sizeof(std::exception_ptr)});
  return sizeof(Cell<F>) == RoundUp(sizeof(Header) + held, alignof(Cell<F>));
}
static_assert(IsNoLarger<8, 8>());
static_assert(IsNoLarger<8, 1000>());
static_assert(IsNoLarger<1000, 8>());
static_assert(IsNoLarger<1000, 1000>());

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

class TaskSizeTest : public testing::Test {
 protected:
  // So large that it is a separate allocation.
  using Large = Sized<5000, 6000>;

  ~TaskSizeTest() override {
    scheduler_->Close();
    scheduler_->CancelAll();
    scheduler_->Unref();
  }

  // Returns the number of allocations while a task is spawned, run, and joined.
  int CountAllocations(const SpawnOptions& options) {
    const auto run = [&] {
      JoinHandle<Large::Output> task = scheduler_->Spawn(Large(), options);
      scheduler_->worker(0).RunUntil([&task] { return task.IsFinished(); });
      return PollOnce(task).value().ok();
    };
    const auto check = [](std::optional<bool> ok) {
      EXPECT_TRUE(ok.value_or(true));
    };
    return FailEachAllocation(run, check);
  }

  ThreadParker bottom_;
  Scheduler* const scheduler_ =
      new Scheduler(std::make_unique<DriverRef<ThreadParker>>(bottom_), {});
};

TEST_F(TaskSizeTest, ATaskIsOneAllocationFromSpawnToJoin) {
  EXPECT_EQ(CountAllocations({}), 1);
}

TEST_F(TaskSizeTest, ANameIsAnotherAllocation) {
  EXPECT_EQ(CountAllocations({.name = "reader"}), 2);
}

TEST_F(TaskSizeTest, ATaskSpawnedByATaskIsOneAllocation) {
  int count = 0;
  auto parent = PollFn([&count](Context&) -> PollResult<void> {
    count = FailEachAllocation([] { return Spawn(Large()); },
                               [](std::optional<JoinHandle<Large::Output>>) {});
    return {};
  });
  JoinHandle<void> task = scheduler_->Spawn(parent);
  const scheduler::ScopedDefault current(*scheduler_);
  scheduler_->worker(0).RunUntil([&task] { return task.IsFinished(); });
  EXPECT_EQ(count, 1);
}

#endif  // ROUSE_CAN_FAIL_ALLOCATIONS

// Pooled tasks do not take more than one block either.
TEST(TaskSize, EachTaskTakesOneBlockOfThePool) {
  if (!FramePool::kIsPooled) GTEST_SKIP() << "there is no pool";
  constexpr size_t kTasks = 1000;
  // Has one of the pool's sizes.
  using Small = Sized<512 - sizeof(Header), 8>;
  static_assert(sizeof(Cell<Small>) == 512);
  ThreadParker bottom;
  auto* const scheduler =
      new Scheduler(std::make_unique<DriverRef<ThreadParker>>(bottom), {});
  const size_t slabs_before = FramePool::SlabsInUse();
  for (size_t i = 0; i < kTasks; ++i) scheduler->Spawn(Small()).Detach();
  const size_t slabs = FramePool::SlabsInUse() - slabs_before;
  EXPECT_GE(slabs * FramePool::kSlabSize, (kTasks - 128) * 512);
  EXPECT_LE(slabs * FramePool::kSlabSize, kTasks * 512 * 5 / 4);
  scheduler->Close();
  scheduler->CancelAll();
  scheduler->Unref();
}

}  // namespace
}  // namespace rouse::task
