// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns and promises of a channel without handles, where a model can stop
// between two steps: between the claim and the push of a message, or between
// the claim and the take. A batch of wakers is one waker here.

#include <cstddef>
#include <optional>

#include "rouse/sync/mpmc/positions.h"
#include "rouse/sync/mpmc/queue.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/testing/poll_once.h"
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
using model::Task;
using model::Thread;

// A queue of numbers, and the steps of a channel.
class TestChannel : public internal::Queue<int> {
 public:
  using Queue::Queue;

  // Claims a position for a push.
  size_t ClaimPush() {
    size_t position;
    Require(TryClaimPush<true>(position) == Refusal::kNone);
    return position;
  }
  void Push(size_t position, int value) {
    if (Queue::Push(position, int{value})) Settle(Side::kReceivers);
  }
  void Send(int value) { Push(ClaimPush(), value); }

  // Returns the sum of the messages of `claim`.
  int Take(const Claim& claim) {
    int sum = 0;
    if (claim.count == 0) return sum;
    Queue::Take(claim, [&](int&& value) { sum += value; });
    if (claim.wakes_senders) Settle(Side::kSenders);
    if (claim.has_others) Settle(Side::kReceivers);
    return sum;
  }
  // Returns the sum of the messages that are left, when no future waits.
  int TakeRest() {
    SetNoMore();
    Settle(Side::kReceivers);
    int sum = 0;
    for (;;) {
      const Claim claim = ClaimRest();
      if (claim.count == 0) return sum;
      sum += Take(claim);
    }
  }
};

// A future of a claim.
class Turn {
 public:
  Turn(TestChannel& channel, Side side) : turn_(channel, side) {}

  PollResult<Claim> Poll(Context& cx) { return turn_.PollSlowly(cx, "Turn"); }

 private:
  PendingTurn turn_;
};

// A future of the claim of several messages.
class ManyTurn {
 public:
  explicit ManyTurn(TestChannel& channel) : turn_(channel, Side::kReceivers) {}

  PollResult<void> Poll(Context& cx) { return turn_.PollTurn(cx, "ManyTurn"); }
  Claim Redeem(size_t limit) { return turn_.Redeem(limit); }

 private:
  PendingTurn turn_;
};

// ---- Promises.

// The future gets a message whose push its thread has seen only through another
// receiver's claim.
MODEL_TEST(MpmcPositions, APromiseIsRedeemedForALaterMessage,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Task task;
  TestChannel channel(Positions::kUnlimited);
  Turn turn(channel, Side::kReceivers);
  Require(task.Poll(turn).IsPending());
  channel.Send(1);
  const size_t second = channel.ClaimPush();
  Thread sending([&] { channel.Push(second, 2); });
  Claim there;
  Thread claiming([&] { there = channel.TryClaimPops(1); });
  const int here = channel.Take(*task.Poll(turn));
  sending.Join();
  claiming.Join();
  Require(here + channel.Take(there) + channel.TakeRest() == 3);
}

// The send gets a place of which its thread has heard only through another
// send's claim.
MODEL_TEST(MpmcPositions, APromiseIsRedeemedForALaterPlace,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Task task;
  TestChannel channel(2);
  const size_t first = channel.ClaimPush();
  channel.Push(first, 1);
  channel.Send(2);
  Turn turn(channel, Side::kSenders);
  Require(task.Poll(turn).IsPending());
  Require(channel.Take(channel.TryClaimPops(1)) == 1);
  model::Cell<int> done(0);
  Thread receiving([&] {
    done.Write() = 1;
    Require(channel.Take(channel.TryClaimPops(1)) == 2);
  });
  Thread claiming([&] {
    size_t position;
    (void)channel.TryClaimPush<true>(position);
  });
  const Claim claim = *task.Poll(turn);
  if (claim.position - first == 3) Require(done.Read() == 1);
}

// The place of a message that is received although more futures wait than can
// have promises.
MODEL_TEST(MpmcPositions, ThePlaceOfALeftMessageShowsWhatTheReceiverDid,
           .spurious_failures = 0) {
  TestChannel channel(4);
  Turn first(channel, Side::kReceivers);
  Turn second(channel, Side::kReceivers);
  Turn third(channel, Side::kReceivers);
  Require(PollOnce(first).IsPending());
  Require(PollOnce(second).IsPending());
  Require(PollOnce(third).IsPending());
  for (int i = 1; i <= 4; ++i) channel.Send(i);
  model::Cell<int> done(0);
  Claim claim;
  Thread other([&] {
    done.Write() = 1;
    claim = channel.ClaimPopNow();
  });
  size_t position;
  if (channel.TryClaimPush<true>(position) == Refusal::kNone) {
    Require(done.Read() == 1);
  }
  other.Join();
  Require(channel.Take(claim) == 1);
}

// A future does not get a promise if there are as many as there can be.
MODEL_TEST(MpmcPositions, AThirdFutureWaitsForAPromise,
           .spurious_failures = 0) {
  Task task;
  TestChannel channel(Positions::kUnlimited);
  Turn first(channel, Side::kReceivers);
  Turn second(channel, Side::kReceivers);
  Turn third(channel, Side::kReceivers);
  Require(PollOnce(first).IsPending());
  Require(PollOnce(second).IsPending());
  for (int i = 1; i <= 3; ++i) channel.Send(i);
  Require(task.Poll(third).IsPending());
  Require(channel.TryClaimPops(1).count == 0);
  Require(channel.Take(*PollOnce(second)) == 1);
  Require(task.woken());
  Require(channel.Take(*PollOnce(third)) == 2);
  Require(channel.Take(*PollOnce(first)) == 3);
}

// A promise is for one message at least, and the future gets all that are left
// if nobody waits.
MODEL_TEST(MpmcPositions, APromiseIsRedeemedForSeveralMessages,
           .spurious_failures = 0) {
  Task task;
  TestChannel channel(Positions::kUnlimited);
  ManyTurn many(channel);
  Turn other(channel, Side::kReceivers);
  Require(task.Poll(many).IsPending());
  Require(PollOnce(other).IsPending());
  for (int i = 1; i <= 4; ++i) channel.Send(i);
  Require(task.Poll(many).IsReady());
  Require(channel.Take(many.Redeem(4)) == 1 + 2 + 3);
  Require(channel.Take(*PollOnce(other)) == 4);
}

// A future that has its turn takes no message, because it has no room. The
// promise passes to a future that begins to wait meanwhile.
MODEL_TEST(MpmcPositions, APromiseIsReturnedForANewcomer,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  TestChannel channel(Positions::kUnlimited);
  ManyTurn first(channel);
  Turn second(channel, Side::kReceivers);
  Require(first_task.Poll(first).IsPending());
  channel.Send(1);
  Thread returning([&] {
    Require(first_task.Poll(first).IsReady());
    Require(first.Redeem(0).count == 0);
  });
  Require(channel.Take(second_task.Await(second)) == 1);
}

// As above, but the other future waits already, and a receive tries to
// overtake it.
MODEL_TEST(MpmcPositions, APromiseIsReturnedForTheNextInLine,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  TestChannel channel(Positions::kUnlimited);
  ManyTurn first(channel);
  Turn second(channel, Side::kReceivers);
  Require(first_task.Poll(first).IsPending());
  Require(second_task.Poll(second).IsPending());
  channel.Send(1);
  Thread trying([&] { Require(channel.ClaimPopNow().count == 0); });
  Require(first_task.Poll(first).IsReady());
  Require(first.Redeem(0).count == 0);
  Require(channel.Take(second_task.Await(second)) == 1);
}

// The message that a push has just added is for the future that waits, although
// the push has not woken it yet.
MODEL_TEST(MpmcPositions, ATurnOfSeveralMessagesLeavesTheMessageOfAWaiter,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Task many_task;
  Task task;
  TestChannel channel(Positions::kUnlimited);
  ManyTurn many(channel);
  Turn turn(channel, Side::kReceivers);
  Require(many_task.Poll(many).IsPending());
  Require(task.Poll(turn).IsPending());
  channel.Send(1);
  Thread sending([&] { channel.Send(2); });
  Require(many_task.Poll(many).IsReady());
  const Claim claim = many.Redeem(2);
  Require(claim.count == 1);
  Require(channel.Take(task.Await(turn)) + channel.Take(claim) == 3);
}

// The channel closes while a future has its turn.
MODEL_TEST(MpmcPositions, ACloseBesideATurnOfSeveralMessages,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task task;
  TestChannel channel(Positions::kUnlimited);
  ManyTurn many(channel);
  Require(task.Poll(many).IsPending());
  channel.Send(1);
  channel.Send(2);
  Thread closing([&] {
    channel.SetNoMore();
    channel.Settle(Side::kReceivers);
  });
  Claim there;
  Thread claiming([&] { there = channel.TryClaimPops(1); });
  Require(task.Poll(many).IsReady());
  const int here = channel.Take(many.Redeem(2));
  closing.Join();
  claiming.Join();
  Require(here + channel.Take(there) == 3);
}

// ---- Batches.

// A message is sent to each of two futures at once, and the first leaves before
// the second is woken.
MODEL_TEST(MpmcPositions, AFutureLeavesBetweenTwoBatches,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  TestChannel channel(Positions::kUnlimited);
  std::optional<Turn> first;
  first.emplace(channel, Side::kReceivers);
  Turn second(channel, Side::kReceivers);
  Require(first_task.Poll(*first).IsPending());
  Require(second_task.Poll(second).IsPending());
  const size_t position = channel.ClaimPush();
  channel.Send(2);
  Thread sending([&] { channel.Push(position, 1); });
  Thread leaving([&] { first.reset(); });
  const int here = channel.Take(second_task.Await(second));
  sending.Join();
  leaving.Join();
  Require(here + channel.TakeRest() == 3);
}

MODEL_TEST(MpmcPositions, ACloseBetweenTwoBatches, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  TestChannel channel(Positions::kUnlimited);
  Turn first(channel, Side::kReceivers);
  Turn second(channel, Side::kReceivers);
  Require(first_task.Poll(first).IsPending());
  Require(second_task.Poll(second).IsPending());
  const size_t position = channel.ClaimPush();
  channel.Send(2);
  Thread sending([&] { channel.Push(position, 1); });
  Thread closing([&] {
    channel.SetNoMore();
    channel.Settle(Side::kReceivers);
  });
  const int there = channel.Take(second_task.Await(second));
  const int here = channel.Take(first_task.Await(first));
  Require(here + there == 3);
}

// A waker receives a message that no future needs. It does not wait for the
// next batch, which is up to its own caller.
MODEL_TEST(MpmcPositions, AWakerReceivesALeftMessage, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  TestChannel channel(Positions::kUnlimited);
  int there = 0;
  const Waker waker =
      Waker::FromCallable([&] { there = channel.Take(channel.ClaimPopNow()); });
  Turn first(channel, Side::kReceivers);
  Turn second(channel, Side::kReceivers);
  Require(PollOnce(first, waker).IsPending());
  Require(PollOnce(second).IsPending());
  const size_t position = channel.ClaimPush();
  channel.Send(2);
  channel.Send(4);
  Thread sending([&] { channel.Push(position, 1); });
  Thread trying([&] { (void)PollOnce(second).IsPending(); });
  sending.Join();
  trying.Join();
}

// ---- Gaps.

// A receiver begins to wait while a gap opens and is filled.
MODEL_TEST(MpmcPositionsLarge, AReceiverBeginsToWaitBesideAGap,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Task task;
  TestChannel channel(Positions::kUnlimited);
  const size_t first = channel.ClaimPush();
  const size_t second = channel.ClaimPush();
  Thread filling([&] { channel.Push(first, 1); });
  Thread leaving([&] { channel.Push(second, 2); });
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    Turn turn(channel, Side::kReceivers);
    sum += channel.Take(task.Await(turn));
  }
  Require(sum == 3);
}

// As above, but the receivers wait already, and a third message follows.
MODEL_TEST(MpmcPositions, TwoReceiversWaitForAGap, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  TestChannel channel(Positions::kUnlimited);
  Turn first(channel, Side::kReceivers);
  Turn second(channel, Side::kReceivers);
  Require(first_task.Poll(first).IsPending());
  Require(second_task.Poll(second).IsPending());
  const size_t position = channel.ClaimPush();
  const size_t next = channel.ClaimPush();
  Thread filling([&] { channel.Push(position, 1); });
  Thread leaving([&] {
    channel.Push(next, 2);
    channel.Send(4);
  });
  int sum = channel.Take(second_task.Await(second));
  sum += channel.Take(first_task.Await(first));
  filling.Join();
  leaving.Join();
  Require(sum + channel.TakeRest() == 7);
}

// A refused push sees everything before the end.
MODEL_TEST(MpmcPositions, ARefusedClaimSeesWhatCameBeforeTheEnd,
           .spurious_failures = 0) {
  TestChannel channel(1);
  model::Cell<int> done(0);
  Thread closing([&] {
    done.Write() = 1;
    channel.SetNoMore();
  });
  size_t position;
  if (channel.TryClaimPush<true>(position) == Refusal::kClosed) {
    Require(done.Read() == 1);
  }
}

// A receiver that finds the end sees everything before the end.
MODEL_TEST(MpmcPositions, TheEndShowsWhatCameBefore, .spurious_failures = 0) {
  TestChannel channel(1);
  model::Cell<int> done(0);
  Thread closing([&] {
    done.Write() = 1;
    channel.SetNoMore();
  });
  if (channel.IsAtEnd()) Require(done.Read() == 1);
}

// The end comes while a gap is open: the last receiver waits for the push that
// fills it.
MODEL_TEST(MpmcPositionsLarge, TheRestIsTakenWhileAGapIsOpen,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  TestChannel channel(Positions::kUnlimited);
  const size_t first = channel.ClaimPush();
  const size_t second = channel.ClaimPush();
  Thread filling([&] { channel.Push(first, 1); });
  Thread leaving([&] { channel.Push(second, 2); });
  Require(channel.TakeRest() == 3);
}

}  // namespace
}  // namespace rouse::mpmc
