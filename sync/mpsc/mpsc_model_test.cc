// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Concurrent senders and the receiver of a channel. Blocks have two slots here,
// so that three messages need more than one block. The slots are plain data:
// reading a message too early, or reusing a block too early, is a race. A lost
// wake-up is a deadlock.

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/mpsc/mpsc.h"
#include "rouse/sync/mpsc/queue.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc {
namespace {

using model::Mode;
using model::Require;
using model::Thread;

// Sends `count` messages from a new thread, and destroys the sender.
Thread Sending(Sender<int> tx, int count = 1) {
  return Thread([tx = std::optional(std::move(tx)), count]() mutable {
    for (int i = 0; i < count; ++i) Require(tx->TrySend(int{i}).ok());
    tx.reset();
  });
}
Thread Sending(UnboundedSender<int> tx, int count = 1) {
  return Thread([tx = std::optional(std::move(tx)), count]() mutable {
    for (int i = 0; i < count; ++i) Require(tx->Send(int{i}).ok());
    tx.reset();
  });
}

// Destroys a handle in a new thread.
template <class End>
Thread Dropping(End end) {
  return Thread(
      [end = std::optional(std::move(end))]() mutable { end.reset(); });
}

// ---- Tokio's models.

MODEL_TEST(Mpsc, ClosingTx, .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(16);
  Thread sending = Sending(std::move(tx));
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

MODEL_TEST(Mpsc, ClosingUnboundedTx, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread sending = Sending(std::move(tx));
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

MODEL_TEST(Mpsc, ClosingBoundedRx, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(16);
  const Sender<int> other = tx;
  Thread dropping = Dropping(std::move(rx));
  BlockOn(tx.Closed());
  Require(tx.IsClosed());
  BlockOn(other.Closed());
}

MODEL_TEST(Mpsc, ClosingUnboundedRx, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  const UnboundedSender<int> other = tx;
  Thread dropping = Dropping(std::move(rx));
  BlockOn(tx.Closed());
  BlockOn(other.Closed());
}

MODEL_TEST(MpscLarge, ClosingAndSending, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto channel = Channel<int>(16);
  const Sender<int>& tx = channel.first;
  Thread sending([&] { Require(tx.TrySend(1).ok()); });
  Thread waiting([&] { BlockOn(tx.Closed()); });
  Thread receiving([rx = std::optional(std::move(channel.second))]() mutable {
    Require(BlockOn(rx->Receive()) == 1);
    rx.reset();
  });
}

MODEL_TEST(Mpsc, DroppingTx, .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(16);
  Thread first = Dropping(tx);
  Thread second = Dropping(std::move(tx));
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

MODEL_TEST(Mpsc, DroppingUnboundedTx, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread first = Dropping(tx);
  Thread second = Dropping(std::move(tx));
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

// A receiver that has a permit of the semaphore knows that there is a message.
// Another sender may have claimed an earlier place, and not have finished.
MODEL_TEST(Mpsc, TryRecv, .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(2);
  Thread other = Sending(tx);
  Require(tx.TrySend(0).ok());
  Require(rx.TryReceive().ok());
  other.Join();
  Require(rx.TryReceive().ok());
  Require(absl::IsUnavailable(rx.TryReceive().status()));
}

MODEL_TEST(Mpsc, LenNonzeroAfterSend, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(10);
  Thread other = Sending(tx);
  Require(tx.TrySend(1).ok());
  Require(rx.size() != 0);
  other.Join();
  Require(rx.size() == 2);
}

MODEL_TEST(Mpsc, NonemptyAfterSend, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(10);
  Thread other = Sending(tx);
  Require(tx.TrySend(1).ok());
  Require(!rx.IsEmpty());
}

MODEL_TEST(Mpsc, IsEmptyDuringClose, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(10);
  Thread dropping = Dropping(std::move(tx));
  Require(rx.IsEmpty());
}

// Trap C4.
void LenDuringClose(int count) {
  auto [tx, rx] = Channel<int>(10);
  for (int i = 0; i < count; ++i) Require(tx.TrySend(int{i}).ok());
  Thread dropping = Dropping(std::move(tx));
  for (int i = 0; i < count; ++i) {
    Require(rx.size() == static_cast<size_t>(count - i));
    Require(rx.TryReceive().ok());
  }
  Require(rx.size() == 0);
}

MODEL_TEST(Mpsc, LenDuringClose0, .spurious_failures = 0) { LenDuringClose(0); }
MODEL_TEST(Mpsc, LenDuringClose1, .spurious_failures = 0) { LenDuringClose(1); }
MODEL_TEST(Mpsc, LenDuringCloseBlockCap, .spurious_failures = 0) {
  LenDuringClose(internal::kBlockSlots);
}
MODEL_TEST(Mpsc, LenDuringCloseBlockCapPlus1, .spurious_failures = 0) {
  LenDuringClose(internal::kBlockSlots + 1);
}

// ---- Rouse's own models.

using IntQueue = internal::Queue<int>;

void Push(IntQueue& queue, int count) {
  for (int i = 0; i < count; ++i) {
    Require(queue.Push(int{i}) == internal::PushResult::kPushed);
  }
}

// Pops the available values, at most `limit`.
int Pop(IntQueue& queue, int limit) {
  int count = 0;
  for (; count < limit && queue.HasFront(); ++count) queue.PopFront();
  return count;
}

// Two pushes meet at the end of a block, and both need the next block.
MODEL_TEST(Mpsc, TwoPushesCrossABlockBoundary, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  IntQueue queue;
  Push(queue, 1);
  Thread first([&] { Push(queue, 2); });
  Thread second([&] { Push(queue, 2); });
  first.Join();
  second.Join();
  Require(Pop(queue, 6) == 5);
}

// The first push to the second block may find no block at all.
MODEL_TEST(Mpsc, ThreePushesMakeTheFirstBlocks, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  IntQueue queue;
  Thread first([&] { Push(queue, 1); });
  Thread second([&] { Push(queue, 1); });
  Push(queue, 1);
  first.Join();
  second.Join();
  Require(Pop(queue, 4) == 3);
}

// Blocks are reused while a push searches for its place.
MODEL_TEST(Mpsc, BlocksAreReusedDuringAPush, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  IntQueue queue;
  Push(queue, 5);
  Thread other([&] { Push(queue, 3); });
  const int popped = Pop(queue, 7);
  other.Join();
  Require(popped + Pop(queue, 8) == 8);
}

MODEL_TEST(Mpsc, BlocksAreReusedDuringTwoPushes, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  IntQueue queue;
  Push(queue, 2);
  Thread first([&] { Push(queue, 3); });
  Thread second([&] { Push(queue, 1); });
  const int popped = Pop(queue, 5);
  first.Join();
  second.Join();
  Require(popped + Pop(queue, 6) == 6);
}

// A reused block and a new block compete for the same place.
MODEL_TEST(Mpsc, AReusedBlockCompetesWithANewOne, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  IntQueue queue;
  Push(queue, 6);
  Thread other([&] { Push(queue, 1); });
  const int popped = Pop(queue, 5);
  other.Join();
  Push(queue, 4);
  Require(popped + Pop(queue, 11) == 11);
}

// The receiver waits in the block that the receiver or the sender appends.
MODEL_TEST(MpscLarge, WaitsAtABlockBoundary, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  for (int i = 0; i < 2; ++i) Require(tx.Send(int{i}).ok());
  for (int i = 0; i < 2; ++i) Require(*rx.TryReceive() == i);
  Thread other = Sending(std::move(tx), 2);
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == 1);
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

MODEL_TEST(MpscLarge, ReceivesFromTwoSenders, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  // Makes the first block, whose race has models of its own.
  Require(tx.Send(0).ok());
  Thread first = Sending(tx);
  Thread second = Sending(std::move(tx));
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

// A cancelled receive leaves the message for the next receive.
MODEL_TEST(Mpsc, AReceiveIsCancelledDuringASend, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread other = Sending(std::move(tx));
  std::optional<int> value;
  {
    auto receive = rx.Receive();
    auto result = PollOnce(receive, Waker::FromCallable([] {}));
    if (result.IsReady()) value = *result;
  }
  if (!value.has_value()) value = BlockOn(rx.Receive());
  Require(value == 0);
}

MODEL_TEST(Mpsc, ASendWaitsForRoom, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  Thread other([tx = std::optional(std::move(tx))]() mutable {
    Require(BlockOn(tx->Send(1)).ok());
    tx.reset();
  });
  Require(BlockOn(rx.Receive()) == 0);
  Require(BlockOn(rx.Receive()) == 1);
}

// Messages that were sent before the close are received, and no others.
MODEL_TEST(Mpsc, AnUnboundedChannelIsClosedDuringSends, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  int sent = 0;
  Thread other([&] {
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

MODEL_TEST(Mpsc, ABoundedChannelIsClosedDuringASend, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(2);
  int sent = 0;
  Thread other([&] {
    if (tx.TrySend(0).ok()) ++sent;
  });
  rx.Close();
  int received = 0;
  while (BlockOn(rx.Receive()).has_value()) ++received;
  other.Join();
  Require(received == sent);
}

// Trap C5.
MODEL_TEST(MpscLarge, PermitsReturnWhileTheChannelCloses,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(2);
  Thread first = Dropping(tx.TryReserve());
  Thread second = Dropping(tx.TryReserve());
  rx.Close();
  Require(BlockOn(rx.Receive()) == std::nullopt);
}

// Trap C5.
MODEL_TEST(Mpsc, AWaitingSendIsCancelledWhileTheChannelCloses,
           .mode = Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  Require(tx.TrySend(0).ok());
  std::optional<SendFuture<int>> send(tx.Send(1));
  Require(PollOnce(*send).IsPending());
  Thread other([&] { send.reset(); });
  Require(BlockOn(rx.Receive()) == 0);
  rx.Close();
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

// The receiver is destroyed during a send: the message is destroyed too, and at
// once.
MODEL_TEST(Mpsc, TheReceiverIsDestroyedDuringASend, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<Counted>();
  model::Cell<int> destroyed(0);
  Thread other = Dropping(std::move(rx));
  static_cast<void>(tx.Send(Counted(&destroyed)));
  other.Join();
  Require(destroyed.Read() == 1);
}

// The second of two sends may finish first. Its message is destroyed with the
// first message at the latest.
MODEL_TEST(Mpsc, TheReceiverIsDestroyedDuringTwoSends, .mode = Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = Channel<Counted>(2);
  absl::StatusOr<Permit<Counted>> first = tx.TryReserve();
  absl::StatusOr<Permit<Counted>> second = tx.TryReserve();
  model::Cell<int> destroyed(0);
  Thread dropping = Dropping(std::move(rx));
  Thread other([&] { std::move(*first).Send(Counted(&destroyed)); });
  std::move(*second).Send(Counted(&destroyed));
  other.Join();
  dropping.Join();
  Require(destroyed.Read() == 2);
}

// Later messages are received by their senders, one after another.
MODEL_TEST(Mpsc, TwoSendAfterTheReceiverIsDestroyed, .spurious_failures = 0) {
  auto channel = Channel<Counted>(3);
  const Sender<Counted>& tx = channel.first;
  absl::StatusOr<PermitBatch<Counted>> first = tx.TryReserveMany(2);
  absl::StatusOr<Permit<Counted>> second = tx.TryReserve();
  {
    const auto dropped = std::move(channel.second);
  }
  model::Cell<int> destroyed(0);
  Thread other([&] {
    first->Send(Counted(&destroyed));
    first->Send(Counted(&destroyed));
  });
  std::move(*second).Send(Counted(&destroyed));
  other.Join();
  Require(destroyed.Read() == 3);
}

// The return of a place, or the destruction of the last sender, is the end of
// the channel. This end must not be missed because a message has arrived just
// before, and the channel must be freed.
MODEL_TEST(Mpsc, TheLastHandleIsDestroyedWhileALateMessageArrives,
           .spurious_failures = 0) {
  auto channel = Channel<Counted>(2);
  std::optional<Sender<Counted>> tx(std::move(channel.first));
  std::optional<absl::StatusOr<OwnedPermit<Counted>>> idle(
      tx->TryReserveOwned());
  absl::StatusOr<Permit<Counted>> permit = tx->TryReserve();
  {
    const auto dropped = std::move(channel.second);
  }
  model::Cell<int> destroyed(0);
  Thread other([&] { idle.reset(); });
  std::move(*permit).Send(Counted(&destroyed));
  Require(destroyed.Read() == 1);
  tx.reset();
}

// The last end frees the channel.
MODEL_TEST(Mpsc, BothEndsAreDestroyedAtOnce, .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  std::optional<UnboundedSender<int>> tx(std::move(channel.first));
  Require(tx->Send(1).ok());
  Thread receiver = Dropping(std::move(channel.second));
  tx.reset();
}

MODEL_TEST(Mpsc, AWeakSenderIsDestroyedWithTheOthers, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  std::optional<WeakUnboundedSender<int>> weak(tx.Downgrade());
  Thread receiver = Dropping(std::move(rx));
  Thread sender = Dropping(std::move(tx));
  const std::optional<UnboundedSender<int>> upgraded = weak->Upgrade();
  Require(!upgraded.has_value() || weak->strong_count() >= 1);
  weak.reset();
}

MODEL_TEST(Mpsc, SendersAreCopiedConcurrently, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Thread other([&] {
    const UnboundedSender<int> copy(tx);
    const WeakUnboundedSender<int> weak = tx.Downgrade();
  });
  const UnboundedSender<int> copy(tx);
  const WeakUnboundedSender<int> weak = tx.Downgrade();
  other.Join();
  Require(tx.strong_count() == 2);
  Require(tx.weak_count() == 1);
}

// The last sender closes the channel behind all messages.
MODEL_TEST(Mpsc, TheLastSenderClosesBehindAllMessages, .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  std::optional<UnboundedSender<int>> tx(std::move(channel.first));
  Thread other = Sending(*tx, internal::kBlockSlots);
  tx.reset();
  other.Join();
  for (size_t i = 0; i < internal::kBlockSlots; ++i) {
    Require(channel.second.TryReceive().ok());
  }
  Require(absl::IsCancelled(channel.second.TryReceive().status()));
  // `TryReceive()` has also checked the senders. `Receive()` uses only the
  // queue.
  Require(BlockOn(channel.second.Receive()) == std::nullopt);
}

void TestTheEndShowsWhatCameBefore(UnboundedSender<int> sender,
                                   UnboundedReceiver<int> receiver) {
  model::Cell<int> done(0);
  Thread other([&done, tx = std::optional(std::move(sender))]() mutable {
    done.Write() = 1;
    tx.reset();
  });
  if (absl::IsCancelled(receiver.TryReceive().status())) {
    Require(done.Read() == 1);
  }
}

MODEL_TEST(Mpsc, TheEndShowsWhatCameBefore, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  TestTheEndShowsWhatCameBefore(std::move(tx), std::move(rx));
}

MODEL_TEST(Mpsc, TheEndAfterAMessageShowsWhatCameBefore,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  Require(tx.Send(1).ok());
  Require(rx.TryReceive().ok());
  TestTheEndShowsWhatCameBefore(std::move(tx), std::move(rx));
}

// The last sender counts as destroyed even before it has notified the queue.
MODEL_TEST(Mpsc, TheDestructionOfSendersShowsTheirMessages,
           .spurious_failures = 0) {
  auto channel = UnboundedChannel<int>();
  UnboundedReceiver<int>& rx = channel.second;
  Thread other = Sending(std::move(channel.first));
  if (!rx.IsClosed()) return;
  Require(!rx.IsEmpty());
  Require(rx.TryReceive().ok());
  Require(absl::IsCancelled(rx.TryReceive().status()));
}

MODEL_TEST(Mpsc, ARefusedSendSeesWhatCameBeforeTheClose,
           .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  model::Cell<int> done(0);
  Thread other([&] {
    done.Write() = 1;
    rx.Close();
  });
  if (!tx.Send(1).ok()) Require(done.Read() == 1);
}

MODEL_TEST(Mpsc, ARefusedBoundedSendSeesWhatCameBeforeTheClose,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  model::Cell<int> done(0);
  Thread other([&] {
    done.Write() = 1;
    rx.Close();
  });
  if (!tx.TrySend(1).ok()) Require(done.Read() == 1);
}

// The end of a closed channel is the return of the last place.
MODEL_TEST(Mpsc, TheEndOfAClosedChannelShowsWhatCameBefore,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  std::optional<absl::StatusOr<Permit<int>>> permit(tx.TryReserve());
  rx.Close();
  model::Cell<int> done(0);
  Thread other([&] {
    done.Write() = 1;
    permit.reset();
  });
  if (absl::IsCancelled(rx.TryReceive().status())) Require(done.Read() == 1);
}

MODEL_TEST(Mpsc, TheCloseShowsWhatCameBefore, .spurious_failures = 0) {
  auto [tx, rx] = UnboundedChannel<int>();
  model::Cell<int> done(0);
  Thread other([&] {
    done.Write() = 1;
    rx.Close();
  });
  if (tx.IsClosed()) Require(done.Read() == 1);
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
MODEL_TEST(Mpsc, BlocksAreReused, .spurious_failures = 0) {
  std::set<const void*> places;
  auto [tx, rx] = UnboundedChannel<Traveller>();
  const auto pass_some = [&] {
    for (int i = 0; i < 8; ++i) {
      Require(tx.Send(Traveller(&places)).ok());
      Require(BlockOn(rx.Receive()).has_value());
    }
  };
  pass_some();
  const size_t before = places.size();
  pass_some();
  Require(places.size() == before);
}

MODEL_MUTANTS(
    Mpsc,
    "sync/mpsc/|sync/internal/block_chain.|sync/internal/closed_event.|"
    "sync/internal/sender_counts.",
    "IsFull at block_chain.h:117: load acquire -> relaxed: killed by "
    "mpmc_queue_model_test, in the IsFull() of mpmc; here the state of the "
    "block passes on the pushes",
    "MoveTail at block_chain.h:196: torn: no other thread changes the state of "
    "a block that is ready in full");

}  // namespace
}  // namespace rouse::mpsc
