// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Concurrent senders and receivers of a channel. Blocks have two slots here, so
// that three messages need more than one block. The slots are plain data:
// taking a message too early or twice is a race. A lost wake-up is a deadlock.
// mpmc_positions_model_test.cc has the models of the futures that wait, and
// mpmc_queue_model_test.cc those of the queue alone.

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/mpmc/mpmc.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/testing/poll_once.h"

namespace rouse::mpmc {
namespace {

using model::Mode;
using model::Require;
using model::Thread;

// Sends the messages `first`, `first` + 1, ... from a new thread, and destroys
// the sender.
Thread Sending(UnboundedSender<int> tx, int first, int count = 1) {
  return Thread([tx = std::optional(std::move(tx)), first, count]() mutable {
    for (int i = 0; i < count; ++i) Require(tx->Send(first + i).ok());
    tx.reset();
  });
}

// Destroys a handle in a new thread.
template <class End>
Thread Dropping(End end) {
  return Thread(
      [end = std::optional(std::move(end))]() mutable { end.reset(); });
}

MODEL_TEST(MpmcLarge, TwoSendersAndTwoReceivers, .mode = Mode::kRandom,
           .max_executions = 5000) {
  auto channel = UnboundedChannel<int>();
  auto& rx = channel.second;
  UnboundedReceiver<int> rx2 = rx;
  Thread first = Sending(channel.first, 1);
  Thread second = Sending(std::move(channel.first), 2);
  std::optional<int> there;
  Thread receiving([&] { there = BlockOn(rx2.Receive()); });
  const std::optional<int> here = BlockOn(rx.Receive());
  receiving.Join();
  Require(here.has_value() && there.has_value() && *here + *there == 3);
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

MODEL_TEST(MpmcLarge, BoundedTwoSendersAndTwoReceivers, .mode = Mode::kRandom,
           .max_executions = 5000) {
  auto channel = Channel<int>(1);
  auto& [tx, rx] = channel;
  Receiver<int> rx2 = rx;
  const Sender<int> tx2 = tx;
  Thread first([&] { Require(BlockOn(channel.first.Send(1)).ok()); });
  Thread second([&] { Require(BlockOn(tx2.Send(2)).ok()); });
  std::optional<int> there;
  Thread receiving([&] { there = BlockOn(rx2.Receive()); });
  const std::optional<int> here = BlockOn(rx.Receive());
  receiving.Join();
  first.Join();
  second.Join();
  Require(here.has_value() && there.has_value() && *here + *there == 3);
  Require(tx.capacity() == 1);
}

MODEL_TEST(Mpmc, ASendWakesAReceiver, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread other = Sending(std::move(tx), 0);
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

MODEL_TEST(Mpmc, ASendWaitsForRoom, .mode = Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  Thread other([tx = std::optional(std::move(tx))]() mutable {
    Require(BlockOn(tx->Send(1)).ok());
    tx.reset();
  });
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == 1);
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

// A receiver that was woken for a message is destroyed: the other is woken.
MODEL_TEST(Mpmc, ACancelledReceivePassesTheMessageOn, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  std::optional leaving(rx.Receive());
  Require(PollOnce(*leaving).IsPending());
  Thread sending([&, &tx = tx] { Require(tx.Send(1).ok()); });
  Thread dropping([&] { leaving.reset(); });
  Require(BlockOn(rx2.Receive()) == 1);
}

MODEL_TEST(Mpmc, ASendIsCancelledWhileTheChannelCloses, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  std::optional<SendFuture<int>> send(tx.Send(1));
  Require(PollOnce(*send).IsPending());
  Thread other([&] { send.reset(); });
  Require(BlockOn(rx.Receive()) == 0);
  rx.Close();
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

// Messages that were sent before the close are received, and no others.
MODEL_TEST(Mpmc, AnUnboundedChannelIsClosedDuringSends, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  int sent = 0;
  Thread other([&, &tx = tx] {
    if (tx.Send(0).ok()) ++sent;
    if (tx.Send(1).ok()) ++sent;
  });
  rx.Close();
  int received = 0;
  while (BlockOn(rx.Receive()).has_value()) ++received;
  other.Join();
  Require(received == sent);
  Require(rx.IsEmpty());
}

MODEL_TEST(Mpmc, ABoundedChannelIsClosedDuringASend, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(2);
  int sent = 0;
  Thread other([&, &tx = tx] {
    if (tx.TrySend(0).ok()) ++sent;
  });
  rx.Close();
  int received = 0;
  while (BlockOn(rx.Receive()).has_value()) ++received;
  other.Join();
  Require(received == sent);
}

// One receiver closes the channel, and the other, which waits, is woken.
MODEL_TEST(Mpmc, ACloseWakesTheOtherReceiver, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  Thread closing([&, &rx = rx] { rx.Close(); });
  Require(BlockOn(rx2.Receive()) == std::nullopt);
}

MODEL_TEST(Mpmc, TwoReceiversClose, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  Require(tx.Send(0).ok());
  Thread closing([&, &rx = rx] { rx.Close(); });
  rx2.Close();
  Require(!tx.Send(1).ok());
  closing.Join();
  Require(BlockOn(rx2.Receive()) == 0);
  Require(BlockOn(rx2.Receive()) == std::nullopt);
}

MODEL_TEST(Mpmc, TheLastSenderIsDestroyedDuringAClose, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Require(tx.Send(0).ok());
  Thread dropping = Dropping(std::move(tx));
  rx.Close();
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == std::nullopt);
  dropping.Join();
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

// Counts the destroyed instances, in plain data: they are destroyed one after
// another.
class Counted {
 public:
  explicit Counted(model::Cell<int>* destroyed) : destroyed_(destroyed) {}
  Counted(Counted&& other) noexcept
      : destroyed_(std::exchange(other.destroyed_, nullptr)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (destroyed_ != nullptr) ++destroyed_->Write();
  }

 private:
  model::Cell<int>* destroyed_;
};

// The last receiver is destroyed during a send: the message is destroyed too,
// or is refused.
MODEL_TEST(Mpmc, TheLastReceiverIsDestroyedDuringASend, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<Counted>();
  model::Cell<int> destroyed(0);
  Thread other = Dropping(std::move(rx));
  const absl::Status sent = tx.Send(Counted(&destroyed));
  other.Join();
  Require(destroyed.Read() == 1);
  Require(tx.IsClosed());
}

// A send that has claimed its position is waited for.
MODEL_TEST(MpmcLarge, TheLastReceiverIsDestroyedDuringTwoSends,
           .mode = Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  auto channel = UnboundedChannel<Counted>();
  auto& [tx, rx] = channel;
  model::Cell<int> here(0);
  model::Cell<int> there(0);
  Thread dropping = Dropping(std::move(rx));
  Thread sending([&] { (void)channel.first.Send(Counted(&there)); });
  (void)tx.Send(Counted(&here));
  sending.Join();
  dropping.Join();
  Require(here.Read() == 1);
  Require(there.Read() == 1);
}

// The last of two receivers closes the channel.
MODEL_TEST(Mpmc, TwoReceiversAreDestroyed, .mode = Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<Counted>();
  model::Cell<int> destroyed(0);
  Require(tx.Send(Counted(&destroyed)).ok());
  Thread first = Dropping(rx);
  Thread second = Dropping(std::move(rx));
  first.Join();
  second.Join();
  Require(tx.IsClosed());
  Require(destroyed.Read() == 1);
}

// The last end frees the channel.
MODEL_TEST(Mpmc, BothEndsAreDestroyedAtOnce, .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  std::optional<UnboundedSender<int>> tx(std::move(channel.first));
  Require(tx->Send(1).ok());
  Thread receiver = Dropping(std::move(channel.second));
  tx.reset();
}

MODEL_TEST(Mpmc, AWeakSenderIsDestroyedWithTheOthers, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::optional<WeakUnboundedSender<int>> weak(tx.Downgrade());
  Thread receiver = Dropping(std::move(rx));
  Thread sender = Dropping(std::move(tx));
  const std::optional<UnboundedSender<int>> upgraded = weak->Upgrade();
  Require(!upgraded.has_value() || weak->strong_count() >= 1);
  weak.reset();
}

MODEL_TEST(Mpmc, HandlesAreCopiedConcurrently, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread other([&, &tx = tx, &rx = rx] {
    const UnboundedSender<int> copy(tx);
    const WeakUnboundedSender<int> weak = tx.Downgrade();
    const UnboundedReceiver<int> receiver(rx);
  });
  const UnboundedSender<int> copy(tx);
  const WeakUnboundedSender<int> weak = tx.Downgrade();
  const UnboundedReceiver<int> receiver(rx);
  other.Join();
  Require(tx.strong_count() == 2);
  Require(tx.weak_count() == 1);
  Require(tx.receiver_count() == 2);
}

// ---- The number of messages.

MODEL_TEST(Mpmc, NonemptyAfterSend, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread other = Sending(tx, 0);
  Require(tx.Send(1).ok());
  Require(rx.size() != 0);
  other.Join();
  Require(rx.size() == 2);
}

// A queue that always has a message never seems empty.
MODEL_TEST(Mpmc, NonemptyDuringSendsAndReceives, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  UnboundedReceiver<int> rx2 = rx;
  Require(tx.Send(0).ok());
  Thread other([&, &tx = tx] {
    Require(tx.Send(1).ok());
    Require(rx2.TryReceive().ok());
  });
  Require(!rx.IsEmpty());
}

MODEL_TEST(Mpmc, IsEmptyDuringClose, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread dropping = Dropping(std::move(tx));
  Require(rx.IsEmpty());
}

// ---- What is visible.

// The last sender counts as destroyed even before it has notified the queue.
MODEL_TEST(Mpmc, TheDestructionOfSendersShowsTheirMessages,
           .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  UnboundedReceiver<int>& rx = channel.second;
  Thread other = Sending(std::move(channel.first), 0);
  if (!rx.IsClosed()) return;
  Require(!rx.IsEmpty());
  Require(rx.TryReceive().ok());
  Require(absl::IsCancelled(rx.TryReceive().status()));
}

MODEL_TEST(Mpmc, TheEndShowsWhatCameBefore, .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  model::Cell<int> done(0);
  Thread other([&, tx = std::optional(std::move(channel.first))]() mutable {
    done.Write() = 1;
    tx.reset();
  });
  if (absl::IsCancelled(channel.second.TryReceive().status())) {
    Require(done.Read() == 1);
  }
}

MODEL_TEST(Mpmc, TheEndAfterAMessageShowsWhatCameBefore, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  Require(channel.first.Send(1).ok());
  model::Cell<int> done(0);
  Thread other([&, tx = std::optional(std::move(channel.first))]() mutable {
    done.Write() = 1;
    tx.reset();
  });
  Require(BlockOn(channel.second.Receive()) == 1);
  Require(BlockOn(channel.second.Receive()) == std::nullopt);
  Require(done.Read() == 1);
}

MODEL_TEST(Mpmc, TheEndShowsWhatAllSendersDid, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  model::Cell<int> done(0);
  Thread first([&, tx = std::optional(channel.first)]() mutable {
    done.Write() = 1;
    tx.reset();
  });
  Thread second = Dropping(std::move(channel.first));
  Require(BlockOn(channel.second.Receive()) == std::nullopt);
  Require(done.Read() == 1);
}

MODEL_TEST(Mpmc, TheLastReceiverShowsWhatOthersDid, .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  model::Cell<int> done(0);
  std::optional<UnboundedReceiver<int>> last(channel.second);
  Thread first([&, rx = std::optional(std::move(channel.second))]() mutable {
    done.Write() = 1;
    rx.reset();
  });
  last.reset();
  if (channel.first.IsClosed()) Require(done.Read() == 1);
}

MODEL_TEST(Mpmc, ARefusedSendSeesWhatCameBeforeTheClose,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  model::Cell<int> done(0);
  Thread other([&, &rx = rx] {
    done.Write() = 1;
    rx.Close();
  });
  if (!tx.Send(1).ok()) Require(done.Read() == 1);
}

MODEL_TEST(Mpmc, ARefusedBoundedSendSeesWhatCameBeforeTheClose,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  model::Cell<int> done(0);
  Thread other([&, &rx = rx] {
    done.Write() = 1;
    rx.Close();
  });
  if (!tx.TrySend(1).ok()) Require(done.Read() == 1);
}

MODEL_TEST(Mpmc, TheCloseShowsWhatCameBefore, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  model::Cell<int> done(0);
  Thread other([&, &rx = rx] {
    done.Write() = 1;
    rx.Close();
  });
  if (tx.IsClosed()) Require(done.Read() == 1);
}

// Two blocks' worth of messages, and a receiver that waits in between.
MODEL_TEST(MpmcLarge, TwoSendersCrossABlockBeforeAReceiver,
           .mode = Mode::kRandom, .max_executions = 5000) {
  auto channel = UnboundedChannel<int>();
  auto& rx = channel.second;
  Thread first = Sending(channel.first, 1, 2);
  Thread second = Sending(std::move(channel.first), 4);
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += *BlockOn(rx.Receive());
  Require(sum == 7);
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

// Records the addresses at which it was.
class Traveller {
 public:
  explicit Traveller(std::set<const void*>* places) : places_(places) {}
  Traveller(Traveller&& other) noexcept : places_(other.places_) {
    places_->insert(this);
  }
  Traveller& operator=(Traveller&&) = delete;

 private:
  std::set<const void*>* places_;
};

// The heap never returns the same address twice: a block that is not recycled
// has new addresses.
MODEL_TEST(Mpmc, BlocksAreReused, .spurious_failures = 0) {
  std::set<const void*> places;
  auto [tx, rx] = UnboundedChannel<Traveller>();
  const auto pass_some = [&, &tx = tx, &rx = rx] {
    for (int i = 0; i < 12; ++i) {
      Require(tx.Send(Traveller(&places)).ok());
      Require(BlockOn(rx.Receive()).has_value());
    }
  };
  pass_some();
  const size_t before = places.size();
  pass_some();
  Require(places.size() == before);
}

MODEL_MUTANTS(Mpmc,
              "sync/mpmc/core.|sync/mpmc/shared.|sync/mpmc/sender.|"
              "sync/mpmc/receiver.|sync/internal/sender_counts.");

}  // namespace
}  // namespace rouse::mpmc
