// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Concurrent pushes and takes of a channel's queue. Blocks have two slots here,
// so that three messages need more than one block. The slots are plain data:
// taking a message too early, twice, or from a block that was reused too early
// is a race.

#include <algorithm>
#include <array>
#include <cstddef>

#include "rouse/sync/mpmc/positions.h"
#include "rouse/sync/mpmc/queue.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::mpmc {
namespace {

using internal::Claim;
using internal::PendingTurn;
using internal::Positions;
using internal::Refusal;
using internal::Side;
using model::Mode;
using model::Require;
using model::Thread;

// A queue, and calls that push and take in a loop.
template <size_t kSlots>
class QueueOfBlocks {
 public:
  using IntQueue = internal::Queue<int, kSlots>;

  // Pushes a message. Returns whether the queue accepted it.
  bool TryPush() {
    size_t position;
    if (queue_.template TryClaimPush<false>(position) != Refusal::kNone) {
      return false;
    }
    Require(!queue_.Push(position, 0), "no receiver waits");
    return true;
  }
  // Pushes `count` messages.
  void Push(int count) {
    for (int i = 0; i < count; ++i) Require(TryPush());
  }
  // Takes up to `limit` messages, one after another, as long as there are
  // messages. Returns their number.
  int Pop(int limit) {
    int count = 0;
    for (; count < limit; ++count) {
      const Claim claim = queue_.TryClaimPops(1);
      if (claim.count == 0) break;
      Take(claim);
    }
    return count;
  }
  // Returns where the last message was that was taken.
  const int* last_place() const { return last_place_; }
  // Takes `n` messages at once, of at least as many. Returns whether it did.
  bool PopMany(int n) {
    const Claim claim = queue_.TryClaimPops(n);
    Take(claim);
    return claim.count == static_cast<size_t>(n);
  }
  // Takes all messages when all pushes and takes have ended. Returns their
  // number.
  int PopAll() { return Pop(100); }

  IntQueue& queue() { return queue_; }

 private:
  void Take(const Claim& claim) {
    queue_.Take(claim, [this](int&& value) { last_place_ = &value; });
  }

  // Not data: models must not see a step.
  const int* last_place_ = nullptr;
  IntQueue queue_{Positions::kUnlimited};
};
using TestQueue = QueueOfBlocks<internal::kBlockSlots>;

// Two pushes meet at the end of a block. One of them counts both.
MODEL_TEST(MpmcQueue, TwoPushesCrossABlockBoundary, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  TestQueue queue;
  queue.Push(1);
  Thread first([&] { queue.Push(2); });
  Thread second([&] { queue.Push(2); });
  first.Join();
  second.Join();
  Require(queue.PopAll() == 5);
}

// The first push to the second block may find no block at all.
MODEL_TEST(MpmcQueueLarge, ThreePushesMakeTheFirstBlocks, .mode = Mode::kRandom,
           .max_executions = 5000) {
  TestQueue queue;
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
           .preemption_bound = 2, .spurious_failures = 0) {
  TestQueue queue;
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(1); });
  const int popped = queue.Pop(2);
  first.Join();
  second.Join();
  Require(popped + queue.PopAll() == 2);
}

MODEL_TEST(MpmcQueue, APushAndTwoReceivers, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  TestQueue queue;
  int other = 0;
  Thread first([&] { queue.Push(2); });
  Thread second([&] { other = queue.Pop(2); });
  const int popped = queue.Pop(2);
  first.Join();
  second.Join();
  Require(popped + other + queue.PopAll() == 2);
}

MODEL_TEST(MpmcQueueLarge, TwoPushesAndTwoReceivers, .mode = Mode::kRandom,
           .max_executions = 5000) {
  TestQueue queue;
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
  TestQueue queue;
  queue.Push(5);
  Thread other([&] { Require(queue.Pop(2) == 2); });
  Require(queue.Pop(2) == 2);
  other.Join();
  Require(queue.PopAll() == 1);
}

MODEL_TEST(MpmcQueue, TwoReceiversTakeSeveralAtOnce, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  TestQueue queue;
  queue.Push(7);
  Thread other([&] { Require(queue.PopMany(3)); });
  Require(queue.PopMany(3));
  other.Join();
  Require(queue.PopAll() == 1);
}

// Blocks are reused while a push searches for its place.
MODEL_TEST(MpmcQueue, BlocksAreReusedDuringAPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  TestQueue queue;
  queue.Push(5);
  Require(queue.Pop(3) == 3);
  Thread other([&] { queue.Push(2); });
  const int popped = queue.Pop(3);
  other.Join();
  Require(popped + queue.PopAll() == 4);
}

MODEL_TEST(MpmcQueue, BlocksAreReusedDuringTwoPushes, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  TestQueue queue;
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
  TestQueue queue;
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
  TestQueue queue;
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
  TestQueue queue;
  queue.Push(6);
  Thread other([&] { queue.Push(1); });
  const int popped = queue.Pop(5);
  other.Join();
  queue.Push(4);
  Require(popped + queue.PopAll() == 11);
}

// A search that begins late does not begin at a block that was reused.
MODEL_TEST(MpmcQueue, APushBesideReusedBlocks, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  TestQueue queue;
  Thread other([&] { queue.Push(1); });
  queue.Push(5);
  const int popped = queue.Pop(4);
  other.Join();
  Require(popped + queue.PopAll() == 6);
}

MODEL_TEST(MpmcQueue, ATakeBesideReusedBlocks, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  TestQueue queue;
  queue.Push(6);
  Thread other([&] { Require(queue.Pop(1) == 1); });
  Require(queue.PopMany(4));
  other.Join();
  Require(queue.PopAll() == 1);
}

// The push that opens the next block, and a push into that block, hand on each
// other's messages.
MODEL_TEST(MpmcQueue, TwoPushesAcrossABlockAndAReceiver, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  TestQueue queue;
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
           .preemption_bound = 1, .spurious_failures = 0) {
  TestQueue queue;
  queue.Push(1);
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(3); });
  first.Join();
  second.Join();
  Require(queue.PopAll() == 5);
}

MODEL_TEST(MpmcQueue, ARefusedPushSeesWhatCameBeforeTheEnd,
           .spurious_failures = 0) {
  TestQueue queue;
  model::Cell<int> done(0);
  Thread closing([&] {
    done.Write() = 1;
    queue.queue().SetNoMore();
  });
  if (!queue.TryPush()) Require(done.Read() == 1);
}

// A queue that always has a message never seems empty.
MODEL_TEST(MpmcQueue, NonemptyDuringAPushAndATake, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  TestQueue queue;
  queue.Push(1);
  Thread other([&] {
    queue.Push(1);
    Require(queue.Pop(1) == 1);
  });
  Require(queue.queue().size() != 0);
}

// All messages that were accepted before the end are there, and no others.
void EndDuringPushesAndTakes(int before, int taken) {
  TestQueue queue;
  queue.Push(before);
  int pushed = before;
  int popped = 0;
  Thread sending([&] { pushed += queue.TryPush(); });
  Thread receiving([&] { popped = queue.Pop(taken); });
  queue.queue().SetNoMore();
  sending.Join();
  receiving.Join();
  Require(queue.queue().size() == static_cast<size_t>(pushed - popped));
  Require(popped + queue.PopAll() == pushed);
  Require(queue.queue().size() == 0);
}

MODEL_TEST(MpmcQueue, TheEndDuringThe1stPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  EndDuringPushesAndTakes(0, 1);
}
MODEL_TEST(MpmcQueue, TheEndDuringThe3rdPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  EndDuringPushesAndTakes(2, 2);
}

// ---- Places.

// A promised sender gets the place after another sender, and learns from the
// latter what the receiver did that freed the place.
MODEL_TEST(MpmcQueue, APromisedPlaceShowsWhatItsReceiverDid,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  internal::Queue<int> queue(2);
  const auto push = [&] {
    size_t position;
    if (queue.TryClaimPush<true>(position) != Refusal::kNone) return;
    Require(!queue.Push(position, 0), "no receiver waits");
  };
  const auto pop = [&](size_t limit) {
    const Claim claim = queue.TryClaimPops(limit);
    if (claim.count > 0) queue.Take(claim, [](int&&) {});
    if (claim.wakes_senders) queue.Settle(Side::kSenders);
  };
  push();
  push();
  PendingTurn turn(queue, Side::kSenders);
  const Waker waker;
  Context cx(waker);
  Require(turn.PollSlowly(cx, "").IsPending());
  pop(1);
  model::Cell<int> done(0);
  Thread receiving([&] {
    done.Write() = 1;
    pop(1);
  });
  Thread sending(push);
  const Claim claim = *turn.PollSlowly(cx, "");
  // Not the place that the first receive has freed.
  if (claim.position % 2 == 1) Require(done.Read() == 1);
  Require(!queue.Push(claim.position, 0), "no receiver waits");
  receiving.Join();
  sending.Join();
  pop(2);
  Require(queue.size() == 0);
}

// ---- Messages that become ready out of order.

// Three pushes end in any order, and a receiver takes what is there.
MODEL_TEST(MpmcQueueLarge, ThreePushesLeaveGaps, .mode = Mode::kRandom,
           .max_executions = 5000) {
  TestQueue queue;
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(1); });
  queue.Push(1);
  const int popped = queue.Pop(1);
  first.Join();
  second.Join();
  Require(popped + queue.PopAll() == 3);
}

// A receiver sees the message of a push whose gap another push has filled.
MODEL_TEST(MpmcQueue, AGapIsFilledBesideAReceiver, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  TestQueue queue;
  queue.Push(1);
  Thread first([&] { queue.Push(1); });
  Thread second([&] { queue.Push(1); });
  const int popped = queue.Pop(2);
  first.Join();
  second.Join();
  Require(popped + queue.PopAll() == 3);
}

// Four pushes end in each order.
MODEL_TEST(MpmcQueue, FourPushesEndInAnyOrder, .spurious_failures = 0) {
  std::array<int, 4> order = {0, 1, 2, 3};
  do {
    internal::Queue<int> queue(Positions::kUnlimited);
    std::array<size_t, 4> positions = {};
    for (size_t& position : positions) {
      Require(queue.TryClaimPush<false>(position) == Refusal::kNone);
    }
    for (const int i : order) {
      Require(!queue.Push(positions.at(i), int{i}), "no receiver waits");
    }
    int expected = 0;
    const Claim claim = queue.TryClaimPops(5);
    queue.Take(claim, [&](int&& value) { Require(value == expected++); });
    Require(expected == 4);
  } while (std::next_permutation(order.begin(), order.end()));
}

// A receiver begins to wait between the two steps that add to the prefix.
MODEL_TEST(MpmcQueue, AReceiverBeginsToWaitWhileAGapIsFilled,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  internal::Queue<int> queue(Positions::kUnlimited);
  size_t first;
  size_t second;
  Require(queue.TryClaimPush<false>(first) == Refusal::kNone);
  Require(queue.TryClaimPush<false>(second) == Refusal::kNone);
  Require(!queue.Push(second, 0), "no receiver waits");
  Thread other([&] {
    if (queue.Push(first, 0)) queue.Settle(Side::kReceivers);
  });
  const auto take = [&](const Claim& claim) {
    if (claim.count > 0) queue.Take(claim, [](int&&) {});
    return claim.count;
  };
  size_t taken = take(queue.TryClaimPops(1));
  PendingTurn turn(queue, Side::kReceivers);
  const Waker waker;
  Context cx(waker);
  PollResult<Claim> claim = turn.PollSlowly(cx, "");
  other.Join();
  if (claim.IsPending()) claim = turn.PollSlowly(cx, "");
  Require(claim.IsReady());
  taken += take(*claim);
  taken += take(queue.TryClaimPops(2));
  Require(taken == 2);
}

// ---- Blocks that are freed although a later block was taken in part. These
// blocks have four slots, so that a part can be more than the first slot.

using TestQueue4 = QueueOfBlocks<4>;

// Requires that the first block, whose first slot was at `first`, was reused
// for the third, when the first six messages have been taken: the heap never
// returns the same address twice.
void ExpectFirstBlockIsThird(TestQueue4& queue, const int* first) {
  queue.Push(3);
  Require(queue.PopAll() == 3);
  Require(queue.last_place() == first);
}

// A block waits for a claim that was made before it was taken in full.
MODEL_TEST(MpmcQueue, TwoReceiversFinishAPartOfABlock, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  TestQueue4 queue;
  queue.Push(6);
  Require(queue.Pop(1) == 1);
  const int* const first = queue.last_place();
  Require(queue.Pop(2) == 2);
  Thread other([&] { Require(queue.PopMany(1)); });
  Require(queue.PopMany(2));
  other.Join();
  ExpectFirstBlockIsThird(queue, first);
}

// A claim of several blocks leaves only the last.
MODEL_TEST(MpmcQueue, AClaimOfSeveralBlocksFreesAllButTheLast,
           .spurious_failures = 0) {
  TestQueue4 queue;
  queue.Push(6);
  Require(queue.Pop(1) == 1);
  const int* const first = queue.last_place();
  Require(queue.PopMany(5));
  ExpectFirstBlockIsThird(queue, first);
}

// A block waits for the push that moves the tail past it. If both pushes have
// made a second block, the first block is reused for the fourth.
MODEL_TEST(MpmcQueue, ABlockWaitsForASlowPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  TestQueue4 queue;
  queue.Push(4);
  Require(queue.Pop(1) == 1);
  const int* const first = queue.last_place();
  Require(queue.PopMany(3));
  Thread other([&] { queue.Push(1); });
  queue.Push(1);
  const int popped = queue.Pop(2);
  other.Join();
  Require(popped + queue.PopAll() == 2);
  queue.Push(3);
  Require(queue.PopAll() == 3);
  if (queue.last_place() == first) return;
  queue.Push(4);
  Require(queue.PopAll() == 4);
  Require(queue.last_place() == first);
}

// Two pushes meet at the end of a block, in any order: the block is freed with
// the first message behind it. If both pushes have made a second block, the
// first block is reused for the fourth.
MODEL_TEST(MpmcQueue, ABlockIsFreedAlthoughItsLastPushWasSlow,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  TestQueue4 queue;
  queue.Push(3);
  Require(queue.Pop(1) == 1);
  const int* const first = queue.last_place();
  Thread other([&] { queue.Push(1); });
  queue.Push(1);
  other.Join();
  Require(queue.PopAll() == 4);
  queue.Push(4);
  Require(queue.PopAll() == 4);
  if (queue.last_place() == first) return;
  queue.Push(4);
  Require(queue.PopAll() == 4);
  Require(queue.last_place() == first);
}

// A reused block is like a new one.
MODEL_TEST(MpmcQueue, BlocksAreReusedManyTimes, .spurious_failures = 0) {
  TestQueue queue;
  for (int i = 0; i < 24; ++i) {
    queue.Push(1);
    Require(queue.Pop(2) == 1);
  }
  queue.Push(7);
  Require(queue.PopAll() == 7);
}

MODEL_MUTANTS(
    MpmcQueue,
    "sync/mpmc/queue.|sync/mpmc/positions.h|sync/internal/block_chain.",
    // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
    "MoveTail at block_chain.h:196: torn: no other thread changes the state of "
    "a block that is in the prefix in full",
    "IsAtEnd at positions.h:243: load acquire -> relaxed: killed by "
    "mpmc_positions_model_test",
    "HasRoom at positions.h:360: load acquire -> relaxed: killed by "
    "mpmc_positions_model_test",
    "HasRoom at positions.h:370: store release -> relaxed: killed by "
    "mpmc_positions_model_test",
    "HasRoom at positions.h:370: store skipped: saves accesses of head_",
    "CountReady at positions.h:378: call skipped: killed by "
    "mpmc_positions_model_test",
    "CountReady at positions.h:389: store skipped: saves accesses of ready_",
    "ExtendBySome at queue.h:291: load acquire -> relaxed: needs four pushes",
    "ExtendBySome at queue.h:297: load acquire -> relaxed: needs pushes of "
    "three threads, as in ThreePushesMakeTheFirstBlocks",
    "ExtendBySome at queue.h:320: condition always false: a flag that stays "
    "causes only needless calls of ExtendPrefix()",
    "ExtendBySome at queue.h:322: torn: only the holder of the lock changes "
    "the position of a slot that has its bit, and the flags");

}  // namespace
}  // namespace rouse::mpmc
