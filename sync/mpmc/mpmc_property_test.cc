// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Random calls of a channel and of its handles on one thread, compared with a
// reference of two queues: a `std::deque` of the messages, and lists of the
// waiting futures in the order of their first polls.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/poll_once.h"

namespace rouse::mpmc {
namespace {

using Box = std::unique_ptr<int>;

// A bounded channel, and what must be in it.
class Pair {
 public:
  Pair(size_t capacity, uint64_t seed) : rand_(seed), capacity_(capacity) {
    auto [tx, rx] = Channel<Box>(capacity);
    senders_.push_back(std::move(tx));
    receivers_.push_back(std::move(rx));
  }
  ~Pair() {
    receives_.clear();
    sends_.clear();
  }

  void Step() {
    switch (rand_.Below(14)) {
      case 0:
      case 1:
      case 2:
        return StartSend();
      case 3:
        return TrySend();
      case 4:
      case 5:
        return StartReceive();
      case 6:
        return TryReceive();
      case 7:
        return ReceiveMany();
      case 8:
      case 9:
        return PollSends();
      case 10:
        return PollReceives();
      case 11:
        return CancelSend();
      case 12:
        return CancelReceive();
      default:
        return ChangeHandles();
    }
  }

  void Check() {
    EXPECT_EQ(receiver().size(), messages_.size());
    if (!closed_) {
      EXPECT_EQ(sender().capacity(), free_places());
    }
    EXPECT_EQ(receiver().IsClosed(), closed_);
  }

  void Close() {
    receiver().Close();
    closed_ = true;
    for (auto& send : sends_) send.has_place = false;
    Check();
  }

  // Receives everything that is left.
  void Drain() {
    receives_.clear();
    while (!messages_.empty()) {
      absl::StatusOr<Box> message = receiver().TryReceive();
      ASSERT_TRUE(message.ok());
      EXPECT_EQ(**message, messages_.front());
      messages_.pop_front();
    }
    EXPECT_TRUE(absl::IsCancelled(receiver().TryReceive().status()));
    PollSends();
    EXPECT_TRUE(sends_.empty());
  }

  int waits() const { return waits_; }
  int passed_on() const { return passed_on_; }

 private:
  struct Sending {
    std::unique_ptr<SendFuture<Box>> future;
    int value;
    bool has_place = false;
  };
  struct Receiving {
    std::unique_ptr<internal::ReceiveFuture<Box, internal::Bounded>> future;
    bool has_message = false;
  };

  Sender<Box>& sender() { return senders_[rand_.Below(senders_.size())]; }
  Receiver<Box>& receiver() {
    return receivers_[rand_.Below(receivers_.size())];
  }

  // The places that are neither taken by messages nor given to sends.
  size_t free_places() const {
    return capacity_ - messages_.size() -
           std::count_if(sends_.begin(), sends_.end(),
                         [](const Sending& send) { return send.has_place; });
  }
  size_t free_messages() const {
    return messages_.size() - std::count_if(receives_.begin(), receives_.end(),
                                            [](const Receiving& receive) {
                                              return receive.has_message;
                                            });
  }

  // Gives free places and messages to the futures that wait for them.
  void Settle() {
    for (Sending& send : sends_) {
      if (!closed_ && free_places() > 0) send.has_place = true;
    }
    for (Receiving& receive : receives_) {
      if (free_messages() > 0) receive.has_message = true;
    }
  }

  void StartSend() {
    const int value = next_++;
    auto future = std::make_unique<SendFuture<Box>>(
        sender().Send(std::make_unique<int>(value)));
    const bool has_room = free_places() > 0;
    auto result = PollOnce(*future);
    if (closed_) {
      EXPECT_TRUE(absl::IsCancelled(*result));
      EXPECT_EQ(*future->TakeValue(), value);
    } else if (has_room) {
      EXPECT_TRUE(result.IsReady() && result->ok());
      messages_.push_back(value);
    } else {
      EXPECT_TRUE(result.IsPending());
      ++waits_;
      sends_.push_back({std::move(future), value});
    }
    Settle();
  }

  void TrySend() {
    const int value = next_++;
    auto box = std::make_unique<int>(value);
    const absl::Status status = sender().TrySend(std::move(box));
    if (closed_) {
      EXPECT_TRUE(absl::IsCancelled(status));
    } else if (free_places() > 0) {
      EXPECT_TRUE(status.ok());
      messages_.push_back(value);
    } else {
      EXPECT_TRUE(absl::IsResourceExhausted(status));
    }
    EXPECT_EQ(box == nullptr, status.ok());  // NOLINT(bugprone-use-after-move)
    Settle();
  }

  void Received(const Box& box) {
    ASSERT_FALSE(messages_.empty());
    EXPECT_EQ(*box, messages_.front());
    messages_.pop_front();
  }

  void StartReceive() {
    auto future =
        std::make_unique<internal::ReceiveFuture<Box, internal::Bounded>>(
            receiver().Receive());
    const bool has_message = free_messages() > 0;
    auto result = PollOnce(*future);
    EXPECT_EQ(result.IsReady(), has_message);
    if (result.IsReady()) {
      Received(**result);
    } else {
      ++waits_;
      receives_.push_back({std::move(future)});
    }
    Settle();
  }

  void TryReceive() {
    absl::StatusOr<Box> message = receiver().TryReceive();
    EXPECT_EQ(message.ok(), free_messages() > 0);
    if (message.ok()) Received(*message);
    Settle();
  }

  void ReceiveMany() {
    const size_t limit = 1 + rand_.Below(5);
    std::vector<Box> out;
    auto future = receiver().ReceiveMany(out, limit);
    auto result = PollOnce(future);
    const size_t count = std::min(limit, free_messages());
    EXPECT_EQ(result.IsReady(), count > 0);
    if (result.IsReady()) {
      EXPECT_EQ(*result, count);
    }
    EXPECT_EQ(out.size(), count);
    for (const Box& box : out) Received(box);
    Settle();
  }

  void PollSends() {
    for (auto send = sends_.begin(); send != sends_.end();) {
      auto result = PollOnce(*send->future);
      EXPECT_EQ(result.IsReady(), closed_ || send->has_place);
      if (result.IsPending()) {
        ++send;
        continue;
      }
      EXPECT_EQ(result->ok(), !closed_);
      if (result->ok()) {
        messages_.push_back(send->value);
      } else {
        EXPECT_EQ(*send->future->TakeValue(), send->value);
      }
      send = sends_.erase(send);
      Settle();
    }
  }

  void PollReceives() {
    for (auto receive = receives_.begin(); receive != receives_.end();) {
      auto result = PollOnce(*receive->future);
      EXPECT_EQ(result.IsReady(), receive->has_message);
      if (result.IsPending()) {
        ++receive;
        continue;
      }
      Received(**result);
      receive = receives_.erase(receive);
      Settle();
    }
  }

  template <class List>
  auto Any(List& list) {
    return std::next(list.begin(), rand_.Below(list.size()));
  }

  void CancelSend() {
    if (sends_.empty()) return;
    const auto send = Any(sends_);
    passed_on_ += send->has_place;
    sends_.erase(send);
    Settle();
  }

  void CancelReceive() {
    if (receives_.empty()) return;
    const auto receive = Any(receives_);
    passed_on_ += receive->has_message;
    receives_.erase(receive);
    Settle();
  }

  void ChangeHandles() {
    if (rand_.Below(2) == 0) {
      senders_.push_back(sender());
      receivers_.push_back(receiver());
    } else if (senders_.size() > 1) {
      senders_.erase(senders_.begin() + rand_.Below(senders_.size()));
      receivers_.erase(receivers_.begin() + rand_.Below(receivers_.size()));
    }
    EXPECT_EQ(sender().strong_count(), senders_.size());
    EXPECT_EQ(sender().receiver_count(), receivers_.size());
  }

  FastRand rand_;
  const size_t capacity_;
  std::vector<Sender<Box>> senders_;
  std::vector<Receiver<Box>> receivers_;
  std::list<Sending> sends_;
  std::list<Receiving> receives_;
  std::deque<int> messages_;
  bool closed_ = false;
  int next_ = 0;
  int waits_ = 0;
  int passed_on_ = 0;
};

TEST(MpmcProperty, BehavesLikeADeque) {
  int waits = 0;
  int passed_on = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Pair pair(1 + seed % 7 * 13, seed);
    for (int step = 0; step < 1'000; ++step) {
      pair.Step();
      pair.Check();
      if (::testing::Test::HasFailure()) return;
    }
    pair.Close();
    pair.Drain();
    waits += pair.waits();
    passed_on += pair.passed_on();
  }
  EXPECT_GT(waits, 1'000);
  EXPECT_GT(passed_on, 100);
}

}  // namespace
}  // namespace rouse::mpmc
