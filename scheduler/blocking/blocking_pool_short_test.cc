// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests `BlockingPool::SpawnShort()`.

#include <errno.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/scheduler/blocking/blocking_pool.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/failing_calls.h"

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;

// A thread becomes idle a moment after its call has ended.
void WaitUntilIdle(const BlockingPool& pool, size_t threads) {
  while (pool.metrics().idle_threads != threads) std::this_thread::yield();
}

// Waits until as many threads as the counter says are here.
void Meet(absl::BlockingCounter& counter, absl::Notification& all) {
  if (counter.DecrementCount()) all.Notify();
  all.WaitForNotification();
}

// Joins all calls.
void ExpectOk(std::vector<JoinHandle<void>> handles) {
  for (JoinHandle<void>& handle : handles) {
    EXPECT_THAT(BlockOn(std::move(handle)), IsOk());
  }
}

// Spawns `count` calls, each of which waits until all of them run.
void SpawnCallsThatMeet(BlockingPool& pool, int count) {
  absl::BlockingCounter left(count);
  absl::Notification all;
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < count; ++i) {
    handles.push_back(pool.SpawnShort([&] { Meet(left, all); }));
  }
  ExpectOk(std::move(handles));
  left.Wait();
}

TEST(BlockingPoolShort, ReturnsTheResultOfTheCall) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  EXPECT_THAT(BlockOn(pool->SpawnShort([] { return 7; })), IsOkAndHolds(7));
}

TEST(BlockingPoolShort, CallsShareAThreadThatStarts) {
  absl::Notification go;
  const BlockingPool::Owner pool = BlockingPool::Create(
      {.on_thread_start = [&go] { go.WaitForNotification(); }});
  std::vector<JoinHandle<void>> handles;
  for (int i = 1; i <= 17; ++i) {
    handles.push_back(pool->SpawnShort([] {}));
    EXPECT_EQ(pool->metrics().threads, i <= 8 ? 1u : i <= 16 ? 2u : 3u) << i;
  }
  EXPECT_EQ(pool->metrics().queue_depth, 17u);
  go.Notify();
  ExpectOk(std::move(handles));
}

// A usual call gets a thread in spite of the short calls, and the other way
// round.
TEST(BlockingPoolShort, AUsualCallStartsAThread) {
  absl::Notification go;
  const BlockingPool::Owner pool = BlockingPool::Create(
      {.on_thread_start = [&go] { go.WaitForNotification(); }});
  std::vector<JoinHandle<void>> handles;
  handles.push_back(pool->SpawnShort([] {}));
  handles.push_back(pool->Spawn([] {}));
  EXPECT_EQ(pool->metrics().threads, 2u);
  handles.push_back(pool->SpawnShort([] {}));
  EXPECT_EQ(pool->metrics().threads, 2u);
  go.Notify();
  ExpectOk(std::move(handles));
}

TEST(BlockingPoolShort, CallsThatHangGetAThreadEach) {
  const BlockingPool::Owner pool =
      BlockingPool::Create({.keep_alive = absl::InfiniteDuration()});
  SpawnCallsThatMeet(*pool, 30);
  EXPECT_EQ(pool->metrics().threads, 30u);
  // Now the threads sleep, and are woken.
  WaitUntilIdle(*pool, 30);
  SpawnCallsThatMeet(*pool, 30);
  EXPECT_EQ(pool->metrics().threads, 30u);
}

TEST(BlockingPoolShort, ACallThatHangsDelaysNoOther) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  absl::Notification end;
  std::vector<JoinHandle<void>> hanging;
  std::vector<JoinHandle<void>> others;
  for (int i = 0; i < 20; ++i) {
    if (i % 5 == 0) {
      hanging.push_back(
          pool->SpawnShort([&end] { end.WaitForNotification(); }));
    }
    others.push_back(pool->SpawnShort([] {}));
    if (i % 7 == 0) others.push_back(pool->Spawn([] {}));
  }
  ExpectOk(std::move(others));
  end.Notify();
  ExpectOk(std::move(hanging));
}

TEST(BlockingPoolShort, AnIdleThreadIsUsedWhileAnotherStarts) {
  absl::Notification go;
  absl::Notification end;
  bool is_first = true;
  const BlockingPool::Owner pool = BlockingPool::Create({
      .keep_alive = absl::InfiniteDuration(),
      .on_thread_start =
          [&] {
            if (!std::exchange(is_first, false)) go.WaitForNotification();
          },
  });
  // While the first thread is busy, a second starts. Then the first is idle.
  JoinHandle<void> busy =
      pool->SpawnShort([&end] { end.WaitForNotification(); });
  while (pool->metrics().queue_depth != 0) std::this_thread::yield();
  JoinHandle<void> second = pool->SpawnShort([] {});
  EXPECT_EQ(pool->metrics().threads, 2u);
  end.Notify();
  EXPECT_THAT(BlockOn(std::move(busy)), IsOk());
  EXPECT_THAT(BlockOn(std::move(second)), IsOk());
  WaitUntilIdle(*pool, 1);
  EXPECT_THAT(BlockOn(pool->SpawnShort([] { return 7; })), IsOkAndHolds(7));
  go.Notify();
}

TEST(BlockingPoolShort, AtTheLimitCallsQueueInOrder) {
  const BlockingPool::Owner pool = BlockingPool::Create({.max_threads = 1});
  absl::Notification go;
  std::vector<int> order;
  std::vector<JoinHandle<void>> handles;
  handles.push_back(pool->Spawn([&go] { go.WaitForNotification(); }));
  for (int i = 0; i < 12; ++i) {
    auto call = [&order, i] { order.push_back(i); };
    handles.push_back(i % 3 == 0 ? pool->Spawn(call) : pool->SpawnShort(call));
  }
  EXPECT_EQ(pool->metrics().threads, 1u);
  go.Notify();
  ExpectOk(std::move(handles));
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST(BlockingPoolShort, AnAbortedCallThatHasNotBegunDoesNotRun) {
  const BlockingPool::Owner pool = BlockingPool::Create({.max_threads = 1});
  absl::Notification go;
  JoinHandle<void> busy = pool->Spawn([&go] { go.WaitForNotification(); });
  std::vector<JoinHandle<void>> handles;
  int ran = 0;
  for (int i = 0; i < 4; ++i) {
    handles.push_back(pool->SpawnShort([&ran] { ++ran; }));
  }
  handles[1].Abort();
  go.Notify();
  EXPECT_THAT(BlockOn(std::move(busy)), IsOk());
  for (size_t i = 0; i < handles.size(); ++i) {
    EXPECT_EQ(BlockOn(std::move(handles[i])).code(),
              i == 1 ? absl::StatusCode::kCancelled : absl::StatusCode::kOk);
  }
  EXPECT_EQ(ran, 3);
}

TEST(BlockingPoolShort, AClosedPoolCancelsCallsThatHaveNotBegun) {
  const BlockingPool::Owner pool = BlockingPool::Create({.max_threads = 1});
  absl::Notification begun;
  absl::Notification go;
  JoinHandle<int> running = pool->SpawnShort([&] {
    begun.Notify();
    go.WaitForNotification();
    return 7;
  });
  begun.WaitForNotification();
  JoinHandle<int> waiting = pool->SpawnShort([] { return 8; });
  pool->Close();
  EXPECT_THAT(BlockOn(std::move(waiting)),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(BlockOn(pool->SpawnShort([] { return 9; })),
              StatusIs(absl::StatusCode::kCancelled));
  go.Notify();
  EXPECT_THAT(BlockOn(std::move(running)), IsOkAndHolds(7));
}

// The mandatory calls have threads that were called before the pool was closed.
TEST(BlockingPoolShort, MandatoryCallsOfAClosedPoolRunInTheScope) {
  absl::Notification go;
  absl::Notification fourth;
  absl::Notification closed;
  std::atomic<int> started = 0;
  const BlockingPool::Owner pool = BlockingPool::Create({
      .on_thread_start =
          [&] {
            go.WaitForNotification();
            if (++started != 4) return;
            fourth.Notify();
            closed.WaitForNotification();
          },
  });
  static thread_local bool in_scope = false;
  pool->SetThreadScope([] {
    in_scope = true;
    return std::shared_ptr<void>(&in_scope, [](void*) { in_scope = false; });
  });
  absl::Notification end;
  std::vector<JoinHandle<void>> hanging;
  for (int i = 0; i < 8; ++i) {
    hanging.push_back(pool->SpawnShort([&end] { end.WaitForNotification(); }));
  }
  absl::BlockingCounter left(2);
  absl::Notification both;
  std::vector<JoinHandle<bool>> mandatory;
  for (int i = 0; i < 2; ++i) {
    mandatory.push_back(pool->SpawnMandatory([&] {
      Meet(left, both);
      return in_scope;
    }));
  }
  EXPECT_EQ(pool->metrics().threads, 3u);
  // The three threads take short calls, and the last calls a fourth.
  go.Notify();
  fourth.WaitForNotification();
  pool->Close();
  closed.Notify();
  for (JoinHandle<bool>& handle : mandatory) {
    EXPECT_THAT(BlockOn(std::move(handle)), IsOkAndHolds(true));
  }
  end.Notify();
  int done = 0;
  for (JoinHandle<void>& handle : hanging) {
    if (BlockOn(std::move(handle)).ok()) ++done;
  }
  EXPECT_EQ(done, 3);
  left.Wait();
}

TEST(BlockingPoolShort, AHookCanWaitForACallOfItsOwn) {
  BlockingPool* raw = nullptr;
  std::atomic<bool> is_first = true;
  absl::Notification hook_ended;
  const BlockingPool::Owner pool = BlockingPool::Create({
      .on_thread_start =
          [&] {
            if (!is_first.exchange(false)) return;
            EXPECT_THAT(BlockOn(raw->SpawnShort([] { return 7; })),
                        IsOkAndHolds(7));
            hook_ended.Notify();
          },
  });
  raw = pool.get();
  EXPECT_THAT(BlockOn(pool->SpawnShort([] { return 8; })), IsOkAndHolds(8));
  // The end of the pool would cancel the call of the hook.
  hook_ended.WaitForNotification();
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(BlockingPoolShort, AnExceptionEndsOneCall) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  JoinHandle<int> throwing = pool->SpawnShort(
      []() -> int { throw std::runtime_error("thrown by the test"); });
  JoinHandle<int> other = pool->SpawnShort([] { return 7; });
  EXPECT_THAT(BlockOn(std::move(throwing)),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(BlockOn(std::move(other)), IsOkAndHolds(7));
}
#endif

TEST(BlockingPoolShort, ACallFailsIfNoThreadCanStart) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  const bool allowed =
      reactor::WithFailingCalls({SYS_clone, SYS_clone3}, EAGAIN, [&] {
        EXPECT_THAT(BlockOn(pool->SpawnShort([] { return 7; })),
                    StatusIs(absl::StatusCode::kResourceExhausted));
      });
  if (!allowed) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(pool->metrics().queue_depth, 0u);
  EXPECT_THAT(BlockOn(pool->SpawnShort([] { return 7; })), IsOkAndHolds(7));
}

}  // namespace
}  // namespace rouse::scheduler
