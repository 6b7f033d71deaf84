// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a pool ends. blocking_pool_test.cc lists Tokio's traps.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/scheduler/blocking/blocking_pool.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

constexpr absl::StatusCode kCancelled = absl::StatusCode::kCancelled;

// A pool of one thread, which is busy until the test ends its call.
class BlockingPoolShutdownTest : public ::testing::Test {
 protected:
  BlockingPoolShutdownTest() {
    busy_ = pool_->SpawnMandatory([this] {
      begun_.Notify();
      end_.WaitForNotification();
      return 1;
    });
    begun_.WaitForNotification();
  }
  ~BlockingPoolShutdownTest() override {
    if (!end_.HasBeenNotified()) end_.Notify();
    EXPECT_THAT(BlockOn(*std::move(busy_)), IsOkAndHolds(1));
    // Another thread's last use of this object.
    stopped_.WaitForNotification();
  }

  absl::Notification begun_;
  absl::Notification end_;
  absl::Notification stopped_;
  BlockingPool::Owner pool_ = BlockingPool::Create({
      .max_threads = 1,
      .keep_alive = absl::ZeroDuration(),
      .on_thread_stop = [this] { stopped_.Notify(); },
  });
  std::optional<JoinHandle<int>> busy_;
};

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(BlockingPoolShutdownTest, AThrowingWakerDoesNotStopTheOtherCalls) {
  JoinHandle<void> first = pool_->Spawn([] {});
  JoinHandle<void> second = pool_->Spawn([] {});
  const Waker throws =
      Waker::FromCallable([] { throw std::runtime_error("joiner"); });
  {
    Context cx(throws);
    EXPECT_TRUE(first.Poll(cx).IsPending());
  }
  EXPECT_THROW(pool_->Close(), std::runtime_error);
  EXPECT_THAT(BlockOn(std::move(first)), StatusIs(kCancelled));
  EXPECT_THAT(BlockOn(std::move(second)), StatusIs(kCancelled));
  end_.Notify();
  EXPECT_TRUE(pool_->Shutdown());
}
#endif

// P1.
TEST_F(BlockingPoolShutdownTest, CancelsCallsThatHaveNotBegun) {
  bool ran = false;
  JoinHandle<void> handle = pool_->Spawn([&ran] { ran = true; });
  pool_->Close();
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_THAT(BlockOn(std::move(handle)), StatusIs(kCancelled));
  EXPECT_FALSE(ran);
  EXPECT_EQ(pool_->metrics().queue_depth, 0u);
  end_.Notify();
  EXPECT_TRUE(pool_->Shutdown());
}

TEST_F(BlockingPoolShutdownTest, RunsMandatoryCallsInOrder) {
  std::vector<int> order;
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 3; ++i) {
    handles.push_back(pool_->Spawn([&order] { order.push_back(-1); }));
    handles.push_back(
        pool_->SpawnMandatory([&order, i] { order.push_back(i); }));
  }
  pool_->Close();
  EXPECT_EQ(pool_->metrics().queue_depth, 3u);
  end_.Notify();
  pool_.reset();
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2));
  for (size_t i = 0; i < handles.size(); ++i) {
    EXPECT_THAT(BlockOn(std::move(handles[i])),
                StatusIs(i % 2 == 0 ? kCancelled : absl::StatusCode::kOk));
  }
}

TEST_F(BlockingPoolShutdownTest, CancelsLaterCallsAtOnce) {
  pool_->Close();
  JoinHandle<int> optional = pool_->Spawn([] { return 2; });
  JoinHandle<int> mandatory = pool_->SpawnMandatory([] { return 3; });
  EXPECT_TRUE(optional.IsFinished());
  EXPECT_THAT(BlockOn(std::move(optional)), StatusIs(kCancelled));
  EXPECT_TRUE(mandatory.IsFinished());
  EXPECT_THAT(BlockOn(std::move(mandatory)), StatusIs(kCancelled));
}

TEST_F(BlockingPoolShutdownTest, WaitsForItsLimitAndLetsTheRestContinue) {
  EXPECT_FALSE(pool_->Shutdown(absl::Milliseconds(1)));
  EXPECT_FALSE(busy_->IsFinished());
}

TEST_F(BlockingPoolShutdownTest, ReturnsTrueIfTheThreadsExitInTime) {
  std::thread ending([this] { end_.Notify(); });
  EXPECT_TRUE(pool_->Shutdown(absl::Hours(1)));
  EXPECT_EQ(pool_->metrics().threads, 0u);
  EXPECT_TRUE(pool_->Shutdown(absl::ZeroDuration()));
  ending.join();
}

// P5: a limit of zero does not mean a wait forever.
TEST_F(BlockingPoolShutdownTest, DoesNotWaitAgainAfterItsLimit) {
  EXPECT_FALSE(pool_->Shutdown(absl::ZeroDuration()));
  EXPECT_FALSE(pool_->Shutdown());
  pool_.reset();
  EXPECT_FALSE(busy_->IsFinished());
}

TEST_F(BlockingPoolShutdownTest, RunsMandatoryCallsInTheBackground) {
  absl::Notification ran;
  JoinHandle<void> handle = pool_->SpawnMandatory([&ran] { ran.Notify(); });
  EXPECT_FALSE(pool_->Shutdown(absl::ZeroDuration()));
  end_.Notify();
  ran.WaitForNotification();
  EXPECT_THAT(BlockOn(std::move(handle)), IsOk());
}

TEST_F(BlockingPoolShutdownTest, TheDestructorOfACancelledCallCanSpawn) {
  class SpawnsAtTheEnd {
   public:
    SpawnsAtTheEnd(BlockingPool* pool, std::optional<JoinHandle<int>>* handle)
        : pool_(pool), handle_(handle) {}
    SpawnsAtTheEnd(SpawnsAtTheEnd&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), handle_(other.handle_) {}
    ~SpawnsAtTheEnd() {
      if (pool_ != nullptr) *handle_ = pool_->Spawn([] { return 2; });
    }
    void operator()() const {}

   private:
    BlockingPool* pool_;
    std::optional<JoinHandle<int>>* handle_;
  };
  std::optional<JoinHandle<int>> handle;
  pool_->Spawn(SpawnsAtTheEnd(pool_.get(), &handle)).Detach();
  pool_->Close();
  ASSERT_TRUE(handle.has_value());
  EXPECT_THAT(BlockOn(*std::move(handle)), StatusIs(kCancelled));
}

TEST(BlockingPool, DoesNotWaitForThreadLocalsInTheBackground) {
  // Never destroyed, because the thread is not waited for.
  static absl::Notification& begun = *new absl::Notification;
  static absl::Notification& end = *new absl::Notification;
  struct WaitsAtTheEnd {
    ~WaitsAtTheEnd() {
      begun.Notify();
      end.WaitForNotification();
    }
  };
  const BlockingPool::Owner pool =
      BlockingPool::Create({.keep_alive = absl::ZeroDuration()});
  auto call = [] { static const thread_local WaitsAtTheEnd waits; };
  EXPECT_THAT(BlockOn(pool->Spawn(call)), IsOk());
  begun.WaitForNotification();
  EXPECT_TRUE(pool->Shutdown(absl::ZeroDuration()));
  end.Notify();
}

TEST(BlockingPool, DestroyedByItsOwnCallWaitsForNoThread) {
  absl::Notification stopped;
  BlockingPool::Owner pool = BlockingPool::Create(
      {.on_thread_stop = [&stopped] { stopped.Notify(); }});
  BlockingPool* const raw = pool.get();
  JoinHandle<int> handle = raw->Spawn([pool = std::move(pool)]() mutable {
    pool.reset();
    return 7;
  });
  EXPECT_THAT(BlockOn(std::move(handle)), IsOkAndHolds(7));
  stopped.WaitForNotification();
}

// Such a call is cancelled while the pool is being closed.
TEST(BlockingPool, ACallThatOwnsThePoolCanBeCancelled) {
  class Owns {
   public:
    Owns(BlockingPool::Owner pool, absl::Notification* end)
        : pool_(std::move(pool)), end_(end) {}
    Owns(Owns&&) = default;
    ~Owns() {
      if (pool_ != nullptr) end_->Notify();  // the pool waits for this call
    }
    void operator()() const { ADD_FAILURE() << "called"; }

   private:
    BlockingPool::Owner pool_;
    absl::Notification* end_;
  };
  absl::Notification begun;
  absl::Notification end;
  BlockingPool::Owner pool = BlockingPool::Create({.max_threads = 1});
  BlockingPool* const raw = pool.get();
  raw->Spawn([&] {
       begun.Notify();
       end.WaitForNotification();
     })
      .Detach();
  begun.WaitForNotification();
  raw->Spawn(Owns(std::move(pool), &end)).Detach();
  raw->Close();
  EXPECT_TRUE(end.HasBeenNotified());
}

TEST(BlockingPool, WithoutThreadsIsDestroyedAtOnce) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  EXPECT_TRUE(pool->Shutdown(absl::ZeroDuration()));
}

TEST(BlockingPool, IdleThreadsExitWithThePool) {
  std::atomic<int> stopped = 0;
  BlockingPool::Owner pool = BlockingPool::Create({
      .keep_alive = absl::InfiniteDuration(),
      .on_thread_stop = [&stopped] { ++stopped; },
  });
  EXPECT_THAT(BlockOn(pool->Spawn([] {})), IsOk());
  while (pool->metrics().idle_threads != 1) std::this_thread::yield();
  pool.reset();
  EXPECT_EQ(stopped, 1);
}

TEST(BlockingPool, DropsTheThreadScopeWhenClosed) {
  const BlockingPool::Owner pool = BlockingPool::Create();
  auto held = std::make_shared<int>(7);
  pool->SetThreadScope([held] { return held; });
  EXPECT_THAT(BlockOn(pool->Spawn([] {})), IsOk());
  pool->Shutdown();
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace rouse::scheduler
