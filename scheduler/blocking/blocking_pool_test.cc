// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests for Tokio's traps of such pools:
//
// P1  #1978: a shutdown left work in the queue.
//     CancelsCallsThatHaveNotBegun and RunsMandatoryCallsInOrder in
//     blocking_pool_shutdown_test.cc; the model
//     AllCallsAreDestroyedByTheShutdown.
// P2  #7757, #8056: there were several queues, and threads checked the wrong
//     one. Cannot arise: the pool has one queue, under one lock.
//     blocking_pool_model_test.cc tests that a thread takes the work in it.
// P3  #7910, #7918, #7922: idle threads were counted twice when a shutdown met
//     a wake. The models AShutdownRacesWithWorkAndAThreadThatTimesOut and
//     WorkIsDoneIfAThreadTimesOutMeanwhile; blocking_pool_stress_test.cc
//     checks the counts.
// P4  #2309, #4485: a thread does not start.
//     ACallFailsIfNoThreadCanStart, ACallWaitsForAThreadIfNoneCanStart;
//     for lack of memory, blocking_pool_memory_test.cc. A thread that runs
//     tasks is not a thread of the pool, and so is never counted on (#8406).
// P5  #3174, #3196: a limit of 0 waited forever.
//     DoesNotWaitAgainAfterItsLimit in blocking_pool_shutdown_test.cc.
// P6  #2502, #2711: a task's budget followed it into a blocking call. Cannot
//     arise: a budget belongs to the `Context` of one poll. See
//     ACallDoesNotInheritABudget.

#include "rouse/scheduler/blocking/blocking_pool.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BlockingPool::Owner OneThread() { return BlockingPool::Create({1}); }

// A thread becomes idle a moment after its call has ended.
void WaitUntilIdle(const BlockingPool& pool, size_t threads) {
  while (pool.metrics().idle_threads != threads) std::this_thread::yield();
}

void WaitUntilThreadsExit(const BlockingPool& pool) {
  while (pool.metrics().threads != 0) std::this_thread::yield();
}

// Keeps a thread of a pool busy as long as the object exists.
class Busy {
 public:
  explicit Busy(BlockingPool& pool)
      : handle_(pool.Spawn([this] {
          begun_.Notify();
          end_.WaitForNotification();
        })) {
    begun_.WaitForNotification();
  }
  ~Busy() {
    End();
    EXPECT_THAT(BlockOn(std::move(handle_)), IsOk());
  }
  void End() {
    if (!end_.HasBeenNotified()) end_.Notify();
  }

 private:
  absl::Notification begun_;
  absl::Notification end_;
  JoinHandle<void> handle_;
};

// Records the thread on which it is destroyed.
class Witness {
 public:
  explicit Witness(std::atomic<std::thread::id>* destroyed_on)
      : destroyed_on_(destroyed_on) {}
  Witness(Witness&& other) noexcept
      : destroyed_on_(std::exchange(other.destroyed_on_, nullptr)) {}
  ~Witness() {
    if (destroyed_on_ != nullptr) *destroyed_on_ = std::this_thread::get_id();
  }

 private:
  std::atomic<std::thread::id>* destroyed_on_;
};

TEST(BlockingPool, StartsNoThreadBeforeThereIsWork) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  EXPECT_EQ(pool->metrics().threads, 0u);
}

TEST(BlockingPool, ReturnsTheResultOfTheCall) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  EXPECT_THAT(BlockOn(pool->Spawn([] { return 7; })), IsOkAndHolds(7));
}

TEST(BlockingPool, AVoidCallReturnsAStatus) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  EXPECT_THAT(BlockOn(pool->Spawn([] {})), IsOk());
}

TEST(BlockingPool, AStatusOrIsNotNested) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  absl::StatusOr<int> result = BlockOn(pool->Spawn(
      []() -> absl::StatusOr<int> { return absl::NotFoundError("no"); }));
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kNotFound, "no"));
}

TEST(BlockingPool, TakesAMoveOnlyCallableOnce) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  class Once {
   public:
    explicit Once(int value) : value_(std::make_unique<int>(value)) {}
    std::unique_ptr<int> operator()() && { return std::move(value_); }

   private:
    std::unique_ptr<int> value_;
  };
  absl::StatusOr<std::unique_ptr<int>> result = BlockOn(pool->Spawn(Once(7)));
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(**result, 7);
}

TEST(BlockingPool, CallsOnANamedThreadOfItsOwn) {
  const BlockingPool::Owner pool =
      BlockingPool::Create({.thread_name = "files"});
  auto name = [] {
    char buffer[16];
    pthread_getname_np(pthread_self(), buffer, sizeof buffer);
    return std::string(buffer);
  };
  EXPECT_THAT(BlockOn(pool->Spawn(name)), IsOkAndHolds("files-0"));
}

TEST(BlockingPool, ThreadsHaveTheConfiguredStackSize) {
  const BlockingPool::Owner pool =
      BlockingPool::Create({.thread_stack_size = 1 << 20});
  auto stack_size = [] {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    size_t size = 0;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return size;
  };
  EXPECT_THAT(BlockOn(pool->Spawn(stack_size)), IsOkAndHolds(1u << 20));
}

TEST(BlockingPool, DestroysTheCallOnItsThreadBeforeTheResultIsReady) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  std::atomic<std::thread::id> destroyed_on;
  auto call = [witness = Witness(&destroyed_on)] {
    return std::this_thread::get_id();
  };
  absl::StatusOr<std::thread::id> ran_on =
      BlockOn(pool->Spawn(std::move(call)));
  EXPECT_THAT(ran_on, IsOkAndHolds(destroyed_on.load()));
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(BlockingPool, AnExceptionReachesTheJoinHandle) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  std::atomic<std::thread::id> destroyed_on;
  JoinHandle<int> handle =
      pool->Spawn([witness = Witness(&destroyed_on)]() -> int {
        throw std::runtime_error("broken");
      });
  class Join {
   public:
    explicit Join(JoinHandle<int>& handle) : handle_(handle) {}
    PollResult<absl::StatusOr<int>> Poll(Context& cx) {
      return handle_.Poll(cx);
    }

   private:
    JoinHandle<int>& handle_;
  };
  EXPECT_THAT(BlockOn(Join(handle)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("broken")));
  EXPECT_THROW(std::rethrow_exception(handle.exception()), std::runtime_error);
  EXPECT_NE(destroyed_on.load(), std::thread::id());
}
#endif

TEST(BlockingPool, ADetachedCallRuns) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  absl::Notification ran;
  pool->Spawn([&ran] { ran.Notify(); }).Detach();
  ran.WaitForNotification();
}

TEST(BlockingPool, ACallCanSpawnAnother) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  auto outer = [&pool] { return BlockOn(pool->Spawn([] { return 7; })); };
  EXPECT_THAT(BlockOn(pool->Spawn(outer)), IsOkAndHolds(7));
}

TEST(BlockingPool, WithoutALimitNoCallIsQueued) {
  constexpr int kCalls = 3;
  const BlockingPool::Owner pool = BlockingPool::Create(
      {.max_threads = 1, .keep_alive = absl::InfiniteDuration()});
  std::atomic<int> begun = 0;
  auto meet = [&begun] {
    ++begun;
    while (begun < kCalls) std::this_thread::yield();
  };
  std::vector<JoinHandle<void>> calls;
  for (int i = 0; i < kCalls - 1; ++i) calls.push_back(pool->Spawn(meet));
  EXPECT_LE(begun, 1);
  pool->LiftLimit();
  calls.push_back(pool->Spawn(meet));
  for (JoinHandle<void>& call : calls) {
    EXPECT_THAT(BlockOn(std::move(call)), IsOk());
  }
  EXPECT_EQ(pool->metrics().threads, size_t{kCalls});
}

// A starting thread may take long.
TEST(BlockingPool, AnIdleThreadIsUsedWhileAnotherStarts) {
  absl::Notification may_start;
  std::atomic<int> starts = 0;
  BlockingOptions options;
  options.keep_alive = absl::InfiniteDuration();
  options.on_thread_start = [&] {
    if (starts++ == 1) may_start.WaitForNotification();
  };
  const BlockingPool::Owner pool = BlockingPool::Create(std::move(options));
  std::optional<JoinHandle<void>> second;
  {
    const Busy busy(*pool);
    second.emplace(pool->Spawn([] {}));  // starts a thread
  }
  EXPECT_THAT(BlockOn(*std::move(second)), IsOk());
  WaitUntilIdle(*pool, 1);
  EXPECT_THAT(BlockOn(pool->Spawn([] {})), IsOk());
  EXPECT_EQ(pool->metrics().threads, 2u);
  may_start.Notify();
}

// P6.
TEST(BlockingPool, ACallDoesNotInheritABudget) {
  // Ready if the budget has a unit, which it takes.
  class TakeUnit {
   public:
    explicit TakeUnit(int* polls) : polls_(polls) {}
    PollResult<void> Poll(Context& cx) {
      ++*polls_;
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
      return {};
    }

   private:
    int* polls_;
  };
  const BlockingPool::Owner pool = BlockingPool::Create();
  constexpr int kUnits = 3 * kBudgetPerPoll;
  auto call = [] {
    int polls = 0;
    for (int i = 0; i < kUnits; ++i) BlockOn(TakeUnit(&polls));
    return polls;
  };
  // The call is spawned and joined by a poll without budget.
  const Waker waker;
  Context cx(waker);
  int polls = 0;
  while (TakeUnit(&polls).Poll(cx).IsReady()) {
  }
  EXPECT_FALSE(cx.HasBudget());
  EXPECT_THAT(BlockOn(pool->Spawn(call)), IsOkAndHolds(kUnits));
}

TEST(BlockingPool, ACallAbortedBeforeItBeginsDoesNotRun) {
  const BlockingPool::Owner pool = OneThread();
  bool ran = false;
  std::atomic<std::thread::id> destroyed_on;
  Busy busy(*pool);
  JoinHandle<void> handle =
      pool->Spawn([&ran, witness = Witness(&destroyed_on)] { ran = true; });
  handle.Abort();
  EXPECT_EQ(destroyed_on.load(), std::thread::id());  // not in Abort() itself
  busy.End();
  EXPECT_THAT(BlockOn(std::move(handle)),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(ran);
  EXPECT_NE(destroyed_on.load(), std::thread::id());
}

TEST(BlockingPool, ACallAbortedAfterItBeginsReturnsItsResult) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  absl::Notification begun;
  absl::Notification aborted;
  JoinHandle<int> handle = pool->Spawn([&] {
    begun.Notify();
    aborted.WaitForNotification();
    return 7;
  });
  begun.WaitForNotification();
  handle.Abort();
  aborted.Notify();
  EXPECT_THAT(BlockOn(std::move(handle)), IsOkAndHolds(7));
}

TEST(BlockingPool, AtTheLimitCallsQueueInOrder) {
  const BlockingPool::Owner pool = OneThread();
  std::vector<int> order;
  std::vector<JoinHandle<void>> handles;
  {
    const Busy busy(*pool);
    for (int i = 0; i < 4; ++i) {
      handles.push_back(pool->Spawn([&order, i] { order.push_back(i); }));
    }
    EXPECT_EQ(pool->metrics().queue_depth, 4u);
    EXPECT_EQ(pool->metrics().threads, 1u);
  }
  for (JoinHandle<void>& handle : handles) {
    EXPECT_THAT(BlockOn(std::move(handle)), IsOk());
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(pool->metrics().queue_depth, 0u);
}

TEST(BlockingPool, StartsAThreadForEachCallThatFindsNoneIdle) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  const Busy first(*pool);
  const Busy second(*pool);
  EXPECT_EQ(pool->metrics().threads, 2u);
  EXPECT_EQ(pool->metrics().idle_threads, 0u);
}

TEST(BlockingPool, WakesOnlyTheThreadThatWentIdleLast) {
  const BlockingPool::Owner pool =
      BlockingPool::Create({.keep_alive = absl::InfiniteDuration()});
  {
    const Busy first(*pool);
    const Busy second(*pool);
  }
  WaitUntilIdle(*pool, 2);
  auto here = [] { return std::this_thread::get_id(); };
  const absl::StatusOr<std::thread::id> ran_on = BlockOn(pool->Spawn(here));
  for (int i = 0; i < 10; ++i) {
    WaitUntilIdle(*pool, 2);
    EXPECT_EQ(BlockOn(pool->Spawn(here)), ran_on);
  }
  EXPECT_EQ(pool->metrics().threads, 2u);
}

TEST(BlockingPool, AThreadThatIsIdleTooLongExitsAndIsReplaced) {
  std::atomic<int> started = 0;
  const BlockingPool::Owner pool = BlockingPool::Create({
      .keep_alive = absl::Milliseconds(1),
      .on_thread_start = [&started] { ++started; },
  });
  for (int i = 1; i <= 3; ++i) {
    EXPECT_THAT(BlockOn(pool->Spawn([] { return 7; })), IsOkAndHolds(7));
    WaitUntilThreadsExit(*pool);
    EXPECT_EQ(started, i);
  }
}

TEST(BlockingPool, AKeepAliveOfZeroKeepsNoIdleThread) {
  const BlockingPool::Owner pool =
      BlockingPool::Create({.keep_alive = -absl::InfiniteDuration()});
  EXPECT_THAT(BlockOn(pool->Spawn([] { return 7; })), IsOkAndHolds(7));
  WaitUntilThreadsExit(*pool);
}

TEST(BlockingPool, CallsItsHooksFirstAndLast) {
  std::vector<std::string> log;  // used by one thread
  {
    const BlockingPool::Owner pool = BlockingPool::Create({
        .max_threads = 1,
        .on_thread_start = [&log] { log.emplace_back("start"); },
        .on_thread_stop = [&log] { log.emplace_back("stop"); },
    });
    pool->SetThreadScope([&log]() -> std::shared_ptr<void> {
      log.emplace_back("enter");
      return std::shared_ptr<void>(
          &log, [&log](void*) { log.emplace_back("leave"); });
    });
    EXPECT_THAT(BlockOn(pool->Spawn([&log] { log.emplace_back("call"); })),
                IsOk());
  }
  EXPECT_THAT(log, ElementsAre("enter", "start", "call", "stop", "leave"));
}

// P4.
TEST(BlockingPool, ACallFailsIfNoThreadCanStart) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  std::atomic<std::thread::id> destroyed_on;
  bool ran = false;
  const bool allowed =
      reactor::WithFailingCalls({SYS_clone, SYS_clone3}, EAGAIN, [&] {
        JoinHandle<void> handle = pool->Spawn(
            [&ran, witness = Witness(&destroyed_on)] { ran = true; });
        EXPECT_EQ(destroyed_on.load(), std::this_thread::get_id());
        EXPECT_THAT(
            BlockOn(std::move(handle)),
            StatusIs(absl::StatusCode::kResourceExhausted,
                     HasSubstr("pthread_create for thread rouse-blk-0")));
      });
  if (!allowed) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_FALSE(ran);
  EXPECT_EQ(pool->metrics().queue_depth, 0u);
  EXPECT_THAT(BlockOn(pool->Spawn([] { return 7; })), IsOkAndHolds(7));
}

// P4.
TEST(BlockingPool, ACallWaitsForAThreadIfNoneCanStart) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  Busy busy(*pool);
  const bool allowed =
      reactor::WithFailingCalls({SYS_clone, SYS_clone3}, EAGAIN, [&] {
        JoinHandle<int> handle = pool->Spawn([] { return 7; });
        EXPECT_EQ(pool->metrics().threads, 1u);
        EXPECT_EQ(pool->metrics().queue_depth, 1u);
        busy.End();
        EXPECT_THAT(BlockOn(std::move(handle)), IsOkAndHolds(7));
      });
  if (!allowed) GTEST_SKIP() << "no filters of system calls here";
}

TEST(BlockingPool, AClockDoesNotAutoAdvanceDuringACall) {
  const std::shared_ptr<Clock> clock = PausedClock();
  clock->SetAutoAdvance(true);
  const Instant start = clock->Now();
  const BlockingPool::Owner pool =
      BlockingPool::Create({.max_threads = 1,
                            .keep_alive = absl::InfiniteDuration(),
                            .clock = clock});
  JoinHandle<void> queued = [&] {
    const Busy busy(*pool);
    // Like a driver, check for events first.
    clock->EndCheck(clock->BeginCheck());
    (void)clock->AutoAdvanceTo(start + absl::Hours(1));
    EXPECT_EQ(clock->Now(), start);
    return pool->Spawn([&] {
      clock->EndCheck(clock->BeginCheck());
      (void)clock->AutoAdvanceTo(start + absl::Hours(1));
      EXPECT_EQ(clock->Now(), start);
    });
  }();
  EXPECT_THAT(BlockOn(std::move(queued)), IsOk());
  WaitUntilIdle(*pool, 1);
  clock->EndCheck(clock->BeginCheck());
  (void)clock->AutoAdvanceTo(start + absl::Hours(1));
  EXPECT_EQ(clock->Now(), start + absl::Hours(1));
}

TEST(BlockingPool, AMaximumOfZeroThreadsPanics) {
  EXPECT_PANIC(BlockingPool::Create({0}), "max_threads is 0");
}

}  // namespace
}  // namespace rouse::scheduler
