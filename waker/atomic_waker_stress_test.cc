// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// No signal is lost, whatever the threads do. The test uses the flag of the
// header's example, with two signalling threads and one waiting thread.

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr int kRounds = 20000;
constexpr int kSignallers = 2;

// Holds two flags and one waker. Ready when both flags are set.
class Flags {
 public:
  void Signal(int which) {
    // Relaxed: the cell provides the order.
    set_[which].store(true, std::memory_order_relaxed);
    waker_.Wake();
  }

  PollResult<void> Poll(Context& cx) {
    waker_.Register(cx.waker());
    for (const std::atomic<bool>& set : set_) {
      if (!set.load(std::memory_order_relaxed)) return kPending;
    }
    return {};
  }

  // Must be called while no thread signals. The cell is not reset, but
  // continues from the state in which the last round left it.
  void Clear() {
    for (std::atomic<bool>& set : set_) {
      set.store(false, std::memory_order_relaxed);
    }
  }

 private:
  AtomicWaker waker_;
  std::atomic<bool> set_[kSignallers] = {};
};

void Spin(uint32_t turns) {
  for (std::atomic<uint32_t> i = 0; i < turns; ++i) {
  }
}

class AtomicWakerStress : public ::testing::TestWithParam<bool> {};

TEST_P(AtomicWakerStress, NoSignalIsLost) {
  const bool same_task = GetParam();
  Flags flags;
  std::atomic<int> round = 0;
  std::atomic<int> finished = 0;  // signals of this round that have returned

  const auto signal = [&](int which) {
    FastRand rand(which);
    for (int r = 1; r <= kRounds; ++r) {
      while (round.load(std::memory_order_acquire) < r) {
        std::this_thread::yield();
      }
      Spin(rand.Below(64));
      flags.Signal(which);
      finished.fetch_add(1, std::memory_order_release);
    }
  };
  std::thread first(signal, 0);
  std::thread second(signal, 1);

  std::atomic<bool> woken = false;
  const auto wake = [&] { woken.store(true, std::memory_order_release); };
  Waker waker = Waker::FromCallable(wake);
  FastRand rand(2);
  int lost = 0;
  for (int r = 1; r <= kRounds; ++r) {
    flags.Clear();
    finished.store(0, std::memory_order_relaxed);
    round.store(r, std::memory_order_release);
    Spin(rand.Below(64));
    while (true) {
      // The task may change with every poll.
      if (!same_task) waker = Waker::FromCallable(wake);
      woken.store(false, std::memory_order_relaxed);
      Context cx(waker);
      if (flags.Poll(cx).IsReady()) break;
      bool all_finished = false;
      while (!woken.load(std::memory_order_acquire) && !all_finished) {
        std::this_thread::yield();
        all_finished = finished.load(std::memory_order_acquire) == kSignallers;
      }
      // The poll was pending, and no thread is left to wake the task, so the
      // task must have been woken.
      if (all_finished && !woken.load(std::memory_order_acquire)) {
        ++lost;
        break;
      }
    }
    while (finished.load(std::memory_order_acquire) < kSignallers) {
      std::this_thread::yield();
    }
  }
  first.join();
  second.join();
  EXPECT_EQ(lost, 0);
}

INSTANTIATE_TEST_SUITE_P(Tasks, AtomicWakerStress, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return std::string(info.param ? "Same" : "Changing");
                         });

// For the thread sanitizer: `Take()`s on two threads and a `Register()` on a
// third touch the cell in every order, and each waker is destroyed exactly
// once.
TEST(AtomicWakerStress, EveryWakerIsWokenOrReplacedOnce) {
  std::atomic<int> destroyed = 0;
  class Counted {
   public:
    explicit Counted(std::atomic<int>* destroyed) : destroyed_(destroyed) {}
    Counted(Counted&& other) noexcept
        : destroyed_(std::exchange(other.destroyed_, nullptr)) {}
    ~Counted() {
      if (destroyed_ != nullptr) ++*destroyed_;
    }
    void operator()() {}

   private:
    std::atomic<int>* destroyed_;
  };

  std::atomic<bool> stop = false;
  {
    AtomicWaker cell;
    const auto take = [&] {
      while (!stop.load(std::memory_order_relaxed)) cell.Take().Wake();
    };
    std::thread first(take);
    std::thread second(take);
    for (int r = 0; r < kRounds; ++r) {
      cell.Register(Waker::FromCallable(Counted(&destroyed)));
    }
    stop.store(true, std::memory_order_relaxed);
    first.join();
    second.join();
  }
  EXPECT_EQ(destroyed, kRounds);
}

}  // namespace
}  // namespace rouse
