// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Futures that wait and leave while other threads notify. The first part has
// the names and the scenarios of the models of Tokio's `Notify`. The second
// part tests what else the protocol of the word promises. A lost notification
// shows as a waiter that nobody has woken at the end, or as a deadlock.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "rouse/base/atomic.h"
#include "rouse/sync/notify/notify.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/wake_list.h"

namespace rouse {
namespace {

using model::Require;
using model::Thread;
using PlainInt = model::Cell<int>;

// One more waiter than are woken at once.
constexpr size_t kMoreThanABatch = WakeList::kCapacity + 1;

// A future, and its task. A wake in progress may come late, so the object
// outlives the threads.
class Waiting {
 public:
  explicit Waiting(Notify& notify) : notify_(notify) {}

  // Creates the future, which is otherwise done by the first poll.
  void Make() { future_.emplace(notify_.Notified()); }

  bool Enable() {
    if (!future_.has_value()) Make();
    return ready_ = future_->Enable();
  }
  bool Poll() {
    if (ready_) return true;
    if (!future_.has_value()) Make();
    ready_ = task_.Poll(*future_).IsReady();
    waits_ = !ready_;
    return ready_;
  }
  void Await() {
    while (!Poll()) task_.AwaitWake();
  }

  // Returns whether the future is or would be ready. Called when all other
  // threads have finished.
  bool HasEnded() {
    const bool must_be_woken = waits_;
    const bool ready = Poll();
    if (must_be_woken) {
      Require(ready == task_.woken(), "a wake was lost, or came for nothing");
    }
    return ready;
  }

  void Leave() { future_.reset(); }

 private:
  Notify& notify_;
  model::Task task_;
  std::optional<Notify::NotifiedFuture> future_;
  bool ready_ = false;
  bool waits_ = false;
};

MODEL_TEST(Notify, NotifyOne) {
  Notify notify;
  PlainInt data(0);
  Waiting waiting(notify);
  Thread awaiting([&] {
    waiting.Await();
    Require(data.Read() == 1);
  });
  data.Write() = 1;
  notify.NotifyOne();
}

MODEL_TEST(Notify, NotifyWaiters, .spurious_failures = 0) {
  Notify notify;
  PlainInt data(0);
  Waiting first(notify);
  Waiting second(notify);
  first.Make();
  second.Make();
  Thread notifying([&] {
    data.Write() = 1;
    notify.NotifyWaiters();
  });
  first.Await();
  Require(data.Read() == 1);
  second.Await();
}

// If a NotifyWaiters notifies two futures, neither is notified before the
// other.
void PollConsistency(bool first_is_polled, bool second_is_polled) {
  Notify notify;
  Waiting first(notify);
  Waiting second(notify);
  first.Make();
  second.Make();
  if (first_is_polled) Require(!first.Poll());
  if (second_is_polled) Require(!second.Poll());
  Thread notifying([&] { notify.NotifyWaiters(); });
  if (first.Poll()) Require(second.Poll());
  notifying.Join();
  Require(first.HasEnded());
  Require(second.HasEnded());
}

MODEL_TEST(Notify, NotifyWaitersPollConsistencyOfNew) {
  PollConsistency(false, false);
}
MODEL_TEST(Notify, NotifyWaitersPollConsistencyOfOldAndNew) {
  PollConsistency(true, false);
}
MODEL_TEST(Notify, NotifyWaitersPollConsistencyOfNewAndOld) {
  PollConsistency(false, true);
}
MODEL_TEST(Notify, NotifyWaitersPollConsistencyOfOld) {
  PollConsistency(true, true);
}

using Many = std::vector<std::unique_ptr<Waiting>>;

Many MakeMany(Notify& notify) {
  Many many;
  for (size_t i = 0; i < kMoreThanABatch; ++i) {
    many.push_back(std::make_unique<Waiting>(notify));
    many.back()->Make();
  }
  return many;
}

// If a NotifyWaiters notifies two futures, neither is notified before the
// other, even if they are woken in different batches. Trap C7: tokio #5396.
void PollConsistencyMany(size_t polled_first, size_t polled_last) {
  Notify notify;
  Many many = MakeMany(notify);
  Require(!many[polled_first]->Poll());
  for (size_t i = 2; i < many.size(); ++i) Require(!many[i]->Poll());
  Require(!many[polled_last]->Poll());
  Thread notifying([&] { notify.NotifyWaiters(); });
  if (many[0]->Poll()) Require(many[1]->Poll());
  notifying.Join();
}

MODEL_TEST(Notify, NotifyWaitersPollConsistencyManyInOrder) {
  PollConsistencyMany(0, 1);
}
MODEL_TEST(Notify, NotifyWaitersPollConsistencyManyInReverse) {
  PollConsistencyMany(1, 0);
}

// Once one of the old futures is ready, none of them takes a later
// notification.
void TestAtomicity(size_t tested) {
  Notify notify;
  Many many = MakeMany(notify);
  for (auto& old : many) Require(!old->Poll());
  Waiting after(notify);
  Thread notifying([&] { notify.NotifyWaiters(); });
  if (many[tested]->Poll()) {
    Require(!after.Poll());
    notify.NotifyOne();
    Require(after.Poll());
  }
  notifying.Join();
}

MODEL_TEST(Notify, NotifyWaitersIsAtomicForTheFirst) { TestAtomicity(0); }
MODEL_TEST(Notify, NotifyWaitersIsAtomicForTheLast) {
  TestAtomicity(kMoreThanABatch - 1);
}

// A call does not notify a future created after the call has notified another.
MODEL_TEST(Notify, NotifyWaitersSequentialNotifiedAwait) {
  Notify notify;
  Many many = MakeMany(notify);
  for (auto& old : many) Require(!old->Poll());
  Waiting second(notify);
  Thread notifying([&] { notify.NotifyWaiters(); });
  const bool notified = many[0]->Poll();
  if (notified) Require(!second.Poll());
  notifying.Join();
  if (notified) Require(!second.HasEnded());
}

// ---- What else is promised.

MODEL_TEST(Notify, APermitIsTakenOnce) {
  Notify notify;
  notify.NotifyOne();
  Waiting here(notify);
  Waiting there(notify);
  Thread other([&] { there.Poll(); });
  here.Poll();
  other.Join();
  Require(here.HasEnded() != there.HasEnded());
}

MODEL_TEST(Notify, TwoPermitsAreOne) {
  Notify notify;
  PlainInt here(0);
  PlainInt there(0);
  Thread other([&] {
    there.Write() = 1;
    notify.NotifyOne();
  });
  here.Write() = 1;
  notify.NotifyOne();
  other.Join();
  Waiting first(notify);
  Waiting second(notify);
  Require(first.Poll());
  Require(!second.Poll());
}

// A future that takes the permit of two calls sees what both callers did.
MODEL_TEST(Notify, APermitShowsWhatAllItsNotifiersDid) {
  Notify notify;
  PlainInt here(0);
  Atomic<bool> there(false);
  Thread leaving([&] {
    here.Write() = 1;
    notify.NotifyOne();
  });
  leaving.Join();
  Thread other([&] {
    there.store(true, std::memory_order_relaxed);
    notify.NotifyOne();
  });
  Waiting waiting(notify);
  Require(waiting.Poll());
  Require(here.Read() == 1);
  const bool seen = there.load(std::memory_order_relaxed);
  other.Join();
  // Otherwise the permit of the other thread still exists.
  Require(seen || Waiting(notify).Poll());
}

// Trap C7: as tokio #3652, with both ways to notify.
void TestCancelledWaiter(void (Notify::*notify_one)()) {
  Notify notify;
  Waiting first(notify);
  Waiting second(notify);
  Waiting third(notify);
  Require(!first.Poll());
  Require(!second.Poll());
  Require(!third.Poll());
  Thread notifying([&] { (notify.*notify_one)(); });
  first.Leave();
  third.Leave();
  notifying.Join();
  Require(second.HasEnded());
}

MODEL_TEST(Notify, ACancelledWaiterPassesNotifyOneOn) {
  TestCancelledWaiter(&Notify::NotifyOne);
}
MODEL_TEST(Notify, ACancelledWaiterPassesNotifyLastOn) {
  TestCancelledWaiter(&Notify::NotifyLast);
}

MODEL_TEST(Notify, ACancelledOnlyWaiterLeavesThePermit) {
  Notify notify;
  Waiting leaving(notify);
  Require(!leaving.Poll());
  Thread notifying([&] { notify.NotifyOne(); });
  leaving.Leave();
  notifying.Join();
  Require(Waiting(notify).Poll());
}

MODEL_TEST(Notify, ACancelledWaiterDoesNotPassNotifyWaitersOn) {
  Notify notify;
  Waiting leaving(notify);
  Waiting staying(notify);
  Require(!leaving.Poll());
  Require(!staying.Poll());
  Thread notifying([&] { notify.NotifyWaiters(); });
  leaving.Leave();
  notifying.Join();
  Require(staying.HasEnded());
  Require(!Waiting(notify).Poll());
}

// Trap C7: tokio #3652.
MODEL_TEST(Notify, ACancelledWaiterOfNotifyWaitersLeavesALaterPermit) {
  Notify notify;
  Waiting leaving(notify);
  Require(!leaving.Poll());
  Thread notifying([&] {
    notify.NotifyWaiters();
    notify.NotifyOne();
  });
  leaving.Leave();
  notifying.Join();
  Require(Waiting(notify).Poll());
}

// The call has seen a waiter, and then finds a permit.
MODEL_TEST(Notify, NotifyWaitersLeavesThePermit) {
  Notify notify;
  Waiting leaving(notify);
  Require(!leaving.Poll());
  Thread notifying([&] { notify.NotifyWaiters(); });
  leaving.Leave();
  notify.NotifyOne();
  notifying.Join();
  Require(Waiting(notify).Poll());
}

MODEL_TEST(Notify, SomeWaitersOfALaterBatchAreCancelled) {
  Notify notify;
  Many many = MakeMany(notify);
  for (auto& old : many) Require(!old->Poll());
  Thread notifying([&] { notify.NotifyWaiters(); });
  many.back()->Leave();
  notify.NotifyOne();
  notifying.Join();
  many.pop_back();
  for (auto& old : many) Require(old->HasEnded());
}

// A NotifyOne and a NotifyWaiters notify both of two waiters, and leave a
// permit if the NotifyWaiters was first (Trap C7: tokio #3660).
MODEL_TEST(Notify, NotifyOneAndNotifyWaitersNotifyBothWaiters) {
  Notify notify;
  Waiting first(notify);
  Waiting second(notify);
  second.Make();
  Require(!first.Poll());
  Thread all([&] { notify.NotifyWaiters(); });
  notify.NotifyOne();
  all.Join();
  Require(first.HasEnded());
  Require(second.Poll());
}

// A future created too late to be notified sees what the notification was
// about, in both ways in which a call is counted.
void TestLateFuture(bool another_waits) {
  Notify notify;
  Atomic<bool> done(false);
  Waiting other(notify);
  if (another_waits) Require(!other.Poll());
  Thread notifying([&] {
    done.store(true, std::memory_order_relaxed);
    notify.NotifyWaiters();
  });
  Waiting waiting(notify);
  waiting.Make();
  const bool seen = done.load(std::memory_order_relaxed);
  waiting.Poll();
  notifying.Join();
  Require(waiting.HasEnded() || seen);
}

MODEL_TEST(Notify, ALateFutureSeesWhatTheNotifierDid) { TestLateFuture(false); }
MODEL_TEST(Notify, ALateFutureBesideAnotherSeesWhatTheNotifierDid) {
  TestLateFuture(true);
}

// A future created too late to be notified sees what the notification was
// about, even if it finds a word written by a waiter that left.
MODEL_TEST(Notify, ALateFutureAfterACancelledOneSeesWhatTheNotifierDid,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Notify notify;
  Atomic<bool> done(false);
  Thread notifying([&] {
    done.store(true, std::memory_order_relaxed);
    notify.NotifyWaiters();
  });
  Waiting other(notify);
  Thread leaving([&] {
    other.Poll();
    other.Leave();
  });
  Waiting waiting(notify);
  waiting.Make();
  const bool seen = done.load(std::memory_order_relaxed);
  waiting.Poll();
  notifying.Join();
  leaving.Join();
  Require(waiting.HasEnded() || seen);
}

// A future notified by the count alone sees what the caller did.
MODEL_TEST(Notify, AnUnpolledFutureSeesWhatTheNotifierDid) {
  Notify notify;
  PlainInt data(0);
  Waiting waiting(notify);
  waiting.Make();
  Thread notifying([&] {
    data.Write() = 1;
    notify.NotifyWaiters();
  });
  if (waiting.Poll()) Require(data.Read() == 1);
}

// A task that enables its future and then checks misses nothing: neither what
// comes later, nor what came earlier and whose single permit another future has
// taken.
MODEL_TEST(Notify, EnablingBeforeACheckMissesNothing,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  Notify notify;
  Atomic<bool> second(false);
  Thread notifying([&] {
    notify.NotifyOne();
    second.store(true, std::memory_order_relaxed);
    notify.NotifyOne();
  });
  Waiting other(notify);
  Thread taking([&] {
    other.Poll();
    other.Leave();
  });
  Waiting waiting(notify);
  const bool seen = waiting.Enable() || second.load(std::memory_order_relaxed);
  if (!seen) waiting.Poll();
  notifying.Join();
  taking.Join();
  Require(seen || waiting.HasEnded());
}

// The notified task destroys the `Notify`.
void TestDestructionByTheNotified(void (Notify::*notify_call)(),
                                  bool is_polled_before) {
  auto notify = std::make_unique<Notify>();
  Waiting waiting(*notify);
  waiting.Make();
  if (is_polled_before) Require(!waiting.Poll());
  Thread notifying(
      [&notify_call, raw = notify.get()] { (raw->*notify_call)(); });
  if (!waiting.Poll()) {
    notifying.Join();
    Require(waiting.HasEnded());
  }
  waiting.Leave();
  notify.reset();
}

MODEL_TEST(Notify, TheWaiterOfNotifyOneDestroysTheNotify) {
  TestDestructionByTheNotified(&Notify::NotifyOne, true);
}
MODEL_TEST(Notify, TheTakerOfThePermitDestroysTheNotify) {
  TestDestructionByTheNotified(&Notify::NotifyOne, false);
}
MODEL_TEST(Notify, TheWaiterOfNotifyWaitersDestroysTheNotify) {
  TestDestructionByTheNotified(&Notify::NotifyWaiters, true);
}
MODEL_TEST(Notify, AnUnpolledWaiterOfNotifyWaitersDestroysTheNotify) {
  TestDestructionByTheNotified(&Notify::NotifyWaiters, false);
}

// The waiter to be notified leaves before it is found; the next future then
// finds the permit, or the call.
void TestDestructionByTheNext(void (Notify::*notify_call)()) {
  auto notify = std::make_unique<Notify>();
  Waiting leaving(*notify);
  Waiting waiting(*notify);
  waiting.Make();
  Require(!leaving.Poll());
  Thread notifying(
      [&notify_call, raw = notify.get()] { (raw->*notify_call)(); });
  leaving.Leave();
  if (!waiting.Poll()) {
    notifying.Join();
    Require(waiting.HasEnded());
  }
  waiting.Leave();
  notify.reset();
}

MODEL_TEST(Notify, TheNextTakerOfThePermitDestroysTheNotify) {
  TestDestructionByTheNext(&Notify::NotifyOne);
}
MODEL_TEST(Notify, TheNextWaiterOfNotifyWaitersDestroysTheNotify) {
  TestDestructionByTheNext(&Notify::NotifyWaiters);
}

// ---- The largest of Tokio's models, last: a smaller model finds most bugs.

MODEL_TEST(Notify, NotifyWaitersAndOne, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Notify notify;
  Waiting waiting(notify);
  Thread all([&] { notify.NotifyWaiters(); });
  Thread one([&] { notify.NotifyOne(); });
  waiting.Await();
}

MODEL_TEST(Notify, NotifyMulti, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Notify notify;
  Waiting waiting[2] = {Waiting(notify), Waiting(notify)};
  const auto pass_on = [&notify](Waiting& waiting) {
    waiting.Await();
    notify.NotifyOne();
  };
  Thread first([&] { pass_on(waiting[0]); });
  Thread second([&] { pass_on(waiting[1]); });
  notify.NotifyOne();
  first.Join();
  second.Join();
  Require(Waiting(notify).Poll());
}

// Trap C7: tokio #3652.
MODEL_TEST(Notify, NotifyDrop, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Notify notify;
  Waiting leaving(notify);
  Waiting first(notify);
  Waiting second(notify);
  Thread dropping([&] {
    if (leaving.Poll()) notify.NotifyOne();
    leaving.Leave();
  });
  Thread awaiting([&] {
    first.Await();
    notify.NotifyOne();
    second.Await();
  });
  notify.NotifyOne();
}

MODEL_MUTANTS(Notify, "sync/notify/notify.");

}  // namespace
}  // namespace rouse
