// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Real threads that change the value, wait for changes, cancel waits, borrow,
// and are created and destroyed. The value is two numbers that always agree,
// and receivers never see an older value after a newer value.

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/watch/watch.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr int kSenders = 8;
constexpr int kReceivers = 8;

struct Value {
  uint64_t count = 0;
  uint64_t negated = ~uint64_t{0};
  // Number of changes by each sender.
  std::array<uint64_t, kSenders> by{};
};

using Tx = watch::Sender<Value>;
using Rx = watch::Receiver<Value>;

void Change(const Tx& tx, int sender) {
  tx.SendModify([sender](Value& v) {
    ++v.count;
    v.negated = ~v.count;
    ++v.by[sender];
  });
}

// Checks the value, and returns its count.
uint64_t Check(const Value& value, uint64_t before) {
  EXPECT_EQ(value.negated, ~value.count);
  EXPECT_GE(value.count, before);
  return value.count;
}

template <class F>
void PollAndCancel(F future, FastRand& rand) {
  const Waker waker = Waker::FromCallable([] {});
  for (uint32_t i = rand.Below(2); i < 2; ++i) {
    Context cx(waker);
    if (future.Poll(cx).IsReady()) return;
  }
}

// Watches until all senders are destroyed. Returns the last count that was
// seen.
uint64_t Watch(Rx rx, FastRand& rand) {
  uint64_t seen = 0;
  for (;;) {
    switch (rand.Below(6)) {
      case 0:
      case 1:
        PollAndCancel(rx.Changed(), rand);
        break;
      case 2: {
        auto later = [seen](const Value& v) { return v.count > seen + 3; };
        PollAndCancel(rx.WaitFor(later), rand);
        break;
      }
      case 3: {
        auto later = [seen](const Value& v) { return v.count > seen; };
        auto future = rx.WaitFor(later);
        const absl::StatusOr<watch::Ref<Value>> ref = BlockOn(future);
        if (ref.ok()) seen = Check(**ref, seen);
        break;
      }
      case 4: {
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
        const Rx copy = rx;
        seen = Check(*copy.Borrow(), seen);
        break;
      }
      default:
        if (!BlockOn(rx.Changed()).ok()) return Check(*rx.Borrow(), seen);
        seen = Check(*rx.BorrowAndUpdate(), seen);
    }
  }
}

TEST(WatchStress, EveryReceiverSeesTheLastValue) {
  auto [tx, rx] = watch::Channel<Value>(Value());
  std::atomic<bool> stop = false;
  std::array<uint64_t, kSenders> changes{};
  std::array<uint64_t, kReceivers> last{};
  const uint64_t seed = StressSeed();
  std::vector<std::thread> threads;
  for (int i = 0; i < kReceivers; ++i) {
    threads.emplace_back(
        [&last, i, rx = Rx(rx), rand = FastRand(seed + i)]() mutable {
          last[i] = Watch(std::move(rx), rand);
        });
  }
  for (int i = 0; i < kSenders; ++i) {
    threads.emplace_back([&changes, &stop, i, mine = Tx(tx),
                          rand = FastRand(seed + 100 + i)]() mutable {
      const Tx sender = std::move(mine);
      do {
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
        const Tx copy = sender;
        Change(rand.Below(2) == 0 ? copy : sender, i);
        ++changes[i];
        if (rand.Below(4) == 0) PollAndCancel(sender.Closed(), rand);
        if (rand.Below(4) == 0) Check(*sender.Borrow(), 0);
        if (rand.Below(8) == 0) std::this_thread::yield();
      } while (!stop.load(std::memory_order_relaxed));
    });
  }
  {
    const Tx going = std::move(tx);
  }
  absl::SleepFor(StressTime(absl::Milliseconds(300)));
  stop.store(true);
  for (std::thread& thread : threads) thread.join();

  uint64_t sum = 0;
  const watch::Ref<Value> value = rx.Borrow();
  for (int i = 0; i < kSenders; ++i) {
    EXPECT_EQ(value->by[i], changes[i]);
    sum += changes[i];
  }
  EXPECT_EQ(value->count, sum);
  for (const uint64_t seen : last) EXPECT_EQ(seen, sum);
}

// Senders that are destroyed while there are receivers, and receivers that are
// destroyed while senders wait for their end.
TEST(WatchStress, EndsAreMadeAndDestroyed) {
  const uint64_t seed = StressSeed();
  FastRand rand(seed);
  const absl::Time end = absl::Now() + StressTime(absl::Milliseconds(200), 2);
  do {
    auto [tx, rx] = watch::Channel<uint64_t>(0);
    std::vector<std::thread> threads;
    for (uint64_t i = 1; i <= 2; ++i) {
      threads.emplace_back([i, mine = watch::Sender<uint64_t>(tx)]() mutable {
        const auto sender = std::move(mine);
        sender.Send(i);
        BlockOn(sender.Closed());
      });
      threads.emplace_back([mine = watch::Receiver<uint64_t>(rx),
                            some = 1 + rand.Below(2)]() mutable {
        auto receiver = std::move(mine);
        for (uint32_t k = 0; k < some; ++k) {
          if (BlockOn(receiver.Changed()).ok()) receiver.MarkChanged();
        }
      });
    }
    {
      const auto going = std::move(rx);
    }
    BlockOn(tx.Closed());
    for (std::thread& thread : threads) thread.join();
  } while (absl::Now() < end);
}

}  // namespace
}  // namespace rouse
