// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The line of a channel's senders, and the places: as for the receivers in
// mpmc_positions_model_test.cc.

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
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

// ---- Places.

// A place shows what its receiver did before it freed the place.
MODEL_TEST(MpmcPositions, APlaceShowsWhatTheReceiverDid,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(1).ok());
  model::Cell<int> done(0);
  Thread other([&, &rx = rx] {
    done.Write() = 1;
    Require(rx.TryReceive().ok());
  });
  if (tx.TrySend(2).ok()) Require(done.Read() == 1);
}

MODEL_TEST(MpmcPositions, ThePlaceOfAPromiseShowsWhatTheReceiverDid,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  auto receive = rx.Receive();
  Require(PollOnce(receive).IsPending());
  Require(tx.TrySend(1).ok());
  model::Cell<int> done(0);
  Thread other([&] {
    done.Write() = 1;
    Require(PollOnce(receive).IsReady());
  });
  if (tx.TrySend(2).ok()) Require(done.Read() == 1);
}

// The second sender may learn of its place from the first.
MODEL_TEST(MpmcPositions, TwoPlacesShowWhatTheReceiverDid,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(2);
  const Sender<int> tx2 = tx;
  Require(tx.TrySend(1).ok());
  Require(tx.TrySend(2).ok());
  model::Cell<int> done(0);
  Thread receiving([&, &rx = rx] {
    done.Write() = 1;
    std::vector<int> out;
    Require(BlockOn(rx.ReceiveMany(out, 2)) == 2);
  });
  Thread sending([&] { (void)tx2.TrySend(3); });
  if (tx.TrySend(4).ok()) Require(done.Read() == 1);
}

// A place that is promised stays, and the other goes to one sender.
MODEL_TEST(MpmcPositions, AWaitingSendBesideAnotherSend, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(2);
  Require(tx.TrySend(1).ok());
  Require(tx.TrySend(2).ok());
  auto send = tx.Send(3);
  Require(PollOnce(send).IsPending());
  std::vector<int> out;
  Require(BlockOn(rx.ReceiveMany(out, 2)) == 2);
  Thread other([&, &tx = tx] { Require(tx.TrySend(4).ok()); });
  Require(PollOnce(send).IsReady());
  other.Join();
  Require(tx.capacity() == 0);
  Require(absl::IsResourceExhausted(tx.TrySend(5)));
  Require(rx.TryReceive().ok() && rx.TryReceive().ok());
}

// A channel that never has two messages always has room.
MODEL_TEST(MpmcPositions, CapacityDuringASendAndAReceive,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(2);
  Thread other([&, &tx = tx, &rx = rx] {
    for (int i = 0; i < 2; ++i) {
      Require(tx.TrySend(int{i}).ok());
      Require(rx.TryReceive().ok());
    }
  });
  Require(tx.capacity() >= 1);
}

// ---- The line of the senders.

// Later sends get no place before the first.
MODEL_TEST(MpmcPositions, APlaceGoesToTheFirstInLine, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = Channel<int>(1);
  const Sender<int> tx2 = tx;
  Require(tx.TrySend(0).ok());
  auto first = tx.Send(1);
  auto second = tx.Send(2);
  Require(first_task.Poll(first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Thread receiving([&, &rx = rx] { Require(*rx.TryReceive() == 0); });
  Thread trying([&] { Require(absl::IsResourceExhausted(tx2.TrySend(3))); });
  Require(second_task.Poll(second).IsPending());
  Require(first_task.Await(first).ok());
  receiving.Join();
  Require(!second_task.woken());
  Require(*rx.TryReceive() == 1);
}

// The first send leaves while a place becomes free, and the next gets it.
MODEL_TEST(MpmcPositions, TheFirstSendInLineLeavesDuringAReceive,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  std::optional<SendFuture<int>> first(tx.Send(1));
  auto second = tx.Send(2);
  Require(first_task.Poll(*first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Thread receiving([&, &rx = rx] { Require(*rx.TryReceive() == 0); });
  Thread leaving([&] { first.reset(); });
  Require(second_task.Await(second).ok());
}

// A place is given up while another send begins to wait.
MODEL_TEST(MpmcPositions, APlaceIsGivenUpForANewcomer, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  std::optional<SendFuture<int>> first(tx.Send(1));
  auto second = tx.Send(2);
  Require(first_task.Poll(*first).IsPending());
  Require(*rx.TryReceive() == 0);
  Thread leaving([&] { first.reset(); });
  Require(second_task.Await(second).ok());
}

// A place that was promised to a send passes to the next send that waits.
MODEL_TEST(MpmcPositions, ACancelledSendPassesItsPlaceOn,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  std::optional<SendFuture<int>> leaving(tx.Send(1));
  Require(PollOnce(*leaving).IsPending());
  Thread receiving([&, &rx = rx] { Require(BlockOn(rx.Receive()) == 0); });
  Thread dropping([&] { leaving.reset(); });
  Require(BlockOn(tx.Send(2)).ok());
}

// A third send waits although it has a place, and another is refused.
MODEL_TEST(MpmcPositions, APlaceIsUsedForAThirdSender, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task tasks[3];
  auto [tx, rx] = Channel<int>(3);
  for (int i = 0; i < 3; ++i) Require(tx.TrySend(int{i}).ok());
  auto first = tx.Send(3);
  auto second = tx.Send(4);
  auto third = tx.Send(5);
  Require(tasks[0].Poll(first).IsPending());
  Require(tasks[1].Poll(second).IsPending());
  Require(tasks[2].Poll(third).IsPending());
  std::vector<int> out;
  Require(*PollOnce(rx.ReceiveMany(out, 3)) == 3);
  Require(tx.capacity() == 0);
  Thread sending([&] { Require(tasks[1].Poll(second)->ok()); });
  Require(absl::IsResourceExhausted(tx.TrySend(6)));
  Require(tasks[2].Await(third).ok());
  sending.Join();
  Require(tasks[0].Poll(first)->ok());
}

// As above, but one of the two with promises leaves.
MODEL_TEST(MpmcPositions, APlaceIsGivenUpForAThirdSender,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Task tasks[3];
  auto [tx, rx] = Channel<int>(3);
  for (int i = 0; i < 3; ++i) Require(tx.TrySend(int{i}).ok());
  std::optional<SendFuture<int>> first(tx.Send(3));
  auto second = tx.Send(4);
  auto third = tx.Send(5);
  Require(tasks[0].Poll(*first).IsPending());
  Require(tasks[1].Poll(second).IsPending());
  Require(tasks[2].Poll(third).IsPending());
  std::vector<int> out;
  Require(*PollOnce(rx.ReceiveMany(out, 3)) == 3);
  Thread leaving([&] { first.reset(); });
  Require(tasks[2].Await(third).ok());
  leaving.Join();
  Require(tx.TrySend(6).ok());
  Require(absl::IsResourceExhausted(tx.TrySend(7)));
}

// ---- The end.

// The send fails, or its message is received.
MODEL_TEST(MpmcPositions, ACloseBesideAPromisedSend, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  auto send = tx.Send(1);
  Require(task.Poll(send).IsPending());
  Require(*rx.TryReceive() == 0);
  Thread closing([&, &rx = rx] { rx.Close(); });
  const bool sent = task.Await(send).ok();
  closing.Join();
  Require(rx.TryReceive().ok() == sent);
  Require(sent || send.TakeValue() == 1);
}

// The end forgets the promise, which is given up before or after that.
MODEL_TEST(MpmcPositions, ACloseWhileAPlaceIsGivenUp, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  std::optional<SendFuture<int>> first(tx.Send(1));
  auto second = tx.Send(2);
  Require(first_task.Poll(*first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Require(*rx.TryReceive() == 0);
  Thread closing([&, &rx = rx] { rx.Close(); });
  Thread leaving([&] { first.reset(); });
  const bool sent = second_task.Await(second).ok();
  closing.Join();
  leaving.Join();
  Require(rx.TryReceive().ok() == sent);
  Require(rx.capacity() == 1);
}

// A send that waits is polled before the close has woken it.
MODEL_TEST(MpmcPositions, AWaitingSendIsPolledDuringAClose,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task first_task;
  Task second_task;
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  auto first = tx.Send(1);
  auto second = tx.Send(2);
  Require(first_task.Poll(first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Thread closing([&, &rx = rx] { rx.Close(); });
  if (first_task.Poll(first).IsPending()) {
    Require(absl::IsCancelled(first_task.Await(first)));
  }
  Require(absl::IsCancelled(second_task.Await(second)));
}

// ---- Polls without budget.

// The send keeps its place until the next poll, or fails.
MODEL_TEST(MpmcPositions, APlaceIsKeptWithoutBudget, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = Channel<int>(1);
  const Sender<int> tx2 = tx;
  Require(tx.TrySend(0).ok());
  auto send = tx.Send(1);
  Require(task.Poll(send).IsPending());
  Thread receiving([&, &rx = rx] { Require(*rx.TryReceive() == 0); });
  Thread trying([&] { Require(!tx2.TrySend(2).ok()); });
  Require(task.PollWithoutBudget(send).IsPending());
  Require(task.Await(send).ok());
}

MODEL_TEST(MpmcPositions, ACloseBesideASendThatHasYielded,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  auto send = tx.Send(1);
  Require(task.Poll(send).IsPending());
  Require(*rx.TryReceive() == 0);
  Thread closing([&, &rx = rx] { rx.Close(); });
  Require(task.PollWithoutBudget(send).IsPending());
  const bool sent = task.Await(send).ok();
  closing.Join();
  Require(rx.TryReceive().ok() == sent);
}

// The send takes its place in the line, or is woken by its own yield.
MODEL_TEST(MpmcPositions, ASendBeginsToWaitWithoutBudget,
           .mode = Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  auto send = tx.Send(1);
  Thread receiving([&, &rx = rx] { Require(*rx.TryReceive() == 0); });
  Require(task.PollWithoutBudget(send).IsPending());
  Require(task.Await(send).ok());
}

}  // namespace
}  // namespace rouse::mpmc
