// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The line of a channel's receivers: futures that wait, that have promises, and
// that leave or are polled without budget, beside other receives, sends and the
// end. mpmc_places_model_test.cc has the line of the senders,
// mpmc_turns_model_test.cc the models that need single steps of a send or of a
// receive. A batch of wakers is one waker here, and at most two futures have
// promises.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/testing/poll_once.h"

namespace rouse::mpmc {
namespace {

using model::Mode;
using model::Require;
using model::Task;
using model::Thread;

// Sends `message` from a new thread, and destroys the sender.
Thread Sending(UnboundedSender<int> tx, int message) {
  return Thread([tx = std::optional(std::move(tx)), message]() mutable {
    Require(tx->Send(int{message}).ok());
    tx.reset();
  });
}

// ---- Promises: futures that were woken and have not been polled since.

// Two sends end in any order while a receiver waits for both.
MODEL_TEST(MpmcPositionsLarge, TwoSendsWakeAReceiver, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx2.Receive();
  Require(PollOnce(receive).IsPending());
  Thread first = Sending(tx, 1);
  Thread second = Sending(tx, 2);
  const std::optional<int> here = BlockOn(rx.Receive());
  first.Join();
  second.Join();
  Require(*here + **PollOnce(receive) == 3);
}

// The message that is promised stays, and the other goes to one receiver.
MODEL_TEST(MpmcPositions, APromiseIsRedeemedBesideAReceive,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx.Receive();
  Require(PollOnce(receive).IsPending());
  Require(tx.Send(1).ok());
  Require(tx.Send(2).ok());
  int there = 0;
  Thread other([&] { there = *rx2.TryReceive(); });
  const int here = **PollOnce(receive);
  other.Join();
  Require(here + there == 3);
  Require(rx.IsEmpty());
}

// A receiver that begins to wait stops the receives without the lock.
MODEL_TEST(MpmcPositions, AReceiverBeginsToWaitBesideAReceive,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  bool there = false;
  Thread other([&, &tx = tx] {
    Require(tx.Send(1).ok());
    there = rx2.TryReceive().ok();
  });
  auto receive = rx.Receive();
  const bool here = PollOnce(receive).IsReady();
  other.Join();
  Require(here + there == 1 || (!here && PollOnce(receive).IsReady()));
  Require(rx.IsEmpty());
}

// The last push ends while one receiver begins to wait, and its message goes to
// another receiver: the first must learn of the end.
MODEL_TEST(MpmcPositions, TwoReceiversAtTheEnd, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  Thread other([&, &tx = tx] {
    tx.Send(0).IgnoreError();
    (void)rx2.TryReceive();
  });
  rx.Close();
  (void)BlockOn(rx.Receive());
}

// The receiver with a promise gets the message of another thread.
MODEL_TEST(MpmcPositions, APromiseIsRedeemedBesideASendAndAReceive,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx.Receive();
  Require(PollOnce(receive).IsPending());
  Require(tx.Send(1).ok());
  Thread sending([&, &tx = tx] { Require(tx.Send(2).ok()); });
  int there = 0;
  Thread receiving([&] {
    const absl::StatusOr<int> message = rx2.TryReceive();
    if (message.ok()) there = *message;
  });
  const int here = **PollOnce(receive);
  sending.Join();
  receiving.Join();
  Require(here + there == (there == 0 ? 1 : 3));
}

// There are more messages than futures that wait: see
// APromiseIsRedeemedForAThirdReceiver.
MODEL_TEST(MpmcPositions, TryReceiveLeavesTheMessagesOfThreeReceivers,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto first = rx.Receive();
  auto second = rx.Receive();
  auto third = rx.Receive();
  Require(PollOnce(first).IsPending());
  Require(PollOnce(second).IsPending());
  Require(PollOnce(third).IsPending());
  for (int i = 1; i <= 4; ++i) Require(tx.Send(int{i}).ok());
  Require(*rx2.TryReceive() == 1);
  Require(absl::IsUnavailable(rx2.TryReceive().status()));
  Require(PollOnce(third).IsPending());
  Require(*PollOnce(second) == 2);
  Require(*PollOnce(third) == 3);
  Require(*PollOnce(first) == 4);
}

MODEL_TEST(MpmcPositions, APromiseIsGivenUpBesideAReceive,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  std::optional receive(rx.Receive());
  Require(PollOnce(*receive).IsPending());
  Require(tx.Send(1).ok());
  Require(tx.Send(2).ok());
  Thread other([&] { Require(rx2.TryReceive().ok()); });
  receive.reset();
  other.Join();
  Require(rx.TryReceive().ok());
  Require(absl::IsUnavailable(rx.TryReceive().status()));
}

// Models have at most two promises, so that a third future waits although its
// message is there.
MODEL_TEST(MpmcPositionsLarge, APromiseIsRedeemedForAThirdReceiver,
           .mode = Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto first = rx.Receive();
  std::optional second(rx.Receive());
  Require(PollOnce(first).IsPending());
  Require(PollOnce(*second).IsPending());
  Thread other([&, &tx = tx] {
    Require(BlockOn(rx2.Receive()).has_value());
    tx.Send(4).IgnoreError();
  });
  for (int i = 1; i <= 3; ++i) Require(tx.Send(int{i}).ok());
  Require(PollOnce(first).IsReady());
  second.reset();
  other.Join();
  Require(rx.TryReceive().ok());
  Require(rx.TryReceive().ok());
  Require(absl::IsUnavailable(rx.TryReceive().status()));
}

// ---- TryReceive.

// A message that was sent is found although an earlier send is at work.
MODEL_TEST(MpmcPositions, TryReceiveFindsWhatWasSent, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread other = Sending(tx, 0);
  Require(tx.Send(0).ok());
  Require(rx.TryReceive().ok());
  other.Join();
  Require(rx.TryReceive().ok());
  Require(absl::IsUnavailable(rx.TryReceive().status()));
}

// Two receivers share what was sent, and neither waits for the other.
MODEL_TEST(MpmcPositions, TwoTryReceivesShareAMessage, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  Require(tx.Send(0).ok());
  bool there = false;
  Thread other([&] { there = rx2.TryReceive().ok(); });
  const bool here = rx.TryReceive().ok();
  other.Join();
  Require(here != there);
}

// A message that a waiting receiver will get is not waited for.
MODEL_TEST(MpmcPositions, TryReceiveLeavesTheMessageOfAWaiter,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx.Receive();
  Require(PollOnce(receive).IsPending());
  Thread other([&, &tx = tx] { Require(tx.Send(0).ok()); });
  Require(absl::IsUnavailable(rx2.TryReceive().status()));
  other.Join();
  Require(absl::IsUnavailable(rx2.TryReceive().status()));
  Require(PollOnce(receive).IsReady());
}
// ---- The line of the receivers.

// Later futures and other receives get nothing before the first future.
MODEL_TEST(MpmcPositions, AMessageGoesToTheFirstInLine, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto first = rx.Receive();
  auto second = rx.Receive();
  Require(first_task.Poll(first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Thread sending([&, &tx = tx] { Require(tx.Send(1).ok()); });
  Thread trying(
      [&] { Require(absl::IsUnavailable(rx2.TryReceive().status())); });
  Require(second_task.Poll(second).IsPending());
  Require(first_task.Await(first) == 1);
  sending.Join();
  Require(!second_task.woken());
}

// The first future leaves while a message arrives, and the next future gets it.
MODEL_TEST(MpmcPositions, TheFirstInLineLeavesDuringASend,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = UnboundedChannel<int>();
  std::optional first(rx.Receive());
  auto second = rx.Receive();
  Require(first_task.Poll(*first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Thread sending([&, &tx = tx] { Require(tx.Send(1).ok()); });
  Thread leaving([&] { first.reset(); });
  Require(second_task.Await(second) == 1);
}

// A promise is given up while another receiver begins to wait.
MODEL_TEST(MpmcPositions, APromiseIsGivenUpForANewcomer, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = UnboundedChannel<int>();
  std::optional first(rx.Receive());
  auto second = rx.Receive();
  Require(first_task.Poll(*first).IsPending());
  Require(tx.Send(1).ok());
  Thread leaving([&] { first.reset(); });
  Require(second_task.Await(second) == 1);
}

// ---- The end.

// The promised future gets its message, or another receiver gets it after the
// close.
MODEL_TEST(MpmcPositions, ACloseBesideAPromisedReceiver, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx.Receive();
  Require(task.Poll(receive).IsPending());
  Require(tx.Send(1).ok());
  Thread closing([&] { rx2.Close(); });
  bool there = false;
  Thread trying([&, rx3 = rx]() mutable { there = rx3.TryReceive().ok(); });
  const bool here = task.Await(receive).has_value();
  trying.Join();
  Require(here != there);
}

// The end forgets the promise, which is given up before or after that. The
// other future gets the message.
MODEL_TEST(MpmcPositions, ACloseWhileAPromiseIsGivenUp, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  std::optional first(rx.Receive());
  auto second = rx.Receive();
  Require(first_task.Poll(*first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Require(tx.Send(1).ok());
  Thread closing([&] { rx2.Close(); });
  Thread leaving([&] { first.reset(); });
  Require(second_task.Await(second) == 1);
  closing.Join();
  leaving.Join();
  Require(absl::IsCancelled(rx.TryReceive().status()));
}

// A future waits for a send that is at work when the channel closes, and
// another receiver looks for the end.
MODEL_TEST(MpmcPositionsLarge, AWaiterAndATryReceiveAtTheEnd,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx.Receive();
  Require(task.Poll(receive).IsPending());
  bool sent = false;
  Thread sending([&, &tx = tx] { sent = tx.Send(1).ok(); });
  bool there = false;
  Thread trying([&] { there = rx2.TryReceive().ok(); });
  rx.Close();
  const bool here = task.Await(receive).has_value();
  sending.Join();
  trying.Join();
  Require(here + there == sent);
}

// A future that waits is polled before the close has woken it.
MODEL_TEST(MpmcPositions, AWaiterIsPolledDuringAClose, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto first = rx.Receive();
  auto second = rx.Receive();
  Require(first_task.Poll(first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Thread closing([&] { rx2.Close(); });
  if (first_task.Poll(first).IsPending()) {
    Require(first_task.Await(first) == std::nullopt);
  }
  Require(second_task.Await(second) == std::nullopt);
}

// ---- ReceiveMany.

// Takes as many messages as no other receiver takes or was promised.
MODEL_TEST(MpmcPositions, ReceiveManyBesideAReceiveAndASend,
           .mode = Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  std::vector<int> out;
  auto many = rx.ReceiveMany(out, 3);
  Require(task.Poll(many).IsPending());
  Require(tx.Send(1).ok());
  Require(tx.Send(2).ok());
  Thread sending([&, &tx = tx] { Require(tx.Send(3).ok()); });
  bool there = false;
  Thread trying([&] { there = rx2.TryReceive().ok(); });
  const size_t count = *task.Poll(many);
  sending.Join();
  trying.Join();
  Require(count >= 1 && count == out.size());
  Require(count + there + rx.size() == 3);
}

// Leaves the message of a future that waits and was not woken yet.
MODEL_TEST(MpmcPositions, ReceiveManyLeavesTheMessageOfAWaiter,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task many_task;
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  std::vector<int> out;
  auto many = rx.ReceiveMany(out, 2);
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx2.Receive();
  Require(many_task.Poll(many).IsPending());
  Require(task.Poll(receive).IsPending());
  Require(tx.Send(1).ok());
  Thread sending([&, &tx = tx] { Require(tx.Send(2).ok()); });
  Require(*many_task.Poll(many) == 1);
  Require(task.Await(receive) == 2);
}

// A new future of many messages overtakes none that waits.
MODEL_TEST(MpmcPositions, ANewReceiveManyBesideAWaiter, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task many_task;
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  std::vector<int> out;
  auto many = rx.ReceiveMany(out, 2);
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx2.Receive();
  Require(task.Poll(receive).IsPending());
  Thread sending([&, &tx = tx] {
    Require(tx.Send(1).ok());
    Require(tx.Send(2).ok());
  });
  Require(many_task.Await(many) == 1);
  Require(task.Await(receive).has_value());
}

// ---- Polls without budget.

// The future keeps its promise until the next poll.
MODEL_TEST(MpmcPositions, APromiseIsKeptWithoutBudget, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx.Receive();
  Require(task.Poll(receive).IsPending());
  Require(tx.Send(1).ok());
  Thread trying(
      [&] { Require(absl::IsUnavailable(rx2.TryReceive().status())); });
  Require(task.PollWithoutBudget(receive).IsPending());
  Require(task.woken());
  Require(*task.Poll(receive) == 1);
}

// The future takes its place in the line, or is woken by its own yield.
MODEL_TEST(MpmcPositions, AReceiverBeginsToWaitWithoutBudget,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  auto receive = rx.Receive();
  Thread sending([&, &tx = tx] { Require(tx.Send(1).ok()); });
  Require(task.PollWithoutBudget(receive).IsPending());
  task.AwaitWake();
  Require(task.Await(receive) == 1);
}

// Without budget, a future leaves the message to others if nobody waits.
MODEL_TEST(MpmcPositions, AYieldLeavesTheMessage, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  Require(tx.Send(1).ok());
  auto receive = rx.Receive();
  bool there = false;
  Thread trying([&] { there = rx2.TryReceive().ok(); });
  Require(task.PollWithoutBudget(receive).IsPending());
  trying.Join();
  if (there) Require(tx.Send(2).ok());
  Require(task.Await(receive).has_value());
}

MODEL_TEST(MpmcPositions, AFutureThatHasYieldedLeaves, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  std::optional first(rx.Receive());
  Require(first_task.Poll(*first).IsPending());
  Thread sending([&, &tx = tx] { Require(tx.Send(1).ok()); });
  Thread leaving([&] {
    Require(first_task.PollWithoutBudget(*first).IsPending());
    first.reset();
  });
  auto second = rx2.Receive();
  Require(second_task.Await(second) == 1);
}

MODEL_TEST(MpmcPositions, ACloseBesideAFutureThatHasYielded,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  auto receive = rx.Receive();
  Require(task.Poll(receive).IsPending());
  Require(tx.Send(1).ok());
  Thread closing([&] { rx2.Close(); });
  Require(task.PollWithoutBudget(receive).IsPending());
  Require(task.Await(receive) == 1);
}

MODEL_MUTANTS(
    MpmcPositions, "sync/mpmc/positions.|sync/mpmc/shared.",
    // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
    "TryClaimPush at positions.h:198: modify acq_rel -> release: killed by "
    "mpmc_queue_model_test",
    "TryClaimPops at positions.h:223: modify acq_rel -> release: killed by "
    "mpmc_queue_model_test",
    "size at positions.h:274: load acquire -> relaxed: killed by "
    "mpmc_queue_model_test",
    "HasRoom at positions.h:370: store skipped: saves accesses of head_",
    "CountReady at positions.h:389: store skipped: saves accesses of ready_",
    "StopWaiting at positions.cc:70: modify skipped: causes only a needless "
    "call of Settle()",
    "StopWaiting at positions.cc:72: torn: only holders of the lock change the "
    "word while a future waits; the end of MoveTail's release sequence is an "
    "effect of the mutant alone",
    "Assign at positions.cc:111: torn: as in StopWaiting",
    "ClaimPopNow at positions.cc:242: torn: as in StopWaiting");

}  // namespace
}  // namespace rouse::mpmc
