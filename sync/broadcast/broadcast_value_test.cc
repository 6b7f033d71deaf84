// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The life of a value: which receiver gets the value, which receivers get
// copies, and when the value is destroyed.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/sync/broadcast/broadcast.h"
#include "rouse/sync/broadcast/slot.h"
#include "rouse/testing/internal/broadcast_values.h"
#include "rouse/testing/internal/counted.h"
#include "rouse/testing/poll_once.h"

namespace rouse::broadcast {
namespace {

using ::testing::ElementsAre;

TEST(BroadcastValue, AValueNeedsNoDefaultConstructor) {
  class Number {
   public:
    explicit Number(int value) : value_(value) {}
    int value() const { return value_; }

   private:
    int value_;
  };
  auto [tx, rx] = Channel<Number>(2);
  ASSERT_TRUE(tx.Send(Number(3)).ok());
  EXPECT_EQ(rx.TryReceive()->value(), 3);
}

TEST(BroadcastValue, AnOverAlignedValueIsAligned) {
  struct alignas(64) Line {
    std::array<uint64_t, 8> words;
  };
  auto [tx, rx] = Channel<Line>(2);
  ASSERT_TRUE(tx.Send(Line{{7}}).ok());
  EXPECT_EQ(rx.TryReceive()->words[0], 7);
}

// The value is moved before the lock is taken, and then the last receiver is
// destroyed. In this test the move itself destroys the receiver.
TEST(BroadcastValue, AValueIsReturnedIfItsMoveDestroysTheLastReceiver) {
  class Value {
   public:
    Value(std::optional<Receiver<Value>>* rx, int value)
        : rx_(rx), value_(value) {}
    Value(const Value&) = default;
    Value(Value&& other) noexcept
        : rx_(other.rx_), value_(std::exchange(other.value_, 0)) {
      if (rx_ != nullptr) rx_->reset();
    }
    Value& operator=(const Value&) = default;
    Value& operator=(Value&& other) noexcept {
      value_ = std::exchange(other.value_, 0);
      return *this;
    }
    ~Value() = default;
    int value() const { return value_; }

   private:
    std::optional<Receiver<Value>>* rx_;
    int value_;
  };
  std::optional<Receiver<Value>> rx;
  const Sender<Value> tx(4);
  rx.emplace(tx.Subscribe());
  Value value(&rx, 5);
  EXPECT_EQ(tx.Send(std::move(value)).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(value.value(), 5);  // NOLINT(bugprone-use-after-move)
}

TEST(BroadcastValue, AnUnassignableValueIsCopied) {
  struct Constant {
    const std::string text;
  };
  auto [tx, rx] = Channel<Constant>(4);
  Constant value{"text"};
  ASSERT_TRUE(tx.Send(std::move(value)).ok());
  EXPECT_EQ(value.text, "text");  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(rx.TryReceive()->text, "text");
}

TEST(BroadcastValue, AnUnassignablePlainValueIsSent) {
  struct Constant {
    const int number;
  };
  static_assert(internal::kIsPlain<Constant>);
  auto [tx, rx] = Channel<Constant>(4);
  for (int i = 1; i <= 4; ++i) ASSERT_TRUE(tx.Send(Constant{i}).ok());
  EXPECT_EQ(rx.TryReceive()->number, 1);
  EXPECT_EQ(PollOnce(rx.Receive()).value()->number, 2);
  EXPECT_EQ(rx.BlockingReceive()->number, 3);
  EXPECT_EQ(rx.TryReceive()->number, 4);
  ReceiveFuture<Constant> receive = rx.Receive();
  ASSERT_TRUE(PollOnce(receive).IsPending());
  ASSERT_TRUE(tx.Send(Constant{5}).ok());
  EXPECT_EQ(PollOnce(receive).value()->number, 5);
}

#ifdef ABSL_HAVE_EXCEPTIONS

// Only the receiver whose copy throws has lost the value.
TEST(BroadcastValue, AThrowingCopyLosesTheValueForItsReceiverOnly) {
  class Bad {
   public:
    explicit Bad(bool* throws) : throws_(throws) {}
    Bad(const Bad& other) : throws_(other.throws_) {
      if (*throws_) throw std::runtime_error("bad");
    }
    Bad& operator=(const Bad&) = delete;
    ~Bad() = default;

   private:
    bool* throws_;
  };
  bool throws = false;
  auto [tx, rx1] = Channel<Bad>(2);
  Receiver<Bad> rx2 = tx.Subscribe();
  ASSERT_TRUE(tx.Send(Bad(&throws)).ok());
  throws = true;
  EXPECT_THROW(static_cast<void>(rx1.TryReceive()), std::runtime_error);
  throws = false;
  EXPECT_TRUE(rx1.TryReceive().IsEmpty());
  EXPECT_TRUE(rx2.TryReceive().has_value());
  EXPECT_TRUE(tx.IsEmpty());
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(BroadcastValue, TheLastReceiverGetsTheValueWithoutACopy) {
  Counts counts;
  auto [tx, rx1] = Channel<CopyableCounted>(2);
  Receiver<CopyableCounted> rx2 = tx.Subscribe();
  ASSERT_TRUE(tx.Send(CopyableCounted(counts, 1)).ok());
  EXPECT_EQ(counts.live, 1);
  EXPECT_EQ(rx1.TryReceive()->value(), 1);
  EXPECT_EQ(counts.copies, 1);
  EXPECT_EQ(counts.live, 1);
  EXPECT_EQ(rx2.TryReceive()->value(), 1);
  EXPECT_EQ(counts.copies, 1);
  EXPECT_EQ(counts.live, 0);
}

TEST(BroadcastValue, AnOverwrittenValueIsDestroyed) {
  Counts counts;
  auto [tx, rx] = Channel<CopyableCounted>(2);
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(tx.Send(CopyableCounted(counts, i)).ok());
  EXPECT_EQ(counts.live, 2);
  EXPECT_EQ(rx.TryReceive().lagged(), 3);
  EXPECT_EQ(rx.TryReceive()->value(), 3);
  EXPECT_EQ(counts.live, 1);
}

TEST(BroadcastValue, AnOverwrittenValueIsNotDestroyedUnderTheLock) {
  struct Uses {
    explicit Uses(const Sender<std::shared_ptr<Uses>>& tx) : tx(tx) {}
    Uses(const Uses&) = delete;
    Uses& operator=(const Uses&) = delete;
    ~Uses() { size_then = tx.receiver_count() + tx.size(); }
    const Sender<std::shared_ptr<Uses>>& tx;
    size_t size_then = 0;
  };
  auto [tx, rx] = Channel<std::shared_ptr<Uses>>(1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(tx.Send(std::make_shared<Uses>(tx)).ok());
  }
  EXPECT_EQ(rx.size(), 3);
  EXPECT_EQ(rx.TryReceive().lagged(), 2);
  EXPECT_TRUE(rx.TryReceive().has_value());
}

TEST(BroadcastValue, ADestroyedReceiverGivesUpItsShares) {
  Counts counts;
  auto [tx, rx1] = Channel<CopyableCounted>(4);
  std::optional<Receiver<CopyableCounted>> rx2(tx.Subscribe());
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(tx.Send(CopyableCounted(counts, i)).ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rx1.TryReceive()->value(), i);
  EXPECT_EQ(counts.live, 3);
  rx2.reset();
  EXPECT_EQ(counts.live, 0);
}

// Tokio #3434: a receiver that has lagged is destroyed.
TEST(BroadcastValue, AReceiverThatHasLaggedCanBeDestroyed) {
  Counts counts;
  auto [tx, rx1] = Channel<CopyableCounted>(2);
  std::optional<Receiver<CopyableCounted>> rx2(tx.Subscribe());
  for (int i = 0; i < 9; ++i)
    ASSERT_TRUE(tx.Send(CopyableCounted(counts, i)).ok());
  rx2.reset();
  EXPECT_EQ(counts.live, 2);
  EXPECT_EQ(rx1.TryReceive().lagged(), 7);
  EXPECT_EQ(rx1.TryReceive()->value(), 7);
  EXPECT_EQ(rx1.TryReceive()->value(), 8);
  EXPECT_EQ(counts.live, 0);
}

TEST(BroadcastValue, BothEndsTogetherDestroyEveryValue) {
  Counts counts;
  {
    auto [tx, rx] = Channel<CopyableCounted>(4);
    for (int i = 0; i < 6; ++i)
      ASSERT_TRUE(tx.Send(CopyableCounted(counts, i)).ok());
  }
  EXPECT_EQ(counts.live, 0);
}

TEST(BroadcastValue, AssignmentDestroysTheOldReceiver) {
  auto [tx1, rx] = Channel<int>(2);
  auto [tx2, other] = Channel<int>(2);
  rx = std::move(other);
  EXPECT_EQ(tx1.receiver_count(), 0);
  ASSERT_TRUE(tx2.Send(2).ok());
  EXPECT_THAT(Drain(rx), ElementsAre(2));
  tx1 = tx2;
  EXPECT_EQ(tx2.sender_count(), 2);
}

// Trap C11 (#7232, RUSTSEC-2025-0023): several threads copy values at once;
// only the last thread has exclusive access.
TEST(BroadcastValue, ManyReceiversCopyAndOnlyTheLastMoves) {
  class Value {
   public:
    explicit Value(std::atomic<int>* users) : users_(users) {}
    Value(const Value& other) : users_(other.users_) {
      EXPECT_GE(users_->fetch_add(1), 0);
      users_->fetch_sub(1);
    }
    Value(Value&& other) noexcept
        : users_(std::exchange(other.users_, nullptr)) {
      // No thread copies a value that is moved.
      EXPECT_NE(users_, nullptr);
    }
    ~Value() = default;

   private:
    std::atomic<int>* users_;
  };
  constexpr int kReceivers = 4;
  constexpr int kValues = 2000;
  std::atomic<int> users{0};
  std::vector<std::thread> threads;
  {
    const Sender<Value> tx(16);
    for (int i = 0; i < kReceivers; ++i) {
      threads.emplace_back([rx = tx.Subscribe()]() mutable {
        while (!rx.BlockingReceive().IsClosed()) {
        }
      });
    }
    for (int i = 0; i < kValues; ++i) {
      const Value value(&users);
      ASSERT_EQ(tx.Send(value).value(), kReceivers);
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rouse::broadcast
