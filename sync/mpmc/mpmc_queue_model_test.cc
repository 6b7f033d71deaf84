// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Concurrent pushes and takes of a channel's queue. Blocks have two slots here,
// so that three messages need more than one block. The slots are plain data:
// taking a message too early, twice, or from a block that was reused too early
// is a race.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/sync/mpmc/queue.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::mpmc {
namespace {

using model::Mode;
using model::Require;
using model::Thread;

// A queue with the permits of its messages, in a single word.
template <size_t kSlots>
class PermitsOfBlocks {
 public:
  using IntQueue = internal::Queue<int, kSlots>;

  // Pushes `count` messages.
  void Push(int count) {
    for (int i = 0; i < count; ++i) Add(queue_.Push(int{i}));
  }
  // Takes up to `limit` messages, as long as there are permits. Returns their
  // number. Must not find the end.
  int Pop(int limit) {
    int count = 0;
    for (; count < limit && TryTake(1); ++count) {
      const size_t position = queue_.Claim(1);
      Require(queue_.CountBeforeEnd(position, 1) == 1);
      queue_.Take(position, 1, [this](int&& value) { last_place_ = &value; });
    }
    return count;
  }
  // Returns where the last message was that `Pop()` has taken.
  const int* last_place() const { return last_place_; }
  // Takes `n` messages at once, if there are permits. Returns whether it did.
  bool PopMany(int n) {
    if (!TryTake(n)) return false;
    queue_.Take(queue_.Claim(n), n, [](int&&) {});
    return true;
  }
  // Takes all messages when all pushes and takes have ended. Returns their
  // number.
  int PopAll() { return Pop(100); }

  void Add(size_t permits) {
    if (permits >= internal::kEndPermits) {
      Require(!std::exchange(has_ended_, true), "the end is reported once");
    }
    // Release pairs with the acquire of TryTake, as in a semaphore.
    if (permits != 0) {
      permits_.fetch_add(static_cast<int64_t>(permits),
                         std::memory_order_release);
    }
  }
  bool TryTake(int n) {
    int64_t permits = n;
    while (!permits_.compare_exchange_strong(permits, permits - n,
                                             std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
      if (permits < n) return false;
    }
    return true;
  }

  IntQueue& queue() { return queue_; }

 private:
  model::Atomic<int64_t> permits_{0};
  // Not data: models must not see a step.
  bool has_ended_ = false;
  const int* last_place_ = nullptr;
  IntQueue queue_;
};
using Permits = PermitsOfBlocks<internal::kBlockSlots>;

// Two pushes meet at the end of a block. One of them counts both.
MODEL_TEST(MpmcQueue, TwoPushesCrossABlockBoundary, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  queue.Push(1);
  Thread first([&] { queue.Push(2); });
  Thread second([&] { queue.Push(2); });
  first.Join();
  second.Join();
  Require(queue.PopAll() == 5);
}

// The first push to the second block may find no block at all.
MODEL_TEST(MpmcQueue, ThreePushesMakeTheFirstBlocks, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  Permits queue;
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(1); });
  queue.Push(1);
  first.Join();
  second.Join();
  Require(queue.PopAll() == 3);
}

// The later of two pushes may be ready first: it must not be received before
// the earlier one is.
MODEL_TEST(MpmcQueue, TwoPushesAndAReceiver, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Permits queue;
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(1); });
  const int popped = queue.Pop(2);
  first.Join();
  second.Join();
  Require(popped + queue.PopAll() == 2);
}

MODEL_TEST(MpmcQueue, APushAndTwoReceivers, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Permits queue;
  int other = 0;
  Thread first([&] { queue.Push(2); });
  Thread second([&] { other = queue.Pop(2); });
  const int popped = queue.Pop(2);
  first.Join();
  second.Join();
  Require(popped + other + queue.PopAll() == 2);
}

MODEL_TEST(MpmcQueue, TwoPushesAndTwoReceivers, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  Permits queue;
  int there = 0;
  Thread first([&] { queue.Push(2); });
  Thread second([&] { queue.Push(1); });
  Thread third([&] { there = queue.Pop(2); });
  const int here = queue.Pop(2);
  first.Join();
  second.Join();
  third.Join();
  Require(here + there + queue.PopAll() == 3);
}

// Two receivers take the messages of two blocks, and free one.
MODEL_TEST(MpmcQueue, TwoReceiversFinishABlock, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  queue.Push(5);
  Thread other([&] { Require(queue.Pop(2) == 2); });
  Require(queue.Pop(2) == 2);
  other.Join();
  Require(queue.PopAll() == 1);
}

MODEL_TEST(MpmcQueue, TwoReceiversTakeSeveralAtOnce, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  queue.Push(7);
  Thread other([&] { Require(queue.PopMany(3)); });
  Require(queue.PopMany(3));
  other.Join();
  Require(queue.PopAll() == 1);
}

// Blocks are reused while a push searches for its place.
MODEL_TEST(MpmcQueue, BlocksAreReusedDuringAPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  queue.Push(5);
  Require(queue.Pop(3) == 3);
  Thread other([&] { queue.Push(2); });
  const int popped = queue.Pop(3);
  other.Join();
  Require(popped + queue.PopAll() == 4);
}

MODEL_TEST(MpmcQueue, BlocksAreReusedDuringTwoPushes, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  Permits queue;
  queue.Push(3);
  Require(queue.Pop(1) == 1);
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(1); });
  const int popped = queue.Pop(3);
  first.Join();
  second.Join();
  Require(popped + queue.PopAll() == 4);
}

// Blocks are reused while a receiver searches for its message.
MODEL_TEST(MpmcQueue, BlocksAreReusedDuringATake, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  queue.Push(6);
  Require(queue.Pop(1) == 1);
  Thread other([&] { Require(queue.Pop(1) == 1); });
  Require(queue.Pop(3) == 3);
  queue.Push(1);
  other.Join();
  Require(queue.PopAll() == 2);
}

// Two receivers take the last messages of two blocks.
MODEL_TEST(MpmcQueue, TwoReceiversFinishTwoBlocks, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  queue.Push(5);
  Require(queue.Pop(1) == 1);
  Thread other([&] { Require(queue.Pop(1) == 1); });
  Require(queue.Pop(2) == 2);
  queue.Push(2);
  other.Join();
  Require(queue.PopAll() == 3);
}

// A reused block and a new block compete for the same place.
MODEL_TEST(MpmcQueue, AReusedBlockCompetesWithANewOne, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  queue.Push(6);
  Thread other([&] { queue.Push(1); });
  const int popped = queue.Pop(5);
  other.Join();
  queue.Push(4);
  Require(popped + queue.PopAll() == 11);
}

// A search that begins late does not begin at a block that was reused.
MODEL_TEST(MpmcQueue, APushBesideReusedBlocks, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  Thread other([&] { queue.Push(1); });
  queue.Push(5);
  const int popped = queue.Pop(4);
  other.Join();
  Require(popped + queue.PopAll() == 6);
}

MODEL_TEST(MpmcQueue, ATakeBesideReusedBlocks, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Permits queue;
  queue.Push(6);
  Thread other([&] { Require(queue.Pop(1) == 1); });
  Require(queue.PopMany(4));
  other.Join();
  Require(queue.PopAll() == 1);
}

// The push that opens the next block, and a push into that block, hand on each
// other's messages.
MODEL_TEST(MpmcQueue, TwoPushesAcrossABlockAndAReceiver, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Permits queue;
  queue.Push(1);
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(1); });
  second.Join();
  const int popped = queue.Pop(3);
  first.Join();
  Require(popped + queue.PopAll() == 3);
}

// A push fills a gap, behind which a whole block is ready and released.
MODEL_TEST(MpmcQueue, APushOpensABlockThatIsReleased, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Permits queue;
  queue.Push(1);
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(3); });
  first.Join();
  second.Join();
  Require(queue.PopAll() == 5);
}

// The push that reports the end shows where the end is.
MODEL_TEST(MpmcQueue, APushReportsTheEnd, .spurious_failures = 0) {
  Permits queue;
  Thread closing([&] { queue.Add(queue.queue().Close()); });
  const size_t ready = queue.queue().Push(0);
  if (ready != internal::kRefused && ready >= internal::kEndPermits) {
    const size_t position = queue.queue().Claim(2);
    Require(queue.queue().CountBeforeEnd(position, 2) == 1);
    queue.queue().Take(position, 1, [](int&&) {});
  } else if (ready != internal::kRefused) {
    queue.queue().Take(queue.queue().Claim(1), 1, [](int&&) {});
  }
}

// The close that reports the end shows the messages before the end.
void CloseReportsTheEnd(int before) {
  Permits queue;
  queue.Push(before);
  Thread pushing([&] { static_cast<void>(queue.queue().Push(0)); });
  if (queue.queue().Close() == internal::kEndPermits) {
    const size_t position = queue.queue().Claim(before + 1);
    const size_t count = queue.queue().CountBeforeEnd(position, before + 1);
    if (count > 0) queue.queue().Take(position, count, [](int&&) {});
  }
}

MODEL_TEST(MpmcQueue, ACloseReportsTheEnd, .spurious_failures = 0) {
  CloseReportsTheEnd(0);
}
// The push appends the next block.
MODEL_TEST(MpmcQueue, ACloseReportsTheEndBehindABlock, .spurious_failures = 0) {
  CloseReportsTheEnd(1);
}

MODEL_TEST(MpmcQueue, ARefusedPushSeesWhatCameBeforeTheClose,
           .spurious_failures = 0) {
  Permits queue;
  model::Cell<int> done(0);
  Thread closing([&] {
    done.Write() = 1;
    queue.Add(queue.queue().Close());
  });
  if (queue.queue().Push(0) == internal::kRefused) Require(done.Read() == 1);
}

// A queue that always has a message never seems empty.
MODEL_TEST(MpmcQueue, NonemptyDuringAPushAndATake, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Permits queue;
  queue.Push(1);
  Thread other([&] {
    queue.Push(1);
    Require(queue.Pop(1) == 1);
  });
  Require(queue.queue().size() != 0);
}

// The end is reported once.
MODEL_TEST(MpmcQueue, TheSendersLeaveDuringAClose, .spurious_failures = 0) {
  Permits queue;
  queue.Push(1);
  Thread closing([&] { queue.Add(queue.queue().Close()); });
  queue.Add(queue.queue().SendersAreGone());
  closing.Join();
  Require(queue.Pop(1) == 1);
  Require(queue.TryTake(1));
}

// A close finds the last block while messages are sent and received.
void CloseDuringPushesAndTakes(int before, int taken) {
  Permits queue;
  queue.Push(before);
  int pushed = before;
  int popped = 0;
  Thread sending([&] {
    const size_t ready = queue.queue().Push(0);
    if (ready == internal::kRefused) return;
    ++pushed;
    queue.Add(ready);
  });
  Thread receiving([&] { popped = queue.Pop(taken); });
  queue.Add(queue.queue().Close());
  sending.Join();
  receiving.Join();
  for (; popped < pushed; ++popped) {
    Require(queue.TryTake(1));
    const size_t position = queue.queue().Claim(1);
    Require(queue.queue().CountBeforeEnd(position, 1) == 1);
    queue.queue().Take(position, 1, [](int&&) {});
  }
  Require(queue.TryTake(1));
  Require(queue.queue().CountBeforeEnd(queue.queue().Claim(1), 1) == 0);
  Require(queue.queue().size() == 0);
}

MODEL_TEST(MpmcQueue, ACloseDuringThe1stPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  CloseDuringPushesAndTakes(0, 0);
}
MODEL_TEST(MpmcQueue, ACloseDuringThe2ndPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  CloseDuringPushesAndTakes(1, 1);
}
MODEL_TEST(MpmcQueue, ACloseDuringThe3rdPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  CloseDuringPushesAndTakes(2, 2);
}
MODEL_TEST(MpmcQueue, ACloseDuringThe4thPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  CloseDuringPushesAndTakes(3, 3);
}
// The second block is taken and freed while the close searches for the third.
MODEL_TEST(MpmcQueue, ACloseDuringThe5thPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  CloseDuringPushesAndTakes(4, 4);
}

// ---- Blocks that are freed although a later block was taken in part. These
// blocks have three slots, so that a part can be more than the first slot.

using Permits3 = PermitsOfBlocks<3>;

// Requires that the first block, whose first slot was at `first`, was reused
// for the third, when the first five messages have been taken: the heap never
// returns the same address twice.
void ExpectFirstBlockIsThird(Permits3& queue, const int* first) {
  queue.Push(2);
  Require(queue.PopAll() == 2);
  Require(queue.last_place() == first);
}

// A block waits for a claim that was made before it was taken in full.
MODEL_TEST(MpmcQueue, TwoReceiversFinishAPartOfABlock, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Permits3 queue;
  queue.Push(5);
  Require(queue.Pop(1) == 1);
  const int* const first = queue.last_place();
  Require(queue.Pop(1) == 1);
  Thread other([&] { Require(queue.PopMany(1)); });
  Require(queue.PopMany(2));
  other.Join();
  ExpectFirstBlockIsThird(queue, first);
}

// A claim of several blocks leaves only the last.
MODEL_TEST(MpmcQueue, AClaimOfSeveralBlocksFreesAllButTheLast,
           .spurious_failures = 0) {
  Permits3 queue;
  queue.Push(5);
  Require(queue.Pop(1) == 1);
  const int* const first = queue.last_place();
  Require(queue.PopMany(4));
  ExpectFirstBlockIsThird(queue, first);
}

// A block waits for the push that moves the tail past it.
MODEL_TEST(MpmcQueue, ABlockWaitsForASlowPush, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Permits3 queue;
  queue.Push(3);
  Require(queue.Pop(1) == 1);
  const int* const first = queue.last_place();
  Require(queue.PopMany(2));
  Thread other([&] { queue.Push(1); });
  queue.Push(1);
  const int popped = queue.Pop(2);
  other.Join();
  Require(popped + queue.PopAll() == 2);
  ExpectFirstBlockIsThird(queue, first);
}

MODEL_MUTANTS(
    MpmcQueue, "sync/mpmc/queue.|sync/internal/block_chain.",
    "FindFrom at block_chain.h:190: torn: can only lose kOpen of a block that "
    "is ready in full, which the push that opens the block no longer needs",
    "ReclaimLocked at queue.h:412: modify acq_rel -> release: a block of a "
    "channel that was closed may stay until the channel is destroyed");

}  // namespace
}  // namespace rouse::mpmc
