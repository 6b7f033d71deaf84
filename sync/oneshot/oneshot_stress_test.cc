// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Real threads that send, receive, wait, stop waiting and destroy their ends,
// in any order. Every value is received, given back or destroyed with its
// receiver.

#include <atomic>
#include <cstdint>
#include <mutex>
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
#include "rouse/sync/oneshot/oneshot.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr int kSenders = 8;
constexpr int kReceivers = 8;

struct Tally {
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> given_back{0};
  std::atomic<uint64_t> received{0};
  // Number of messages that the channel has destroyed.
  std::atomic<uint64_t> unclaimed{0};
  std::atomic<uint64_t> made{0};
};

// Counts its own destruction, unless a thread has claimed the message.
class Message {
 public:
  explicit Message(Tally* tally) : tally_(tally) { ++tally_->made; }
  Message(Message&& other) noexcept
      : tally_(std::exchange(other.tally_, nullptr)) {}
  Message& operator=(Message&& other) noexcept {
    std::swap(tally_, other.tally_);
    return *this;
  }
  ~Message() {
    if (tally_ != nullptr) ++tally_->unclaimed;
  }

  // Claims the message. Returns whether this is the first claim.
  bool Claim() { return std::exchange(tally_, nullptr) != nullptr; }

 private:
  Tally* tally_;
};

using Tx = oneshot::Sender<Message>;
using Rx = oneshot::Receiver<Message>;

// The ends that are waiting for use, by any thread.
class Pile {
 public:
  void Put(Tx tx) {
    const std::lock_guard lock(mu_);
    senders_.push_back(std::move(tx));
  }
  std::optional<Tx> Take() {
    const std::lock_guard lock(mu_);
    if (senders_.empty()) return std::nullopt;
    std::optional<Tx> tx(std::move(senders_.back()));
    senders_.pop_back();
    return tx;
  }

 private:
  std::mutex mu_;
  std::vector<Tx> senders_;
};

template <class F>
bool PollsReady(F& future) {
  const Waker waker = Waker::FromCallable([] {});
  Context cx(waker);
  return future.Poll(cx).IsReady();
}

void Send(Tx tx, FastRand& rand, Tally& tally) {
  const uint32_t fate = rand.Below(8);
  if (fate == 0) return;  // destroyed without a send
  if (fate <= 3) {
    auto closed = tx.Closed();
    for (uint32_t i = rand.Below(3); i > 0; --i) {
      if (PollsReady(closed)) break;
    }
  }
  Message message(&tally);
  if (tx.Send(std::move(message))) {
    ++tally.sent;
  } else {
    // NOLINTNEXTLINE(bugprone-use-after-move): it is what it was
    EXPECT_TRUE(message.Claim());
    ++tally.given_back;
  }
}

void Note(absl::StatusOr<Message> message, Tally& tally) {
  if (!message.ok()) return;
  EXPECT_TRUE(message->Claim());
  ++tally.received;
}

void Receive(Rx rx, FastRand& rand, Tally& tally) {
  // About half of the receivers give up, after at most two polls.
  const uint32_t fate = rand.Below(8);
  if (fate >= 4) return Note(BlockOn(rx), tally);
  for (uint32_t i = rand.Below(3); i > 0; --i) {
    const Waker waker = Waker::FromCallable([] {});
    Context cx(waker);
    PollResult<absl::StatusOr<Message>> result = rx.Poll(cx);
    if (result.IsReady()) return Note(std::move(result).value(), tally);
  }
  if (fate >= 2) return;
  rx.Close();
  Note(rx.TryReceive(), tally);
}

TEST(OneshotStress, EveryValueIsReceivedReturnedOrDestroyed) {
  Tally tally;
  Pile pile;
  std::atomic<bool> stop = false;
  std::atomic<int> receiving = kReceivers;
  const uint64_t seed = StressSeed();
  std::vector<std::thread> threads;
  for (int i = 0; i < kReceivers; ++i) {
    threads.emplace_back([&, rand = FastRand(seed + i)]() mutable {
      while (!stop.load(std::memory_order_relaxed)) {
        auto [tx, rx] = oneshot::Channel<Message>();
        pile.Put(std::move(tx));
        Receive(std::move(rx), rand, tally);
      }
      receiving.fetch_sub(1);
    });
  }
  for (int i = 0; i < kSenders; ++i) {
    threads.emplace_back([&, rand = FastRand(seed + 100 + i)]() mutable {
      for (;;) {
        // Read before `Take()`: the receiving threads wait until all senders
        // are taken.
        const bool last = receiving.load() == 0;
        if (std::optional<Tx> tx = pile.Take()) {
          Send(*std::move(tx), rand, tally);
        } else if (last) {
          return;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  absl::SleepFor(StressTime(absl::Milliseconds(300)));
  while (tally.received == 0) absl::SleepFor(absl::Milliseconds(1));
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tally.made, tally.sent + tally.given_back);
  EXPECT_EQ(tally.sent, tally.received + tally.unclaimed);
  EXPECT_GT(tally.received, 0u);
}

}  // namespace
}  // namespace rouse
