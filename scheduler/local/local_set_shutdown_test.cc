// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a `LocalSet` ends, and what is possible afterwards.

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/local/local_set.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::StatusIs;

// Never ready. Stores its waker in `waker`, and calls `at_end` when it is
// destroyed.
template <class F>
class Forever {
 public:
  Forever(AtomicWaker& waker, F at_end)
      : waker_(&waker), at_end_(std::move(at_end)) {}
  Forever(Forever&& other) noexcept
      : waker_(std::exchange(other.waker_, nullptr)),
        at_end_(std::move(other.at_end_)) {}
  Forever& operator=(Forever&&) = delete;
  ~Forever() {
    if (waker_ != nullptr) at_end_();
  }

  PollResult<void> Poll(Context& cx) {
    waker_->Register(cx.waker());
    return kPending;
  }

 private:
  AtomicWaker* waker_;
  F at_end_;
};

TEST(LocalSetShutdown, CancelsItsTasksOnItsThread) {
  AtomicWaker waker;
  std::optional<std::thread::id> where;
  std::optional<LocalSet> set(std::in_place);
  JoinHandle<void> handle = set->Spawn(
      Forever(waker, [&where] { where = std::this_thread::get_id(); }));
  EXPECT_TRUE(PollOnce(*set).IsPending());
  set.reset();
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_THAT(BlockOn(handle), StatusIs(absl::StatusCode::kCancelled));
  waker.Wake();
}

TEST(LocalSetShutdown, CancelsTasksThatWereNeverPolled) {
  AtomicWaker waker;
  bool ended = false;
  {
    LocalSet set;
    set.Spawn(Forever(waker, [&ended] { ended = true; })).Detach();
  }
  EXPECT_TRUE(ended);
}

// L1, tokio #1885 and #1892: tasks woken from outside the set were never taken
// out of their queue, and the end of the set waited for them forever.
TEST(LocalSetShutdown, EndsAlthoughItsTasksWakeOneAnother) {
  constexpr int kTasks = 4;
  AtomicWaker wakers[kTasks];
  int ended = 0;
  {
    LocalSet set;
    for (AtomicWaker& own : wakers) {
      set.Spawn(Forever(own,
                        [&] {
                          ++ended;
                          for (AtomicWaker& waker : wakers) waker.Wake();
                        }))
          .Detach();
    }
    EXPECT_TRUE(PollOnce(set).IsPending());
    wakers[1].Wake();
  }
  EXPECT_EQ(ended, kTasks);
}

TEST(LocalSetShutdown, ATaskSpawnedByADestructorIsCancelled) {
  AtomicWaker waker;
  bool ran = false;
  std::optional<JoinHandle<void>> handle;
  auto child = [&ran]() -> Co<> {
    ran = true;
    co_return;
  };
  {
    LocalSet set;
    set.Spawn(Forever(waker, [&] { handle = SpawnLocal(child); })).Detach();
    EXPECT_TRUE(PollOnce(set).IsPending());
  }
  EXPECT_FALSE(ran);
  EXPECT_THAT(BlockOn(*handle), StatusIs(absl::StatusCode::kCancelled));
  waker.Wake();
}

// L5, tokio #3978: such a task stayed in a queue that was never checked, and
// kept itself alive. AddressSanitizer would report this; so do models, with
// threads.
TEST(LocalSetShutdown, ATaskWokenDuringShutdownDoesNotLeak) {
  AtomicWaker late;
  AtomicWaker waker;
  {
    LocalSet set;
    set.Spawn(Forever(waker, [&] { late.Wake(); })).Detach();
    set.Spawn(Forever(late, [] {})).Detach();
    EXPECT_TRUE(PollOnce(set).IsPending());
    std::thread other([&] { late.Wake(); });
    other.join();
  }
  waker.Wake();
}

TEST(LocalSetShutdown, AWakerOutlivesItsSet) {
  AtomicWaker wakers[2];
  {
    LocalSet set;
    for (AtomicWaker& waker : wakers) {
      set.Spawn(Forever(waker, [] {})).Detach();
    }
    EXPECT_TRUE(PollOnce(set).IsPending());
  }
  wakers[0].Wake();
  std::thread other([&] { wakers[1].Wake(); });
  other.join();
}

TEST(LocalSetShutdown, AWakerAndAHandleOutliveItsThread) {
  static AtomicWaker waker;
  // Never destroyed: its thread has ended, and no other thread may destroy it.
  static LocalSet* set;
  std::optional<JoinHandle<void>> handle;
  std::thread owner([&] {
    set = new LocalSet;
    handle = set->Spawn(Forever(waker, [] {}));
    EXPECT_TRUE(PollOnce(*set).IsPending());
  });
  owner.join();
  waker.Wake();
  handle->Abort();
  EXPECT_FALSE(handle->IsFinished());
}

// Tokio #4973, #5162 and #5179.
TEST(LocalSetShutdown, AThreadLocalSetEndsWithItsThread) {
  static AtomicWaker waker;
  static std::atomic<bool> spawned_at_end = false;
  std::thread other([] {
    thread_local LocalSet set;
    auto child = []() -> Co<> { co_return; };
    set.Spawn(Forever(waker,
                      [child] {
                        SpawnLocal(child).Detach();
                        spawned_at_end = true;
                      }))
        .Detach();
    EXPECT_TRUE(PollOnce(set).IsPending());
  });
  other.join();
  EXPECT_TRUE(spawned_at_end);
  waker.Wake();
}

TEST(LocalSetShutdown, ARunUntilOutlivesItsSet) {
  std::optional<LocalSet> set(std::in_place);
  auto body = []() -> Co<> { co_await Yield(); };
  auto until = set->RunUntil(body);
  EXPECT_TRUE(PollOnce(until).IsPending());
  set.reset();
  EXPECT_PANIC(static_cast<void>(PollOnce(until)), "was destroyed");
}

TEST(LocalSetShutdownDeathTest, DestroyedByItsOwnTask) {
  EXPECT_DEATH(
      {
        auto set = std::make_unique<LocalSet>();
        LocalSet& polled = *set;
        auto body = [&set]() -> Co<> {
          set.reset();
          co_return;
        };
        polled.Spawn(body).Detach();
        static_cast<void>(PollOnce(polled));
      },
      "by one of its own tasks");
}

TEST(LocalSetShutdownDeathTest, DestroyedOnAnotherThread) {
  EXPECT_DEATH(
      {
        auto set = std::make_unique<LocalSet>();
        std::thread([&set] { set.reset(); }).join();
      },
      "another thread");
}

// Other threads wake and abort tasks while the set runs and ends.
TEST(LocalSetShutdown, EndsWhileOtherThreadsWakeAndAbort) {
  for (int round = 0; round < 40; ++round) {
    constexpr int kTasks = 8;
    AtomicWaker wakers[kTasks];
    std::atomic<int> ended = 0;
    {
      std::optional<LocalSet> set(std::in_place);
      std::vector<JoinHandle<void>> handles;
      for (AtomicWaker& waker : wakers) {
        handles.push_back(set->Spawn(Forever(waker, [&ended] { ++ended; })));
      }
      EXPECT_TRUE(PollOnce(*set).IsPending());
      std::thread waking([&] {
        for (int i = 0; i < 50; ++i) wakers[i % kTasks].Wake();
      });
      std::thread aborting([&] {
        for (int i = 0; i < kTasks; i += 2) handles[i].Abort();
      });
      for (int i = 0; i < round; ++i) static_cast<void>(PollOnce(*set));
      set.reset();
      waking.join();
      aborting.join();
    }
    EXPECT_EQ(ended, kTasks);
  }
}

}  // namespace
}  // namespace rouse
