// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Concurrent senders, receivers and destructions. Values in boxes are plain
// data: to take a value while another thread destroys it is a race. Values in
// the ring are two words that must belong to the same value.

#include <cstdint>
#include <optional>
#include <utility>

#include "rouse/base/cell.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/broadcast/broadcast.h"
#include "rouse/sync/broadcast/slot.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/poll_result.h"

namespace rouse::broadcast {
namespace {

using model::Require;
using model::Task;
using model::Thread;

// For each number that is sent, a cell that is written by the owner of the
// value itself, and read by a thread that copies the value. The cells are not
// in the boxes, because the place of a box on the heap may have been the place
// of an earlier box. That would be a race under ThreadSanitizer, where the
// checker does not see the heap.
Cell<int> letters[16];

// A value in a box: a number that is sent once.
class Boxed {
 public:
  explicit Boxed(int number) : number_(number), is_itself_(true) { Write(); }
  Boxed(const Boxed& other) : number_(other.number()) {}
  Boxed(Boxed&& other) noexcept { *this = std::move(other); }
  Boxed& operator=(const Boxed&) = delete;
  Boxed& operator=(Boxed&& other) noexcept {
    number_ = std::exchange(other.number_, -1);
    is_itself_ = std::exchange(other.is_itself_, false);
    Write();
    return *this;
  }
  ~Boxed() { Write(); }

  int number() const {
    if (is_itself_) static_cast<void>(letters[number_].Read());
    return number_;
  }

 private:
  void Write() {
    if (is_itself_) letters[number_].Write() = 0;
  }

  int number_ = -1;
  bool is_itself_ = false;  // and not a copy
};
static_assert(!internal::kIsPlain<Boxed>);

// A value in the ring.
class Plain {
 public:
  explicit Plain(uint64_t value) : value_(value), again_(value) {}

  int number() const {
    Require(value_ == again_, "half of one value and half of another");
    return static_cast<int>(value_);
  }

 private:
  uint64_t value_;
  uint64_t again_;
};
static_assert(internal::kIsPlain<Plain>);

template <class T>
void Send(const Sender<T>& tx, int value) {
  static_cast<void>(tx.Send(T(value)));
}

// For a thread: sends, and destroys the sender.
template <class T>
auto Sends(Sender<T> tx, int first, int last) {
  return [tx = std::optional(std::move(tx)), first, last]() mutable {
    for (int i = first; i <= last; ++i) Send(*tx, i);
    tx.reset();
  };
}

// For a thread: receives to the end. The sum of received and missed values must
// be `expected`.
template <class T>
void Counts(Receiver<T> rx, uint64_t expected) {
  uint64_t count = 0;
  for (;;) {
    Received<T> received = BlockOn(rx.Receive());
    if (received.IsClosed()) break;
    if (received.has_value()) Require(received->number() > 0);
    count += received.has_value() ? 1 : received.lagged();
  }
  Require(count == expected);
}

// For a thread: receives 1, 2, .. to the end.
template <class T>
void ReceivesAll(Receiver<T> rx, int last) {
  for (int i = 1; i <= last; ++i) {
    Require(BlockOn(rx.Receive())->number() == i);
  }
  Require(BlockOn(rx.Receive()).IsClosed());
}

// ---- A slot.

template <class T>
void TestReceiveOrMiss() {
  auto [tx, rx] = Channel<T>(1);
  Send(tx, 1);
  Thread sending([&tx = tx] { Send(tx, 2); });
  Received<T> first = rx.TryReceive();
  if (first.has_value()) {
    Require(first->number() == 1);
  } else {
    Require(first.lagged() == 1);
  }
  sending.Join();
  Require(rx.TryReceive()->number() == 2);
  Require(rx.TryReceive().IsEmpty());
  Require(tx.IsEmpty());
}

MODEL_TEST(BroadcastSlot, ABoxIsReceivedOrMissed) {
  TestReceiveOrMiss<Boxed>();
}
MODEL_TEST(BroadcastSlot, APlainValueIsReceivedOrMissed) {
  TestReceiveOrMiss<Plain>();
}

// Receives the value after the first `count` values, which were received or
// missed. Increments `count`.
template <class T>
void TakeNext(Receiver<T>& rx, int& count) {
  Received<T> received = rx.TryReceive();
  if (received.has_value()) {
    Require(received->number() == ++count);
  } else {
    count += static_cast<int>(received.lagged());
  }
}

// The ring comes round twice in the meantime: the slot has shares again.
template <class T>
void TheRingComesRound() {
  auto [tx, rx] = Channel<T>(1);
  Send(tx, 1);
  Thread sending([&tx = tx] {
    Send(tx, 2);
    Send(tx, 3);
  });
  int count = 0;
  TakeNext(rx, count);
  sending.Join();
  while (count != 3) TakeNext(rx, count);
}

MODEL_TEST(BroadcastSlot, TheRingWrapsWhileABoxIsReceived) {
  TheRingComesRound<Boxed>();
}
MODEL_TEST(BroadcastSlot, TheRingWrapsWhileAPlainValueIsReceived) {
  TheRingComesRound<Plain>();
}

// A receiver finds a value without the lock.
template <class T>
void TestNotTorn() {
  auto [tx, rx] = Channel<T>(2);
  Thread sending([&tx = tx] { Send(tx, 1); });
  Received<T> first = rx.TryReceive();
  if (first.has_value()) Require(first->number() == 1);
  sending.Join();
}

MODEL_TEST(BroadcastSlot, ABoxIsNeverTorn) { TestNotTorn<Boxed>(); }
MODEL_TEST(BroadcastSlot, APlainValueIsNeverTorn) { TestNotTorn<Plain>(); }

// One receiver has a copy and the other the value, or both have copies.
MODEL_TEST(BroadcastSlot, TwoReceiveTheSameBox) {
  auto [tx, rx1] = Channel<Boxed>(2);
  Receiver<Boxed> rx2 = tx.Subscribe();
  Send(tx, 1);
  Thread other([&rx2] { Require(rx2.TryReceive()->number() == 1); });
  Require(rx1.TryReceive()->number() == 1);
  other.Join();
  Require(tx.IsEmpty());
}

MODEL_TEST(BroadcastSlot, ThreeReceiveTheSameBox, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  auto [tx, rx1] = Channel<Boxed>(2);
  Receiver<Boxed> rx2 = tx.Subscribe();
  Receiver<Boxed> rx3 = tx.Subscribe();
  Send(tx, 1);
  Thread second([&rx2] { Require(rx2.TryReceive()->number() == 1); });
  Thread third([&rx3] { Require(rx3.TryReceive()->number() == 1); });
  Require(rx1.TryReceive()->number() == 1);
}

// A box is overwritten when one of two receivers has taken its share.
MODEL_TEST(BroadcastSlot, OneReceivesTheBoxAndOneMissesIt,
           .spurious_failures = 0) {
  auto [tx, rx1] = Channel<Boxed>(1);
  Receiver<Boxed> rx2 = tx.Subscribe();
  Send(tx, 1);
  Thread other([&rx2] {
    Received<Boxed> received = rx2.TryReceive();
    if (received.has_value()) Require(received->number() == 1);
  });
  Thread sending([&tx = tx] { Send(tx, 2); });
  Received<Boxed> received = rx1.TryReceive();
  if (received.has_value()) Require(received->number() == 1);
}

MODEL_TEST(BroadcastSlot, AReceiverIsDestroyedWhileItsSharesAreRevoked) {
  auto [tx, rx] = Channel<Boxed>(1);
  const Receiver<Boxed> other = tx.Subscribe();
  Send(tx, 1);
  Thread destroying(
      [rx = std::optional(std::move(rx))]() mutable { rx.reset(); });
  Send(tx, 2);
}

// The orders below matter only in one case: a receiver reads the next payload
// and claims its share before the sender revokes that share and stores that
// payload. This is a cycle that begins with a load of a value that is stored
// later.
MODEL_MUTANTS(BroadcastSlot, "sync/broadcast/slot.",
              "BoxedSlot::Put at: loads are not buffered",
              "BoxedSlot::Take at: loads are not buffered",
              "PlainSlot::Put at: loads are not buffered",
              "PlainSlot::Take at: loads are not buffered");

// ---- Waiters.

// Trap C11 (#2135).
MODEL_TEST(Broadcast, ASendIsSeenOrWakes) {
  auto [tx, rx] = Channel<Boxed>(2);
  Task task;
  Thread sending([&tx = tx] { Send(tx, 1); });
  ReceiveFuture<Boxed> receive = rx.Receive();
  PollResult<Received<Boxed>> result = task.Poll(receive);
  sending.Join();
  if (result.IsPending()) {
    Require(task.woken(), "the wake was lost");
    result = task.Poll(receive);
  }
  Require((*result)->number() == 1);
}

MODEL_TEST(Broadcast, TheCloseIsSeenOrWakes) {
  auto [tx, rx] = Channel<Boxed>(2);
  Task task;
  Thread destroying(
      [tx = std::optional(std::move(tx))]() mutable { tx.reset(); });
  ReceiveFuture<Boxed> receive = rx.Receive();
  PollResult<Received<Boxed>> result = task.Poll(receive);
  destroying.Join();
  if (result.IsPending()) {
    Require(task.woken(), "the wake was lost");
    result = task.Poll(receive);
  }
  Require(result->IsClosed());
}

MODEL_TEST(Broadcast, ASendWakesBothWaiters) {
  auto [tx, rx1] = Channel<Plain>(2);
  Receiver<Plain> rx2 = tx.Subscribe();
  Task task1, task2;
  ReceiveFuture<Plain> receive1 = rx1.Receive();
  ReceiveFuture<Plain> receive2 = rx2.Receive();
  Require(task1.Poll(receive1).IsPending());
  Thread sending([&tx = tx] { Send(tx, 1); });
  const bool waits = task2.Poll(receive2).IsPending();
  sending.Join();
  Require(task1.woken());
  Require(waits == task2.woken());
}

MODEL_TEST(Broadcast, AReceiveIsCancelledDuringASend) {
  auto [tx, rx] = Channel<Boxed>(2);
  Task task;
  std::optional<ReceiveFuture<Boxed>> receive(rx.Receive());
  Require(task.Poll(*receive).IsPending());
  Thread sending([&tx = tx] { Send(tx, 1); });
  receive.reset();
  sending.Join();
  Require(rx.TryReceive()->number() == 1);
}

MODEL_TEST(Broadcast, TheDestructionOfTheLastReceiverIsSeenOrWakes) {
  auto [tx, rx] = Channel<Boxed>(2);
  Send(tx, 1);
  Task task;
  Thread destroying(
      [rx = std::optional(std::move(rx))]() mutable { rx.reset(); });
  ClosedFuture closed = tx.Closed();
  const bool waits = task.Poll(closed).IsPending();
  destroying.Join();
  if (waits) {
    Require(task.woken(), "the wake was lost");
    Require(task.Poll(closed).IsReady());
  }
}

// A future that is notified, and finds a new receiver, waits for that receiver.
MODEL_TEST(Broadcast, TheLastReceiverIsDestroyedAndAnotherSubscribes) {
  auto [tx, rx] = Channel<Boxed>(2);
  Task task;
  ClosedFuture closed = tx.Closed();
  Require(task.Poll(closed).IsPending());
  std::optional<Receiver<Boxed>> next;
  Thread destroying(
      [&next, &tx = tx, rx = std::optional(std::move(rx))]() mutable {
        rx.reset();
        next.emplace(tx.Subscribe());
      });
  if (task.Poll(closed).IsReady()) return;
  destroying.Join();
  Require(task.Poll(closed).IsPending());
  next.reset();
  Require(task.woken(), "the wake was lost");
  Require(task.Poll(closed).IsReady());
}

// A value that is sent in the meantime has no receiver, or is destroyed with
// the receiver.
MODEL_TEST(Broadcast, TheLastReceiverIsDestroyedDuringASend) {
  auto [tx, rx] = Channel<Boxed>(2);
  Thread destroying(
      [rx = std::optional(std::move(rx))]() mutable { rx.reset(); });
  Boxed value(1);
  const bool sent = tx.Send(std::move(value)).ok();
  // NOLINTNEXTLINE(bugprone-use-after-move)
  Require(value.number() == (sent ? -1 : 1));
}

MODEL_TEST(Broadcast, ARefusedSendSeesWhatTheLastReceiverDid) {
  auto [tx, rx] = Channel<Boxed>(2);
  Cell<int> data(0);
  Thread destroying([&data, rx = std::optional(std::move(rx))]() mutable {
    data.Write() = 1;
    rx.reset();
  });
  if (!tx.Send(Boxed(1)).ok()) Require(data.Read() == 1);
}

// ---- The last end.

MODEL_TEST(Broadcast, BothEndsAreDestroyedAtOnce) {
  auto [tx, rx] = Channel<Boxed>(1);
  Send(tx, 1);
  Thread destroying(
      [rx = std::optional(std::move(rx))]() mutable { rx.reset(); });
  const Sender<Boxed> dropped = std::move(tx);
}

MODEL_TEST(Broadcast, ASenderIsMadeWhileTheLastIsDestroyed) {
  auto [tx, rx] = Channel<Plain>(1);
  const WeakSender<Plain> weak = tx.Downgrade();
  Thread destroying(
      [tx = std::optional(std::move(tx))]() mutable { tx.reset(); });
  std::optional<Sender<Plain>> upgraded = weak.Upgrade();
  destroying.Join();
  Require(upgraded.has_value() == !rx.IsClosed());
}

// ---- Tokio's models, reduced.

MODEL_TEST(Broadcast, BroadcastSend, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  auto [tx, rx] = Channel<Boxed>(2);
  Thread other(Sends(tx, 1, 2));
  Thread another(Sends(std::move(tx), 11, 12));
  Counts(std::move(rx), 4);
}

MODEL_TEST(Broadcast, BroadcastTwo, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  auto [tx, rx] = Channel<Boxed>(16);
  Thread one(
      [rx = tx.Subscribe()]() mutable { ReceivesAll(std::move(rx), 2); });
  Thread two([rx = std::move(rx)]() mutable { ReceivesAll(std::move(rx), 2); });
  Sends(std::move(tx), 1, 2)();
}

MODEL_TEST(Broadcast, BroadcastWrap, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  auto [tx, rx] = Channel<Plain>(1);
  Thread one([rx = tx.Subscribe()]() mutable { Counts(std::move(rx), 2); });
  Thread two([rx = std::move(rx)]() mutable { Counts(std::move(rx), 2); });
  Sends(std::move(tx), 1, 2)();
}

MODEL_TEST(Broadcast, DropRx, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  auto [tx, rx] = Channel<Boxed>(16);
  Thread one([rx = std::optional(tx.Subscribe())]() mutable { rx.reset(); });
  Thread two([rx = std::move(rx)]() mutable { ReceivesAll(std::move(rx), 2); });
  Sends(std::move(tx), 1, 2)();
}

MODEL_TEST(Broadcast, DropMultipleRxWithOverflow, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto [tx, rx] = Channel<Boxed>(1);
  const Receiver<Boxed> other = tx.Subscribe();
  Send(tx, 1);
  Thread sending(Sends(tx, 2, 3));
  Send(tx, 4);
  Thread receiving([rx = std::move(rx)]() mutable {
    while (rx.TryReceive().has_value()) {
    }
    const Receiver<Boxed> dropped = std::move(rx);
  });
}

MODEL_MUTANTS(Broadcast, "sync/broadcast/core.");

}  // namespace
}  // namespace rouse::broadcast
