// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// All operations of a semaphore, a mutex and a read-write lock run
// concurrently, on threads and on workers of a runtime. About half of the
// operations are given up. No permit has two holders, nothing is lost, nothing
// hangs.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/lock/mutex.h"
#include "rouse/sync/lock/rw_lock.h"
#include "rouse/sync/semaphore/semaphore.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

constexpr int kActors = 8;
constexpr size_t kPermits = 6;

// Polls a future at most this many times, and then abandons it. Returns whether
// the future was ready.
template <class F>
class GiveUpAfter {
 public:
  GiveUpAfter(F& future, uint64_t polls) : future_(future), polls_(polls) {}

  PollResult<bool> Poll(Context& cx) {
    if (future_.Poll(cx).IsReady()) return true;
    if (--polls_ == 0) return false;
    cx.Yield();
    return kPending;
  }

 private:
  F& future_;
  uint64_t polls_;
};

struct Counts {
  uint64_t first = 0;
  uint64_t second = 0;
};

struct World {
  const absl::Time end;
  Semaphore semaphore{kPermits};
  std::atomic<size_t> permits_in_use{0};
  Mutex<Counts> mutex;
  std::atomic<uint64_t> locks{0};
  RwLock<Counts> rw_lock{MaxReaders(4)};
  std::atomic<uint64_t> writes{0};
  std::atomic<uint64_t> steps{0};
  std::atomic<int> broken{0};

  explicit World(absl::Duration time) : end(absl::Now() + time) {}
};

class Actor {
 public:
  Actor(World& world, uint64_t seed) : world_(world), rand_(seed) {}

  // Runs for as long as the world does.
  Co<> Run() {
    do {
      for (int i = 0; i < 64; ++i) co_await Step();
      world_.steps += 64;
    } while (absl::Now() < world_.end);
  }

 private:
  bool Chance(uint64_t of) { return rand_.Below(of) == 0; }
  void Check(bool holds) {
    if (!holds) ++world_.broken;
  }

  Co<> Step() {
    const bool gives_up = Chance(2);
    switch (rand_.Below(8)) {
      case 0:
      case 1:
        if (gives_up) {
          auto acquire = world_.semaphore.Acquire(1 + rand_.Below(kPermits));
          co_await GiveUpAfter(acquire, 1 + rand_.Below(2));
        } else {
          auto acquire = world_.semaphore.Acquire(1 + rand_.Below(kPermits));
          absl::StatusOr<Semaphore::Permit> permit = co_await acquire;
          co_await Use(*std::move(permit));
        }
        break;
      case 2:
        if (auto permit = world_.semaphore.TryAcquire(1 + rand_.Below(3))) {
          co_await Use(*std::move(permit));
        }
        break;
      case 3:
        world_.semaphore.AddPermits(world_.semaphore.ForgetPermits(2));
        break;
      case 4:
        if (gives_up) {
          auto lock = world_.mutex.Lock();
          co_await GiveUpAfter(lock, 1 + rand_.Below(2));
        } else {
          MutexGuard<Counts> guard = co_await world_.mutex.Lock();
          co_await Write(*guard, world_.locks);
        }
        break;
      case 5:
        if (gives_up) {
          auto write = world_.rw_lock.Write();
          co_await GiveUpAfter(write, 1 + rand_.Below(2));
        } else {
          RwLockWriteGuard<Counts> guard = co_await world_.rw_lock.Write();
          co_await Write(*guard, world_.writes);
          if (Chance(2)) co_await Read(std::move(guard).Downgrade());
        }
        break;
      default:
        if (gives_up) {
          auto read = world_.rw_lock.Read();
          co_await GiveUpAfter(read, 1 + rand_.Below(2));
        } else {
          RwLockReadGuard<Counts> guard = co_await world_.rw_lock.Read();
          if (auto writing = guard.TryUpgrade()) {
            co_await Write(**writing, world_.writes);
          } else {
            co_await Read(std::move(guard));
          }
        }
    }
  }

  Co<> Use(Semaphore::Permit permit) {
    const size_t n = permit.num_permits();
    Check(world_.permits_in_use.fetch_add(n) + n <= kPermits);
    if (Chance(2)) co_await Yield();
    if (Chance(4)) {
      std::optional<Semaphore::Permit> part = permit.Split(n / 2);
      world_.permits_in_use -= part->num_permits();
    }
    world_.permits_in_use -= permit.num_permits();
  }

  // Called with the lock that `counts` needs.
  Co<> Write(Counts& counts, std::atomic<uint64_t>& times) {
    Check(counts.first == counts.second);
    ++counts.first;
    if (Chance(2)) co_await Yield();
    ++counts.second;
    ++times;
  }

  Co<> Read(RwLockReadGuard<Counts> guard) {
    const uint64_t before = guard->first;
    Check(guard->second == before);
    if (Chance(2)) co_await Yield();
    Check(guard->first == before);
  }

  World& world_;
  FastRand rand_;
};

void ExpectAllIsAsItWas(World& world) {
  EXPECT_GT(world.steps.load(), 0u);
  EXPECT_EQ(world.broken.load(), 0);
  EXPECT_EQ(world.permits_in_use.load(), 0u);
  EXPECT_EQ(world.semaphore.available_permits(), kPermits);
  EXPECT_EQ(world.mutex.TryLock().value()->first, world.locks.load());
  EXPECT_EQ(world.mutex.TryLock().value()->second, world.locks.load());
  EXPECT_EQ(world.rw_lock.TryWrite().value()->first, world.writes.load());
  EXPECT_EQ(world.rw_lock.TryWrite().value()->second, world.writes.load());
}

TEST(SemaphoreStress, OnThreads) {
  const uint64_t seed = StressSeed();
  World world(StressTime(absl::Seconds(1), /*tests=*/3));
  std::vector<std::thread> threads;
  for (int i = 0; i < 2 * kActors; ++i) {
    threads.emplace_back([&world, seed, i] {
      Actor actor(world, seed * 100 + static_cast<uint64_t>(i));
      BlockOn(actor.Run());
    });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectAllIsAsItWas(world);
}

Co<> Act(World& world, uint64_t seed) {
  Actor actor(world, seed);
  co_await actor.Run();
}

TEST(SemaphoreStress, OnWorkersAndThreads) {
  const uint64_t seed = StressSeed();
  World world(StressTime(absl::Seconds(1), /*tests=*/3));
  {
    absl::StatusOr<Runtime> runtime =
        Builder::MultiThread().WorkerThreads(4).Build();
    ASSERT_TRUE(runtime.ok());
    std::vector<JoinHandle<void>> tasks;
    for (int i = 0; i < 2 * kActors; ++i) {
      tasks.push_back(
          runtime->Spawn(Act(world, seed * 100 + static_cast<uint64_t>(i))));
    }
    std::thread other([&world, seed] {
      Actor actor(world, seed);
      BlockOn(actor.Run());
    });
    for (auto& task : tasks)
      EXPECT_TRUE(runtime->BlockOn(std::move(task)).ok());
    other.join();
  }
  ExpectAllIsAsItWas(world);
}

TEST(SemaphoreStress, IsClosedDuringTheWork) {
  const uint64_t seed = StressSeed();
  FastRand rand(seed);
  const absl::Time end = absl::Now() + StressTime(absl::Seconds(1), 3);
  while (absl::Now() < end) {
    Semaphore semaphore(kPermits);
    std::atomic<size_t> in_use{0};
    std::atomic<int> broken{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kActors; ++i) {
      threads.emplace_back([&, seed = rand.Next()] {
        FastRand mine(seed);
        for (;;) {
          const size_t n = 1 + mine.Below(kPermits);
          if (mine.Below(2) == 0) {
            auto acquire = semaphore.Acquire(n);
            BlockOn(GiveUpAfter(acquire, 1 + mine.Below(2)));
            continue;
          }
          const absl::StatusOr<Semaphore::Permit> permit =
              semaphore.BlockingAcquire(n);
          if (!permit.ok()) return;
          if (in_use.fetch_add(n) + n > kPermits) ++broken;
          in_use -= n;
        }
      });
    }
    for (uint64_t i = rand.Below(200); i > 0; --i) std::this_thread::yield();
    semaphore.Close();
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(broken.load(), 0);
    ASSERT_EQ(semaphore.available_permits(), kPermits);
  }
}

}  // namespace
}  // namespace rouse
