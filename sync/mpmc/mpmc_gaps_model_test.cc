// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pushes that end in another order than that of their positions, over several
// blocks of two slots. The positions are claimed before the threads begin.

#include <cstddef>
#include <initializer_list>

#include "rouse/sync/mpmc/positions.h"
#include "rouse/sync/mpmc/queue.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::mpmc {
namespace {

using internal::Claim;
using internal::Positions;
using internal::Refusal;
using model::Mode;
using model::Require;
using model::Thread;

// A queue with claimed positions, which have numbers from 0. The message of a
// position is its number.
class ClaimedQueue {
 public:
  explicit ClaimedQueue(int count) {
    for (int i = 0; i < count; ++i) {
      Require(queue_.TryClaimPush<false>(positions_[i]) == Refusal::kNone);
    }
  }

  void Push(std::initializer_list<int> numbers) {
    for (const int number : numbers) {
      Require(!queue_.Push(positions_[number], int{number}),
              "no receiver waits");
    }
  }
  // Takes up to `limit` messages, one after another, as long as there are
  // messages. Returns their number.
  int Pop(int limit) {
    int count = 0;
    for (; count < limit; ++count) {
      const Claim claim = queue_.TryClaimPops(1);
      if (claim.count == 0) break;
      queue_.Take(claim, [&](int&& number) { Require(number == next_++); });
    }
    return count;
  }
  // Returns whether all messages up to `count` were taken, or can be taken.
  bool HasAll(int count) {
    Pop(count);
    return next_ == count;
  }

 private:
  static constexpr int kMost = 8;

  internal::Queue<int> queue_{Positions::kUnlimited};
  size_t positions_[kMost];
  // The number of the next message. There is one receiver.
  int next_ = 0;
};

// The first push may be the last to end, and then hands on the other blocks.
MODEL_TEST(MpmcQueue, ThreePushesLeaveGapsInThreeBlocks, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  ClaimedQueue queue(6);
  queue.Push({5});
  Thread first([&] { queue.Push({0}); });
  Thread second([&] { queue.Push({1, 2}); });
  queue.Push({4, 3});
  first.Join();
  second.Join();
  Require(queue.HasAll(6));
}

// The messages before the gaps go to a receiver, whose blocks are reused.
MODEL_TEST(MpmcQueue, GapsAreFilledBesideAReceiver, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  ClaimedQueue queue(6);
  queue.Push({1, 3, 4});
  Thread first([&] { queue.Push({0}); });
  Thread second([&] { queue.Push({2, 5}); });
  queue.Pop(6);
  first.Join();
  second.Join();
  Require(queue.HasAll(6));
}

// `block_tail_` moves while the push that has filled a gap extends the prefix,
// because another push goes on first.
MODEL_TEST(MpmcQueue, TheTailMovesWhileAGapIsFilled, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  ClaimedQueue queue(6);
  queue.Push({2, 5});
  Thread first([&] { queue.Push({0}); });
  Thread second([&] { queue.Push({1, 3}); });
  first.Join();
  second.Join();
  queue.Push({4});
  Require(queue.HasAll(6));
}

// The push that leaves a gap may find that the gap was filled, although it has
// not seen the first block in `block_tail_`.
MODEL_TEST(MpmcQueue, TheFirstBlockIsFilledBesideAPush, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  ClaimedQueue queue(3);
  Thread other([&] { queue.Push({0, 1}); });
  queue.Push({2});
  other.Join();
  Require(queue.HasAll(3));
}

// Two gaps are filled at once.
MODEL_TEST(MpmcQueue, TwoGapsAreFilledAtOnce, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  ClaimedQueue queue(5);
  queue.Push({1, 3, 4});
  Thread other([&] { queue.Push({0}); });
  queue.Push({2});
  other.Join();
  Require(queue.HasAll(5));
}

}  // namespace
}  // namespace rouse::mpmc
