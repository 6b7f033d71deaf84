// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A channel whose value changes, and whose ends are destroyed, while other
// threads read, wait or stop waiting. The models from Smoke to Borrow, and
// WaitForTest, have the names of Tokio's models. The value is plain data:
// reading the value while it is changed is a race.

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/base/cell.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/watch/sharded_rw_lock.h"
#include "rouse/sync/watch/watch.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using watch::Channel;
using watch::Receiver;
using watch::Ref;
using watch::Sender;
using watch::internal::ShardedRwLock;
using watch::internal::WriterHolder;

// For a thread: calls `f` with the end, and then destroys the end.
template <class End, class F>
auto With(End end, F f) {
  return [end = std::optional<End>(std::move(end)), f]() mutable {
    f(*end);
    end.reset();
  };
}

template <class End>
void Drop(End end) {
  static_cast<void>(End(std::move(end)));
}

constexpr model::Mode kBounded = model::Mode::kBounded;

MODEL_TEST(ShardedRwLock, AWriterExcludesOthers) {
  ShardedRwLock lock;
  Cell<int> data(0);
  Thread writing([&] {
    const WriterHolder holder(lock);
    ++data.Write();
  });
  lock.ReaderLock(0);
  static_cast<void>(data.Read());
  lock.ReaderUnlock(0);
}

MODEL_TEST(ShardedRwLock, TwoWritersAndAReader, .mode = kBounded,
           .spurious_failures = 0) {
  ShardedRwLock lock;
  Cell<int> data(0);
  const auto write = [&] {
    const WriterHolder holder(lock);
    ++data.Write();
  };
  Thread first(write);
  Thread second(write);
  lock.ReaderLock(1);
  const int seen = data.Read();
  Require(data.Read() == seen);
  lock.ReaderUnlock(1);
  first.Join();
  second.Join();
  Require(data.Read() == 2);
}

MODEL_TEST(ShardedRwLock, AReaderReadsAgain, .mode = kBounded,
           .spurious_failures = 0) {
  ShardedRwLock lock;
  Cell<int> data(0);
  Thread writing([&] {
    for (int i = 0; i < 2; ++i) {
      const WriterHolder holder(lock);
      ++data.Write();
    }
  });
  int before = 0;
  for (int i = 0; i < 2; ++i) {
    lock.ReaderLock(0);
    Require(data.Read() >= before);
    before = data.Read();
    lock.ReaderUnlock(0);
  }
}

// A reader that waits for a writer does not delay the next writer.
MODEL_TEST(ShardedRwLock, TwoReadersOfAShard, .mode = kBounded,
           .spurious_failures = 0) {
  ShardedRwLock lock;
  Cell<int> data(0);
  const auto read = [&] {
    lock.ReaderLock(0);
    static_cast<void>(data.Read());
    lock.ReaderUnlock(0);
  };
  Thread reading(read);
  Thread writing([&] {
    const WriterHolder holder(lock);
    ++data.Write();
  });
  read();
  reading.Join();
  writing.Join();
  // Both threads have ended: this call waits for no thread.
  const WriterHolder holder(lock);
}

MODEL_MUTANTS(ShardedRwLock, "sync/watch/sharded_rw_lock");

MODEL_TEST(Watch, ReceiversAreCopiedConcurrently) {
  auto [tx, rx] = Channel<int>(0);
  Thread copying(With(Receiver<int>(rx), [](auto& rx) {
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const Receiver<int> copy = rx;
    Require(!*copy.HasChanged());
  }));
  const Receiver<int> copy = rx;
  copying.Join();
  Require(tx.receiver_count() == 2);
}

MODEL_TEST(Watch, SendersAreCopiedConcurrently) {
  auto [tx, rx] = Channel<int>(0);
  Thread copying(With(Sender<int>(tx), [](auto& tx) {
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const Sender<int> copy = tx;
    Require(!copy.IsClosed());
  }));
  {
    const Sender<int> copy = tx;
    Drop(std::move(tx));
    copying.Join();
    Require(!rx.IsClosed());
  }
  Require(rx.IsClosed());
}

MODEL_TEST(Watch, Smoke, .mode = kBounded, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(1);
  Receiver<int> second = rx;
  Receiver<int> third = rx;  // of the same shard as the first
  Thread sending(With(std::move(tx), [](auto& tx) { Require(tx.Send(2)); }));
  for (Receiver<int>* receiver : {&rx, &second, &third}) {
    Require(BlockOn(receiver->Changed()).ok());
    Require(*receiver->Borrow() == 2);
  }
}

MODEL_TEST(Watch, WaitForReturnsCorrectValue, .mode = kBounded,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(0);
  Thread sending(With(std::move(tx), [](auto& tx) {
    for (int i = 1; i <= 3; ++i) tx.Send(i);
  }));
  // Stops at the first value for which it is called.
  int stopped_at = -1;
  auto stop = [&stopped_at](int v) {
    stopped_at = v;
    return true;
  };
  auto future = rx.WaitFor(stop);
  const absl::StatusOr<Ref<int>> ref = BlockOn(future);
  Require(ref.ok() && **ref == stopped_at);
}

MODEL_TEST(Watch, MultipleSenderDropConcurrently) {
  auto [tx, rx] = Channel<int>(0);
  Thread destroying(With(Sender<int>(tx), [](auto&) {}));
  Require(!rx.IsClosed());
  Drop(std::move(tx));
  destroying.Join();
  Require(rx.IsClosed());
}

MODEL_TEST(Watch, SpuriousWakeup, .mode = kBounded, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(0);
  Task task;
  tx.Send(1);
  {
    Thread sending([&tx = tx] { tx.Send(2); });
    static_cast<void>(task.Poll(rx.Changed()));
  }
  {
    Thread receiving([&rx = rx, &task] {
      static_cast<void>(task.Poll(rx.Changed()));
      static_cast<void>(task.Poll(rx.Changed()));
    });
    tx.Send(3);
  }
  Thread sending([&tx = tx] { tx.Send(4); });
  static_cast<void>(task.Poll(rx.Changed()));
}

MODEL_TEST(Watch, Borrow, .mode = kBounded, .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(0);
  Task task;
  Require(*tx.Borrow() == 0);
  Require(*rx.Borrow() == 0);
  tx.Send(1);
  Require(*tx.Borrow() == 1);
  {
    Thread sending([&tx = tx] { tx.Send(2); });
    static_cast<void>(task.Poll(rx.Changed()));
    const int seen = *rx.Borrow();
    Require(seen == 1 || seen == 2);
  }
  Require(*rx.Borrow() == 2);
  tx.Send(3);
  Thread looking([&rx = rx] { Require(*rx.Borrow() == 3); });
  Require(*tx.Borrow() == 3);
}

// Trap C12: a change is seen or wakes, whenever it arrives.
MODEL_TEST(Watch, AChangeIsSeenOrWakes) {
  Task task;
  Cell<int> data(0);
  auto [tx, rx] = Channel<int>(0);
  Thread sending([&tx = tx, &data] {
    data.Write() = 1;
    tx.Send(1);
  });
  auto changed = rx.Changed();
  if (task.Poll(changed).IsPending()) {
    sending.Join();
    Require(task.woken());
    Require(task.Poll(changed).IsReady());
  }
  Require(data.Read() == 1);
  Require(*rx.Borrow() == 1);
}

// Two receivers of one shard: one of them sets the bit, and both rely on the
// bit.
MODEL_TEST(Watch, TwoReceiversOfAShardWaitDuringAChange, .mode = kBounded,
           .spurious_failures = 0) {
  Task first;
  Task second;
  auto [tx, rx] = Channel<int>(0);
  Receiver<int> between = rx;
  Receiver<int> other = rx;
  auto changed = rx.Changed();
  bool ready = false;
  Thread sending([&tx = tx] { tx.Send(1); });
  auto other_changed = other.Changed();
  Thread waiting([&] { ready = second.Poll(other_changed).IsReady(); });
  const bool first_ready = first.Poll(changed).IsReady();
  sending.Join();
  waiting.Join();
  Require(first_ready || first.woken());
  Require(ready || second.woken());
}

// The bit that the first change clears is set again for the second change.
MODEL_TEST(Watch, TheSecondOfTwoChangesIsSeenOrWakes, .mode = kBounded,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(0);
  Thread sending([&tx = tx] {
    tx.Send(1);
    tx.Send(2);
  });
  Require(BlockOn(rx.Changed()).ok());
  Task task;
  const int seen = *rx.BorrowAndUpdate();
  auto changed = rx.Changed();
  const bool ready = task.Poll(changed).IsReady();
  sending.Join();
  if (seen == 1) Require(ready || task.woken());
}

// Notified by the receiver itself, or by the sender, whose change arrives in
// the meantime.
MODEL_TEST(Watch, AWaitIsNotifiedByMarkChanged, .mode = kBounded,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = Channel<int>(0);
  auto changed = rx.Changed();
  Require(task.Poll(changed).IsPending());
  Thread sending([&tx = tx] { tx.Send(1); });
  rx.MarkChanged();
  sending.Join();
  Require(task.woken(), "the wake was lost");
  Require(task.Poll(changed).IsReady());
}

MODEL_TEST(Watch, TwoSendersSendAtOnce, .mode = kBounded,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = Channel<int>(0);
  auto changed = rx.Changed();
  Require(task.Poll(changed).IsPending());
  Thread sending([&tx = tx] { tx.SendModify([](int& v) { ++v; }); });
  tx.SendModify([](int& v) { ++v; });
  sending.Join();
  Require(task.woken());
  Require(*rx.Borrow() == 2);
}

// The version belongs to the value: a value that was seen is not reported
// again, and a value that was not seen is reported.
MODEL_TEST(Watch, ABorrowedValueHasItsVersion, .mode = kBounded,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(0);
  Thread sending([&tx = tx] { tx.Send(1); });
  const int seen = *rx.BorrowAndUpdate();
  sending.Join();
  Require(*rx.HasChanged() == (seen == 0));
}

MODEL_TEST(Watch, AWaitIsCancelledDuringAChange) {
  Task task;
  auto [tx, rx] = Channel<int>(0);
  Thread sending([&tx = tx] { tx.Send(1); });
  bool seen;
  {
    auto changed = rx.Changed();
    seen = task.Poll(changed).IsReady();
  }
  sending.Join();
  Require(seen != *rx.HasChanged());
}

MODEL_TEST(Watch, AWaitThatWaitsAgainIsCancelled, .mode = kBounded,
           .spurious_failures = 0) {
  Task first;
  Task second;
  auto [tx, rx] = Channel<int>(0);
  Thread sending([&tx = tx] {
    tx.Send(1);
    tx.Send(2);
  });
  {
    auto changed = rx.Changed();
    if (first.Poll(changed).IsPending()) {
      static_cast<void>(*rx.BorrowAndUpdate());
      static_cast<void>(second.Poll(changed));
    }
  }
  sending.Join();
}

// Trap C12: the last value comes before the end.
MODEL_TEST(Watch, WaitForSeesTheLastValueBeforeTheEnd, .mode = kBounded,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(0);
  Thread sending(With(std::move(tx), [](auto& tx) { tx.Send(1); }));
  auto is_one = [](int v) { return v == 1; };
  auto future = rx.WaitFor(is_one);
  Require(BlockOn(future).ok());
}

MODEL_TEST(Watch, ChangedSeesTheLastValueBeforeTheEnd, .mode = kBounded,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(0);
  Thread sending(With(std::move(tx), [](auto& tx) { tx.Send(1); }));
  Require(BlockOn(rx.Changed()).ok());
  Require(*rx.Borrow() == 1);
  Require(!BlockOn(rx.Changed()).ok());
}

MODEL_TEST(Watch, TheCloseIsSeenOrWakes) {
  Task task;
  Cell<int> data(0);
  auto [tx, rx] = Channel<int>(0);
  Thread destroying(With(std::move(tx), [&data](auto&) { data.Write() = 1; }));
  auto changed = rx.Changed();
  if (task.Poll(changed).IsPending()) {
    destroying.Join();
    Require(task.woken());
    Require(task.Poll(changed).IsReady());
  }
  Require(data.Read() == 1);
}

// The last sender passes on the actions of both senders.
MODEL_TEST(Watch, TheCloseShowsWhatAllSendersDid) {
  Cell<int> first(0);
  Cell<int> second(0);
  auto [tx, rx] = Channel<int>(0);
  Thread a(With(Sender<int>(tx), [&first](auto&) { first.Write() = 1; }));
  Thread b(With(std::move(tx), [&second](auto&) { second.Write() = 1; }));
  if (rx.IsClosed()) Require(first.Read() + second.Read() == 2);
}

MODEL_TEST(Watch, TheDestructionOfTheLastReceiverIsSeenOrWakes) {
  Task task;
  Cell<int> data(0);
  auto [tx, rx] = Channel<int>(0);
  Thread destroying(With(std::move(rx), [&data](auto&) { data.Write() = 1; }));
  auto closed = tx.Closed();
  if (task.Poll(closed).IsPending()) {
    destroying.Join();
    Require(task.woken());
    Require(task.Poll(closed).IsReady());
  }
  Require(data.Read() == 1);
}

MODEL_TEST(Watch, ReceiversAreDestroyedWhileClosedWaits, .mode = kBounded,
           .spurious_failures = 0) {
  auto [tx, rx] = Channel<int>(0);
  Thread destroying(With(Receiver<int>(rx), [](auto&) {}));
  Thread other(With(std::move(rx), [](auto&) {}));
  BlockOn(tx.Closed());
  Require(!tx.Send(1));
}

// The last end frees the block, whichever end that is.
MODEL_TEST(Watch, BothEndsAreDestroyedAtOnce) {
  auto [tx, rx] = Channel<int>(0);
  Thread destroying(With(std::move(tx), [](auto& tx) { tx.Send(1); }));
  Drop(std::move(rx));
}

MODEL_TEST(Watch, WaitForTest, .mode = kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  Task task;
  auto [tx, rx] = Channel<bool>(false);
  Thread touching([&tx = tx] { tx.SendModify([](bool&) {}); });
  Thread sending([&tx = tx] { tx.Send(true); });
  auto is_true = [](bool v) { return v; };
  auto future = rx.WaitFor(is_true);
  if (task.Poll(future).IsReady()) return;
  touching.Join();
  sending.Join();
  Require(task.woken());
  const auto result = task.Poll(future);
  Require(result.IsReady() && result->ok() && ***result);
}

// After a notification of a value that it does not wait for, the future waits
// again: it is in the list when it is destroyed.
MODEL_TEST(Watch, AWaitForThatWaitsAgainIsDestroyed) {
  Task task;
  auto [tx, rx] = Channel<int>(0);
  {
    auto is_two = [](int v) { return v == 2; };
    auto future = rx.WaitFor(is_two);
    Require(task.Poll(future).IsPending());
    Require(tx.Send(1));
    Require(task.Poll(future).IsPending());
  }
  Require(tx.Send(2));
}

MODEL_MUTANTS(
    Watch, "sync/watch/watch|sync/watch/core|sync/internal/wait_node",
    "Core::NextShard at core.h:95: any shard will do",
    "WaitNode::LeaveIfNotified at wait_node.h:104: store skipped: a node "
    "that waits again leaves before that, which does the same",
    "WaitNode::TakeWaker at wait_node.h:122: store skipped: who does "
    "not see that it was told takes the lock, and leaves");

}  // namespace
}  // namespace rouse
