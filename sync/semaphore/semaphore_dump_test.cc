// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a dump says about tasks that wait for permits. For tasks behind a waiter
// that has been given its permits and is not polled, the dump names the task of
// that waiter.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co.h"
#include "rouse/future/select.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task_dump.h"
#include "rouse/sync/lock/mutex.h"
#include "rouse/sync/lock/rw_lock.h"
#include "rouse/sync/semaphore/semaphore.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::HasSubstr;

template <class F>
std::string TraceOf(const F& future) {
  AwaitTrace trace;
  trace.Add(future);
  return trace.ToString();
}

class Never {
 public:
  PollResult<void> Poll(Context&) { return kPending; }
};

// Trap C9 (tokio #6450): the task selects between the mutex and a tick, and
// then awaits something else while it keeps the arm.
Co<> KeepABranch(Mutex<int>& mutex, Semaphore& done) {
  auto lock = mutex.Lock();
  auto tick = Yield();
  co_await SelectBiased(lock, tick);
  done.AddPermits(1);
  co_await Never();
}

Co<> LockIt(Mutex<int>& mutex) {
  const MutexGuard<int> guard = co_await mutex.Lock();
}

Co<> Main(Mutex<int>& mutex, Handle handle, std::string& dump, TaskId& keeper) {
  Semaphore done(0);
  std::optional<MutexGuard<int>> guard(co_await mutex.Lock());
  JoinHandle<void> keeps = handle.Spawn(KeepABranch(mutex, done));
  keeper = keeps.id();
  EXPECT_TRUE((co_await done.Acquire()).ok());
  JoinHandle<void> locks = handle.Spawn(LockIt(mutex));
  for (int i = 0; i < 8; ++i) co_await Yield();  // until it waits
  guard.reset();
  const TaskDump all = handle.Dump();
  for (const TaskDump::Task& task : all.tasks()) {
    if (task.id == locks.id()) dump = task.trace.ToString();
  }
  keeps.Abort();
  EXPECT_TRUE((co_await locks).ok());
}

TEST(SemaphoreDump, NamesATaskThatHoldsAssignedPermits) {
  Mutex<int> mutex;
  std::string dump;
  TaskId keeper = 0;
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ASSERT_TRUE(runtime.ok());
  runtime->BlockOn(Main(mutex, runtime->handle(), dump, keeper));
  EXPECT_THAT(dump,
              HasSubstr(absl::StrCat(
                  "lacks 1 of 1 permits; notified, but not polled since: task ",
                  keeper, "\n")));
}

TEST(SemaphoreDump, ShowsMissingPermitsAndTheirHolders) {
  Semaphore semaphore(2);
  std::optional large(semaphore.Acquire(5));
  auto small = semaphore.Acquire(1);
  EXPECT_EQ(TraceOf(small), "awaiting rouse::Semaphore::AcquireFuture\n");
  EXPECT_TRUE(PollOnce(*large).IsPending());
  EXPECT_TRUE(PollOnce(small).IsPending());
  EXPECT_EQ(TraceOf(*large),
            "awaiting rouse::Semaphore::AcquireFuture, lacks 3 of 5 permits\n");
  semaphore.AddPermits(3);
  EXPECT_THAT(TraceOf(*large), HasSubstr("has its permits"));
  EXPECT_EQ(TraceOf(small),
            "awaiting rouse::Semaphore::AcquireFuture, lacks 1 of 1 permits; "
            "notified, but not polled since: no task\n");
  EXPECT_TRUE(PollOnce(*large).IsReady());  // and its permits go back
  EXPECT_THAT(TraceOf(small), HasSubstr("has its permits"));
}

TEST(SemaphoreDump, NamesATaskWithoutBudgetToTakeItsPermits) {
  Semaphore semaphore(0);
  auto first = semaphore.Acquire();
  auto second = semaphore.Acquire();
  EXPECT_TRUE(PollOnce(first).IsPending());
  EXPECT_TRUE(PollOnce(second).IsPending());
  semaphore.AddPermits(1);
  {
    const Waker waker;
    Context cx(waker);
    while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
    EXPECT_TRUE(first.Poll(cx).IsPending());
  }
  EXPECT_THAT(TraceOf(first), HasSubstr("has its permits"));
  EXPECT_THAT(TraceOf(second), HasSubstr("since: no task\n"));
  EXPECT_TRUE(PollOnce(first).IsReady());
}

TEST(SemaphoreDump, NamesAtMostFourTasks) {
  Semaphore semaphore(0);
  std::vector<Semaphore::AcquireFuture> acquires;
  for (int i = 0; i < 6; ++i) acquires.push_back(semaphore.Acquire());
  for (auto& acquire : acquires) EXPECT_TRUE(PollOnce(acquire).IsPending());
  semaphore.AddPermits(5);
  EXPECT_THAT(
      TraceOf(acquires.back()),
      HasSubstr("since: no task, no task, no task, no task, and others\n"));
}

TEST(SemaphoreDump, LocksShowMissingPermits) {
  auto lock = std::make_shared<RwLock<int>>(MaxReaders(3));
  auto mutex = std::make_shared<Mutex<int>>();
  auto semaphore = std::make_shared<Semaphore>(0);
  const auto writing = lock->BlockingWrite();
  const auto locked = mutex->BlockingLock();
  auto read = lock->Read();
  auto write = lock->Write();
  auto read_owned = RwLock<int>::ReadOwned(lock);
  auto write_owned = RwLock<int>::WriteOwned(lock);
  auto lock_owned = Mutex<int>::LockOwned(mutex);
  auto acquire_owned = Semaphore::AcquireOwned(semaphore);
  EXPECT_TRUE(PollOnce(read).IsPending());
  EXPECT_TRUE(PollOnce(write).IsPending());
  EXPECT_TRUE(PollOnce(read_owned).IsPending());
  EXPECT_TRUE(PollOnce(write_owned).IsPending());
  EXPECT_TRUE(PollOnce(lock_owned).IsPending());
  EXPECT_TRUE(PollOnce(acquire_owned).IsPending());
  EXPECT_THAT(TraceOf(read), HasSubstr("lacks 1 of 1"));
  EXPECT_THAT(TraceOf(write), HasSubstr("lacks 3 of 3"));
  EXPECT_THAT(TraceOf(read_owned), HasSubstr("lacks 1 of 1"));
  EXPECT_THAT(TraceOf(write_owned), HasSubstr("lacks 3 of 3"));
  EXPECT_THAT(TraceOf(lock_owned), HasSubstr("lacks 1 of 1"));
  EXPECT_THAT(TraceOf(acquire_owned), HasSubstr("lacks 1 of 1"));
}

}  // namespace
}  // namespace rouse
