// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Senders and receivers on threads and in tasks. Half of the receives are
// cancelled. Every receiver keeps its own books: it has received, in the order
// of each sender, or missed, or left behind, every value that was sent while it
// was subscribed.

#include <array>
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
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/broadcast/broadcast.h"
#include "rouse/sync/broadcast/slot.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::broadcast {
namespace {

constexpr size_t kSenders = 8;
constexpr size_t kReceivers = 8;  // half of them are tasks

// A value in the ring.
struct Plain {
  Plain(uint32_t sender, uint64_t number) : sender(sender), number(number) {}
  uint32_t sender;
  uint64_t number;  // of this sender, from 1
};
static_assert(internal::kIsPlain<Plain>);

// A value in a box. Counts the live instances, and knows whether it is whole.
std::atomic<int64_t> live{0};
struct Boxed {
  Boxed(uint32_t sender, uint64_t number)
      : sender(sender), number(number), check(~number) {
    live.fetch_add(1, std::memory_order_relaxed);
  }
  Boxed(const Boxed& other)
      : sender(other.sender), number(other.number), check(other.check) {
    live.fetch_add(1, std::memory_order_relaxed);
  }
  Boxed& operator=(const Boxed&) = default;
  ~Boxed() {
    EXPECT_EQ(check, ~number) << "destroyed twice, or torn";
    check = number;
    live.fetch_sub(1, std::memory_order_relaxed);
  }
  uint32_t sender;
  uint64_t number;
  uint64_t check;
};
static_assert(!internal::kIsPlain<Boxed>);

// The values that a receiver has received and missed.
template <class T>
class Books {
 public:
  // Returns false at the end.
  bool Enter(const Received<T>& received) {
    EXPECT_FALSE(received.IsEmpty());
    if (received.IsClosed()) return false;
    missed_ += received.lagged();
    if (received.has_value()) {
      ++had_;
      uint64_t& last = last_[received->sender];
      EXPECT_GT(received->number, last) << "out of order, or twice";
      last = received->number;
    }
    return true;
  }

  uint64_t total() const { return had_ + missed_; }
  uint64_t had() const { return had_; }

 private:
  std::array<uint64_t, kSenders> last_{};
  uint64_t had_ = 0;
  uint64_t missed_ = 0;
};

// A receive that is cancelled after a certain number of pending polls.
template <class T>
class Impatient {
 public:
  Impatient(Receiver<T>& receiver, uint32_t patience)
      : receive_(receiver.Receive()), patience_(patience) {}

  PollResult<std::optional<Received<T>>> Poll(Context& cx) {
    PollResult<Received<T>> result = receive_.Poll(cx);
    if (result.IsReady()) return std::optional(std::move(result).value());
    if (--patience_ == 0) return std::optional<Received<T>>();
    // Requests the next poll.
    cx.waker().WakeByRef();
    return kPending;
  }

 private:
  ReceiveFuture<T> receive_;
  uint32_t patience_;
};

// Receives to the end. Now and then the receiver is destroyed and replaced by a
// receiver that was made from it: the values that were sent in between are not
// known.
template <class T>
Co<Books<T>> Receive(Receiver<T> receiver, uint64_t seed) {
  FastRand rand(seed);
  Books<T> books;
  for (;;) {
    if (rand.Below(2) == 0) {
      Impatient<T> receive(receiver, 1 + rand.Below(2));
      const std::optional<Received<T>> received = co_await receive;
      if (received.has_value() && !books.Enter(*received)) co_return books;
    } else {
      const Received<T> received = co_await receiver.Receive();
      if (!books.Enter(received)) co_return books;
    }
  }
}

// Subscribes, receives some values, and destroys the receiver, until no sender
// is left.
template <class T>
void SubscribeAndUnsubscribe(const WeakSender<T>& weak, uint64_t seed) {
  FastRand rand(seed);
  for (;;) {
    std::optional<Sender<T>> sender = weak.Upgrade();
    if (!sender.has_value()) return;
    Receiver<T> receiver = sender->Subscribe();
    sender.reset();
    Books<T> books;
    for (uint32_t i = rand.Below(20); i > 0; --i) {
      if (!books.Enter(receiver.BlockingReceive())) return;
    }
    if (rand.Below(2) == 0) receiver = receiver.Resubscribe();
  }
}

template <class T>
void RunStress(size_t capacity, absl::Duration time, uint64_t seed) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(2).Build();
  ASSERT_TRUE(runtime.ok()) << runtime.status();
  std::vector<Books<T>> books(kReceivers);
  std::vector<uint64_t> sent(kSenders);
  {
    std::optional<Sender<T>> tx(std::in_place, capacity);
    std::vector<std::thread> threads;
    std::vector<JoinHandle<Books<T>>> tasks;
    for (size_t i = 0; i < kReceivers; ++i) {
      Co<Books<T>> receive = Receive(tx->Subscribe(), seed + i);
      if (i < kReceivers / 2) {
        tasks.push_back(runtime->Spawn(std::move(receive)));
      } else {
        threads.emplace_back(
            [&books, i, receive = std::move(receive)]() mutable {
              books[i] = BlockOn(receive);
            });
      }
    }
    threads.emplace_back([weak = tx->Downgrade(), seed] {
      SubscribeAndUnsubscribe(weak, seed);
    });
    const absl::Time end = absl::Now() + time;
    for (size_t i = 0; i < kSenders; ++i) {
      threads.emplace_back([tx = *tx, &sent, i, end, seed] {
        FastRand rand(seed + 100 + i);
        while (absl::Now() < end) {
          for (uint32_t left = rand.Below(100); left > 0; --left) {
            const absl::StatusOr<size_t> receivers =
                tx.Send(T(static_cast<uint32_t>(i), ++sent[i]));
            EXPECT_GE(receivers.value(), kReceivers);
          }
          // Gives receivers an occasion to wait, too.
          if (rand.Below(4) == 0) std::this_thread::yield();
        }
      });
    }
    tx.reset();
    for (size_t i = 0; i < tasks.size(); ++i) {
      absl::StatusOr<Books<T>> result = BlockOn(tasks[i]);
      ASSERT_TRUE(result.ok()) << result.status();
      books[i] = *std::move(result);
    }
    for (std::thread& thread : threads) thread.join();
  }
  uint64_t all = 0;
  for (const uint64_t count : sent) all += count;
  for (const Books<T>& one : books) EXPECT_EQ(one.total(), all);
}

TEST(BroadcastStress, PlainValues) {
  RunStress<Plain>(16, StressTime(absl::Milliseconds(500), 4), StressSeed());
}

TEST(BroadcastStress, PlainValuesOneAtATime) {
  RunStress<Plain>(1, StressTime(absl::Milliseconds(500), 4), StressSeed());
}

TEST(BroadcastStress, BoxedValues) {
  RunStress<Boxed>(1024, StressTime(absl::Milliseconds(500), 4), StressSeed());
  EXPECT_EQ(live.load(), 0);
}

TEST(BroadcastStress, BoxedValuesInASmallRing) {
  RunStress<Boxed>(2, StressTime(absl::Milliseconds(500), 4), StressSeed());
  EXPECT_EQ(live.load(), 0);
}

}  // namespace
}  // namespace rouse::broadcast
