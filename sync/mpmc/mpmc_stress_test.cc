// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Four threads send to four receiving threads, with every kind of call, and
// cancel about half of their operations. What must hold: each message that was
// sent is received by one receiver, or is destroyed with the last receiver; the
// messages of each sender arrive at each receiver in order; no place is lost;
// no thread sleeps forever. See stress_time.h for the duration.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::mpmc {
namespace {

constexpr int kSenders = 4;
constexpr int kReceivers = 4;
constexpr int kSteps = 400;

struct Totals {
  std::atomic<int64_t> live = 0;
  std::atomic<int64_t> sent = 0;
  std::atomic<int64_t> received = 0;
  // Number of receivers that have received the end.
  std::atomic<int> ended = 0;
};

class Message {
 public:
  Message(Totals& totals, int sender, int number)
      : totals_(&totals), sender_(sender), number_(number) {
    totals.live.fetch_add(1, std::memory_order_relaxed);
  }
  Message(Message&& other) noexcept
      : totals_(std::exchange(other.totals_, nullptr)),
        sender_(other.sender_),
        number_(other.number_) {}
  Message& operator=(Message&& other) noexcept {
    std::swap(totals_, other.totals_);
    std::swap(sender_, other.sender_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Message() {
    if (totals_ == nullptr) return;
    totals_->live.fetch_sub(1, std::memory_order_relaxed);
  }

  int sender() const { return sender_; }
  int number() const { return number_; }

 private:
  Totals* totals_;
  int sender_;
  int number_;
};

// Polls `future` to its end, or, half of the time, only once or twice.
template <class F>
auto MayGiveUp(F& future, FastRand& rand)
    -> std::optional<decltype(BlockOn(future))> {
  if (rand.Below(2) == 0) return BlockOn(future);
  for (uint32_t polls = 1 + rand.Below(2); polls > 0; --polls) {
    auto result = PollOnce(future, Waker::FromCallable([] {}));
    if (result.IsReady()) return std::move(result).value();
  }
  return std::nullopt;
}

class SenderThread {
 public:
  SenderThread(Totals& totals, int id, uint64_t seed)
      : totals_(totals), id_(id), rand_(seed) {}

  void Run(Sender<Message> tx) {
    for (int i = 0; i < kSteps && !tx.IsClosed(); ++i) Step(tx);
  }

  // NOLINTNEXTLINE(performance-unnecessary-value-param): goes with the call
  void Run(UnboundedSender<Message> tx) {
    for (int i = 0; i < kSteps; ++i) {
      if (!tx.Send(Next()).ok()) return;
      Sent();
    }
  }

 private:
  Message Next() { return Message(totals_, id_, number_); }
  void Sent() {
    ++number_;
    totals_.sent.fetch_add(1, std::memory_order_relaxed);
  }

  void Step(Sender<Message>& tx) {
    switch (rand_.Below(5)) {
      case 0:
        if (tx.TrySend(Next()).ok()) Sent();
        return;
      case 1: {
        const Sender<Message> copy(tx);
        tx = copy.Downgrade().Upgrade().value();
        return;
      }
      default: {
        auto send = tx.Send(Next());
        const std::optional<absl::Status> status = MayGiveUp(send, rand_);
        if (status.has_value() && status->ok()) return Sent();
        EXPECT_EQ(send.TakeValue().number(), number_);
      }
    }
  }

  Totals& totals_;
  const int id_;
  int number_ = 0;
  FastRand rand_;
};

template <class Receiver>
class ReceiverThread {
 public:
  ReceiverThread(Totals& totals, uint64_t seed)
      : totals_(totals), rand_(seed), next_(kSenders, 0) {}

  // Receives to the end; or closes the channel on the way and then receives to
  // the end; or stops early.
  void Run(Receiver rx) {
    const int close_after =
        rand_.Below(8) == 0 ? static_cast<int>(rand_.Below(500)) : -1;
    const int go_after =
        rand_.Below(3) == 0 ? static_cast<int>(rand_.Below(1000)) : -1;
    for (int i = 0; i != go_after; ++i) {
      if (i == close_after) rx.Close();
      if (!Step(rx)) {
        totals_.ended.fetch_add(1, std::memory_order_relaxed);
        return;
      }
    }
  }

 private:
  void Received(const Message& message) {
    EXPECT_GE(message.number(), next_[message.sender()]);
    next_[message.sender()] = message.number() + 1;
    totals_.received.fetch_add(1, std::memory_order_relaxed);
  }

  bool Step(Receiver& rx) {
    switch (rand_.Below(6)) {
      case 5: {
        const Receiver copy(rx);
        rx = copy;
        return true;
      }
      case 4:
        return StepStream(rx);
      case 0: {
        absl::StatusOr<Message> message = rx.TryReceive();
        if (message.ok()) Received(*message);
        return !absl::IsCancelled(message.status());
      }
      case 1: {
        std::vector<Message> messages;
        const size_t limit = 1 + rand_.Below(40);
        auto receive = rx.ReceiveMany(messages, limit);
        const std::optional<size_t> count = MayGiveUp(receive, rand_);
        for (const Message& message : messages) Received(message);
        return count != 0u;
      }
      default: {
        auto receive = rx.Receive();
        std::optional<std::optional<Message>> message =
            MayGiveUp(receive, rand_);
        if (!message.has_value()) return true;
        if (!message->has_value()) return false;
        Received(**message);
        return true;
      }
    }
  }

  // Polls the stream once. Another step takes over if the poll was pending.
  bool StepStream(Receiver& rx) {
    const Waker waker = Waker::FromCallable([] {});
    Context cx(waker);
    auto message = rx.PollNext(cx);
    if (message.IsPending()) return true;
    if (!message->has_value()) return false;
    Received(**message);
    return true;
  }

  Totals& totals_;
  FastRand rand_;
  std::vector<int> next_;
};

template <class Sender, class Receiver>
void Press(std::pair<Sender, Receiver> channel, FastRand& rand) {
  Totals totals;
  // Keeps the channel alive, so that messages are not destroyed together with
  // it.
  const auto weak = channel.first.Downgrade();
  std::vector<std::thread> threads;
  for (int i = 0; i < kSenders; ++i) {
    threads.emplace_back(
        [&totals, i, seed = rand.Next(), tx = channel.first]() mutable {
          SenderThread(totals, i, seed).Run(std::move(tx));
        });
  }
  for (int i = 0; i < kReceivers; ++i) {
    threads.emplace_back(
        [&totals, seed = rand.Next(), rx = channel.second]() mutable {
          ReceiverThread<Receiver>(totals, seed).Run(std::move(rx));
        });
  }
  {
    const auto last = std::move(channel);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(totals.live, 0);
  // The end comes after all messages.
  if (totals.ended > 0) {
    EXPECT_EQ(totals.received, totals.sent);
  } else {
    EXPECT_LE(totals.received, totals.sent);
  }
}

TEST(MpmcStress, Bounded) {
  FastRand rand(StressSeed());
  const absl::Time end = absl::Now() + StressTime(absl::Milliseconds(500), 2);
  do {
    Press(Channel<Message>(1 + rand.Below(40)), rand);
  } while (absl::Now() < end);
}

TEST(MpmcStress, Unbounded) {
  FastRand rand(StressSeed());
  const absl::Time end = absl::Now() + StressTime(absl::Milliseconds(500), 2);
  do {
    Press(UnboundedChannel<Message>(), rand);
  } while (absl::Now() < end);
}

}  // namespace
}  // namespace rouse::mpmc
