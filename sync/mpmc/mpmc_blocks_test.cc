// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the number of messages, and the blocks in which the messages are.

#include <malloc.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/internal/mpsc_values.h"
#include "rouse/testing/poll_once.h"

namespace rouse::mpmc {
namespace {

using mpsc::kMany;
using mpsc::Take;

// ---- Sizes.

TEST(MpmcBlocks, IsEmptyIsRightAtBlockBoundaries) {
  auto [tx, rx] = UnboundedChannel<int>();
  for (int i = 0; i < kMany; ++i) {
    EXPECT_TRUE(rx.IsEmpty());
    EXPECT_TRUE(tx.Send(int{i}).ok());
    EXPECT_FALSE(rx.IsEmpty());
    EXPECT_EQ(rx.size(), 1u);
    EXPECT_EQ(*Take(rx.Receive()), i);
  }
}

TEST(MpmcBlocks, TheEndDoesNotCountAsAMessage) {
  for (int sent = 0; sent < 70; ++sent) {
    for (const bool close : {false, true}) {
      auto channel = UnboundedChannel<int>();
      auto& rx = channel.second;
      for (int i = 0; i < sent; ++i) {
        EXPECT_TRUE(channel.first.Send(i + 0).ok());
      }
      if (close) {
        rx.Close();
      } else {
        const auto tx = std::move(channel.first);
      }
      EXPECT_EQ(rx.size(), static_cast<size_t>(sent));
      for (int i = 0; i < sent; ++i) EXPECT_EQ(*Take(rx.Receive()), i);
      EXPECT_EQ(rx.size(), 0u);
      EXPECT_EQ(Take(rx.Receive()), std::nullopt);
      EXPECT_EQ(Take(rx.Receive()), std::nullopt);
      EXPECT_EQ(rx.size(), 0u);
    }
  }
}

TEST(MpmcBlocks, ARefusedSendDoesNotCountAsAMessage) {
  auto [tx, rx] = UnboundedChannel<int>();
  EXPECT_TRUE(tx.Send(1).ok());
  rx.Close();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(tx.Send(2).ok());
  EXPECT_EQ(rx.size(), 1u);
  EXPECT_EQ(*Take(rx.Receive()), 1);
  EXPECT_TRUE(rx.IsEmpty());
}

// ---- Blocks.

TEST(MpmcBlocks, ReusesItsBlocksManyTimes) {
  auto [tx, rx] = UnboundedChannel<int>();
  int sent = 0;
  int received = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < round % 70; ++i) EXPECT_TRUE(tx.Send(sent++).ok());
    while (received < sent) EXPECT_EQ(*Take(rx.Receive()), received++);
    EXPECT_TRUE(PollOnce(rx.Receive()).IsPending());
  }
}

// Returns the allocator's bytes in use, or 0 under sanitizers, which have their
// own allocators.
size_t BytesInUse() { return mallinfo2().uordblks; }

struct Large {
  char bytes[1000] = {};
};

// A large message whose first move sends `count` messages, which are therefore
// in the channel before the message is.
class Overtaken {
 public:
  Overtaken() = default;
  Overtaken(const UnboundedSender<Overtaken>& tx, int count)
      : tx_(&tx), count_(count) {}
  Overtaken(Overtaken&& other) noexcept {
    for (; other.count_ > 0; --other.count_) {
      EXPECT_TRUE(other.tx_->Send(Overtaken()).ok());
    }
  }
  Overtaken& operator=(Overtaken&&) = delete;

 private:
  Large large_;
  const UnboundedSender<Overtaken>* tx_ = nullptr;
  int count_ = 0;
};

// A block of messages, and a little more.
constexpr size_t kBlock = 33 * sizeof(Large);

// Sends `count` messages, and receives all of them: the first `first` at once,
// and the rest one by one.
void Pass(UnboundedSender<Large>& tx, UnboundedReceiver<Large>& rx, int count,
          size_t first) {
  for (int i = 0; i < count; ++i) EXPECT_TRUE(tx.Send(Large()).ok());
  if (first > 0) {
    std::vector<Large> out;
    EXPECT_EQ(Take(rx.ReceiveMany(out, first)), first);
  }
  while (!rx.IsEmpty()) EXPECT_TRUE(Take(rx.Receive()).has_value());
}

// The block of the last message, and three spare blocks.
TEST(MpmcBlocks, APeakLeavesFourBlocks) {
  for (const int count : {1000, 1024}) {
    for (const size_t first : {0, 1, 40, 500, 1000}) {
      SCOPED_TRACE(testing::Message() << count << " messages, " << first);
      auto [tx, rx] = UnboundedChannel<Large>();
      const size_t before = BytesInUse();
      Pass(tx, rx, count, first);
      EXPECT_LT(BytesInUse(), before + 4 * kBlock);
    }
  }
}

// The block that was full at the end of the first peak is freed by the next
// message.
TEST(MpmcBlocks, ABlockThatWasLastIsFreedLater) {
  auto [tx, rx] = UnboundedChannel<Large>();
  const size_t before = BytesInUse();
  for (int i = 0; i < 100; ++i) {
    Pass(tx, rx, 32, 32);
    Pass(tx, rx, 1, 1);
    EXPECT_LT(BytesInUse(), before + 4 * kBlock);
  }
}

// As many blocks as a peak of sends that end one after another.
TEST(MpmcBlocks, APeakBehindASlowSendLeavesFourBlocks) {
  for (const int count : {31, 32, 300, 1000}) {
    SCOPED_TRACE(count);
    auto [tx, rx] = UnboundedChannel<Overtaken>();
    const size_t before = BytesInUse();
    EXPECT_TRUE(tx.Send(Overtaken(tx, count)).ok());
    EXPECT_EQ(rx.size(), size_t{1} + count);
    int received = 0;
    for (; rx.TryReceive().ok(); ++received) continue;
    EXPECT_EQ(received, 1 + count);
    EXPECT_LT(BytesInUse(), before + 4 * kBlock);
  }
}

// Two sends meet at the end of a block: the block is freed as soon as its
// messages and the next message were received.
TEST(MpmcBlocks, ASlowSendAtTheEndOfABlockLeavesOneBlock) {
  auto [tx, rx] = UnboundedChannel<Overtaken>();
  const size_t before = BytesInUse();
  for (int i = 0; i < 31; ++i) EXPECT_TRUE(tx.Send(Overtaken()).ok());
  EXPECT_TRUE(tx.Send(Overtaken(tx, 1)).ok());
  for (int i = 0; i < 33; ++i) EXPECT_TRUE(rx.TryReceive().ok());
  // The first block is a spare block now: no other is made.
  for (int i = 0; i < 63; ++i) EXPECT_TRUE(tx.Send(Overtaken()).ok());
  EXPECT_LT(BytesInUse(), before + 5 * kBlock / 2);
  while (!rx.IsEmpty()) EXPECT_TRUE(rx.TryReceive().ok());
}

TEST(MpmcBlocks, AClosedChannelFreesItsBlocks) {
  auto channel = UnboundedChannel<Large>();
  auto& [tx, rx] = channel;
  UnboundedReceiver<Large> other = rx;
  const size_t before = BytesInUse();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(tx.Send(Large()).ok());
  rx.Close();
  std::vector<Large> out;
  EXPECT_EQ(Take(rx.ReceiveMany(out, 999)), 999u);
  EXPECT_TRUE(Take(rx.Receive()).has_value());
  EXPECT_FALSE(Take(other.Receive()).has_value());
  out = std::vector<Large>();
  EXPECT_LT(BytesInUse(), before + 4 * kBlock);
}

}  // namespace
}  // namespace rouse::mpmc
