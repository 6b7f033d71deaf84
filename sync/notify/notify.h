// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: notify.h
// -----------------------------------------------------------------------------
//
// `Notify` notifies tasks that there is something to check, and carries no
// data:
//
//   class Mailbox {
//    public:
//     void Put(Letter letter) {
//       {
//         const absl::MutexLock lock(&mu_);
//         letters_.push_back(std::move(letter));
//       }
//       arrived_.NotifyOne();
//     }
//     rouse::Co<Letter> Take() {
//       for (;;) {
//         if (std::optional<Letter> letter = TryTake()) co_return *letter;
//         co_await arrived_.Notified();
//       }
//     }
//
//    private:
//     ...
//     rouse::Notify arrived_;
//   };
//
// A `NotifyOne()` that finds no waiter leaves a permit, so no notification is
// lost between a check and the following wait. There is at most one permit: two
// letters may leave a single permit, which suffices for one task that takes all
// letters. If several tasks take letters, each must enable its future before
// the check:
//
//   for (;;) {
//     auto arrived = arrived_.Notified();
//     arrived.Enable();
//     if (std::optional<Letter> letter = TryTake()) co_return *letter;
//     co_await arrived;
//   }
//
// `NotifyWaiters()` notifies all futures that exist at that moment, and leaves
// no permit. A future is notified only if it was created before that moment, so
// create the future before the check:
//
//   for (;;) {
//     auto changed = changed_.Notified();
//     if (IsDone()) co_return;
//     co_await changed;
//   }

#ifndef ROUSE_SYNC_NOTIFY_NOTIFY_H_
#define ROUSE_SYNC_NOTIFY_NOTIFY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

// Notify
//
// `Notify` is thread-safe and allocates nothing. Each call is O(1), except for
// `NotifyWaiters()`. Two operations are a single read-modify-write without a
// lock: a `NotifyOne()` that finds no waiter, and a future that was created
// while a permit existed and takes the permit.
//
// Everything done before a notifying call is visible to any future notified by
// the call (if several calls notified the future, everything done before one of
// the calls). It is also visible to a future that takes the permit, even if
// another call had left the permit, and after an `Enable()` or the creation of
// a future that comes too late to be notified.
//
// The `Notify` must outlive its futures. A task notified by `NotifyOne()` or
// `NotifyLast()` may destroy the `Notify` even if the call has not returned
// yet. If a `NotifyWaiters()` notifies more than 32 waiters, the call must have
// returned first.
class Notify {
 public:
  class NotifiedFuture;
  class OwnedNotifiedFuture;

  // A constant expression, so a `Notify` can be a global variable
  // (`constinit`).
  Notify() = default;
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;

  // Notifies the future that has waited longest. If nobody waits, leaves a
  // permit for the next waiter.
  void NotifyOne() { Send(Notification::kAsFirst); }

  // Like `NotifyOne()`, but notifies the newest waiter, whose data is most
  // likely still in a cache. The oldest waiters may then wait for a long time.
  void NotifyLast() { Send(Notification::kAsLast); }

  // Notifies all futures created before this call, polled or not, and no future
  // created after it. Neither leaves nor takes a permit: a concurrent
  // `NotifyOne()` is for another future. O(number of waiters).
  void NotifyWaiters() {
    if (!CountCall()) SlowNotifyWaiters();
  }

  // Returns a future that is ready when it is notified or takes the permit.
  //
  // Waiters are notified in the order in which they were first polled or
  // enabled. If the budget of the task is used up and the future need not wait,
  // the poll lets other tasks run first. As a rule the future then holds
  // nothing, and another task may be quicker to take the permit. (If the
  // notification comes at that very moment, however, the future is ready.)
  //
  // Destroying a waiting future gives up its place. A future that was notified
  // by `NotifyOne()` or `NotifyLast()`, and has not been ready yet, passes the
  // notification on when destroyed. Therefore do not keep a waiting future
  // without polling it: the future may receive a notification for which others
  // wait.
  [[nodiscard]] NotifiedFuture Notified() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Like `Notified()`, but the future keeps `notify` alive.
  static OwnedNotifiedFuture NotifiedOwned(std::shared_ptr<Notify> notify);

 private:
  // # The word
  //
  // The lowest two bits of the word are a state. The other bits count the calls
  // of `NotifyWaiters()`, and do not wrap around within a thousand years.
  //
  //   from       to         by                                    under mu_
  //   kEmpty     kNotified  NotifyOne, NotifyLast                 no
  //   kNotified  kNotified  the same calls, to publish more       no
  //   kNotified  kEmpty     a future that takes the permit        either
  //   kEmpty     kWaiting   the addition of the first waiter      yes
  //   kWaiting   kEmpty     the removal of the last waiter        yes
  //   kEmpty, kNotified: count of calls + 1, by NotifyWaiters     no
  //   kWaiting   kEmpty, and count + 1, by NotifyWaiters          yes
  //
  // # Invariants
  //
  // - Under the lock, the state is kWaiting if and only if the list is not
  //   empty.
  // - While the state is kWaiting, only the holder of the lock changes the
  //   word, so a store suffices.
  // - A future is notified if it was marked, or if the count of calls has grown
  //   since its creation. It joins the list only if the count has not grown.
  //   NotifyWaiters() therefore marks no waiter: all are notified atomically,
  //   although their wakers are called one after another.
  // - A future that is notified, and does not take the permit, sees the
  //   notification under the lock. By then the notifier no longer uses this
  //   object. A notifier that leaves a permit does so without the lock, as its
  //   last access to the object.
  enum State : uint64_t { kEmpty = 0, kWaiting = 1, kNotified = 2 };
  static constexpr uint64_t kStates = 3;
  static constexpr uint64_t kCall = 4;

  enum class Notification : uint8_t { kNot, kAsFirst, kAsLast };

  // A waiting future, guarded by the lock.
  struct Waiter : internal::WaitNode {
    Notification notification = Notification::kNot;
  };

  static uint64_t StateOf(uint64_t word) { return word & kStates; }
  static uint64_t CallsOf(uint64_t word) { return word & ~kStates; }

  void Send(Notification how) {
    // The waiter may have left before the notifier found it.
    while (!StorePermit() && !NotifyWaiter(how)) {
    }
  }

  // Leaves a permit and returns true, unless somebody waits.
  bool StorePermit() {
    // Relaxed: no other data is read, and the exchange detects a stale value.
    uint64_t word = word_.load(std::memory_order_relaxed);
    while (StateOf(word) != kWaiting) {
      // Release pairs with the acquires of TryTake and of Join. An existing
      // permit is stored again: the permit must also publish what this caller
      // did.
      if (word_.compare_exchange_weak(word, CallsOf(word) | kNotified,
                                      std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Counts a call of `NotifyWaiters()` and returns true, unless somebody waits.
  bool CountCall() {
    // Relaxed: as in StorePermit.
    uint64_t word = word_.load(std::memory_order_relaxed);
    while (StateOf(word) != kWaiting) {
      // Release pairs with the acquires of Load and of Join.
      if (word_.compare_exchange_weak(word, word + kCall,
                                      std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Returns the word for a new future.
  uint64_t Load() const {
    // Acquire pairs with the releases of CountCall and of StopWaiting: a future
    // created too late for a notification sees what preceded the notification.
    return word_.load(std::memory_order_acquire);
  }

  // Returns whether a future created after `calls` calls need not wait.
  bool IsReady(uint64_t calls) const {
    // Relaxed: no other data is read.
    const uint64_t word = word_.load(std::memory_order_relaxed);
    return CallsOf(word) != calls || StateOf(word) == kNotified;
  }

  // Takes the permit and returns true if the word is still `word` and has a
  // permit. A future that has been notified by a call since then therefore
  // leaves the permit (tokio #7965).
  bool TryTake(uint64_t word) {
    // Acquire pairs with all releases of StorePermit since the word had no
    // permit: every change after the first of them is a read-modify-write.
    return StateOf(word) == kNotified &&
           word_.compare_exchange_strong(word, CallsOf(word) | kEmpty,
                                         std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  bool NotifyWaiter(Notification how);
  void SlowNotifyWaiters();

  // Returns whether a future created after `calls` calls has been notified or
  // takes the permit. Otherwise adds `waiter` to the list.
  bool Join(Waiter& waiter, uint64_t calls, Waker& waker);
  // Returns whether `waiter`, which joined earlier, has been notified.
  // Otherwise registers `waker`.
  bool CheckAgain(Waiter& waiter, uint64_t calls, Waker& waker);
  void Leave(Waiter& waiter);

  // Records that the list has become empty. `calls` is the count of calls by
  // now.
  void StopWaiting(uint64_t calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Release pairs with the acquire of Load. The thread that emptied the list
    // knows of all earlier calls, through the lock and the creation of the
    // futures in the list.
    word_.store(calls | kEmpty, std::memory_order_release);
  }

  Atomic<uint64_t> word_{kEmpty};
  BriefLock mu_;
  IntrusiveList<internal::WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

// Notify::NotifiedFuture
//
// See `Notified()`. Can be moved only before the first poll or `Enable()`.
class [[nodiscard]] Notify::NotifiedFuture {
 public:
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  NotifiedFuture(NotifiedFuture&& other)
      : notify_(other.notify_), made_at_(other.made_at_), stage_(other.stage_) {
    if (stage_ != Stage::kNew) PanicMoved();
    other.stage_ = Stage::kFinished;
  }
  NotifiedFuture& operator=(NotifiedFuture&&) = delete;
  ~NotifiedFuture() {
    if (stage_ == Stage::kWaiting) Leave();
  }

  // Enters the queue of waiters, as a first poll does, but without a task to
  // wake: the future must be polled later. Returns whether the future has been
  // notified or has taken the permit. In either case the notification or permit
  // belongs to the caller, the next poll is ready if budget is left, and
  // nothing is passed on.
  bool Enable();

  PollResult<void> Poll(Context& cx) {
    if (ABSL_PREDICT_FALSE(stage_ != Stage::kNew || !cx.HasBudget() ||
                           !notify_.TryTake(made_at_))) {
      return PollSlowly(cx);
    }
    TakeUnitIfAny(cx);
    stage_ = Stage::kFinished;
    return {};
  }

 private:
  friend class Notify;

  enum class Stage : uint8_t {
    kNew,
    kWaiting,   // `waiter_` exists
    kNotified,  // found by Enable()
    kFinished,  // or moved from
  };

  explicit NotifiedFuture(Notify& notify)
      : notify_(notify), made_at_(notify.Load()) {}

  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMoved();

  bool IsNotified(Waker waker);
  PollResult<void> PollSlowly(Context& cx);
  void Leave();

  Notify& notify_;
  const uint64_t made_at_;  // the word at the creation
  Stage stage_ = Stage::kNew;
  // In a union, because most futures find a permit and need no waiter.
  union {
    Waiter waiter_;
  };
};

// Notify::OwnedNotifiedFuture
//
// See `NotifiedOwned()`. Otherwise like `NotifiedFuture`.
class [[nodiscard]] Notify::OwnedNotifiedFuture {
 public:
  // Moves the owner last: if the other move panics, `other` still has its
  // owner.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  OwnedNotifiedFuture(OwnedNotifiedFuture&& other)
      : future_(std::move(other.future_)) {
    notify_ = std::move(other.notify_);
  }
  OwnedNotifiedFuture& operator=(OwnedNotifiedFuture&&) = delete;

  bool Enable() { return future_.Enable(); }
  PollResult<void> Poll(Context& cx) { return future_.Poll(cx); }

 private:
  friend class Notify;

  explicit OwnedNotifiedFuture(std::shared_ptr<Notify> notify)
      : notify_(std::move(notify)), future_(*notify_) {}

  std::shared_ptr<Notify> notify_;  // destroyed after the future
  NotifiedFuture future_;
};

inline Notify::NotifiedFuture Notify::Notified() {
  return NotifiedFuture(*this);
}

inline Notify::OwnedNotifiedFuture Notify::NotifiedOwned(
    std::shared_ptr<Notify> notify) {
  return OwnedNotifiedFuture(std::move(notify));
}

}  // namespace rouse

#endif  // ROUSE_SYNC_NOTIFY_NOTIFY_H_
