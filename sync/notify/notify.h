// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: notify.h
// -----------------------------------------------------------------------------
//
// `Notify` tells tasks that there is something to look at, and carries no data:
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
// A `NotifyOne()` that finds nobody waiting leaves a permit, so nothing is lost
// if it comes between the look and the wait. There is one permit at the most:
// two letters may leave one, which is enough for one task that takes all.
// Where several tasks take, each says that it waits before it looks:
//
//   for (;;) {
//     auto arrived = arrived_.Notified();
//     arrived.Enable();
//     if (std::optional<Letter> letter = TryTake()) co_return *letter;
//     co_await arrived;
//   }
//
// `NotifyWaiters()` tells all of a moment, and leaves no permit. Whoever has
// made the future before that moment is told, so it is made before the look:
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
// Thread-safe. Nothing allocates; each call is O(1) but `NotifyWaiters()`. A
// `NotifyOne()` that finds nobody waiting, and a future that was made when
// there was a permit and takes it, are one read-modify-write each, without a
// lock.
//
// What was done before a call that notifies is visible to whoever it tells (if
// several calls did, what was done before one of them), and to whoever takes
// the permit, though another call had left it. It is visible also after an
// `Enable()`, or the making of a future, that comes too late to be told.
//
// It must outlive its futures. Who has been told by `NotifyOne()` or
// `NotifyLast()` may destroy it, though that call has not returned yet. A
// `NotifyWaiters()` that tells more than 32 must have returned.
class Notify {
 public:
  class NotifiedFuture;
  class OwnedNotifiedFuture;

  Notify() = default;
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;

  // Tells the one that has waited longest, or, if nobody waits, leaves a
  // permit for the next that does.
  void NotifyOne() { Send(Notification::kAsFirst); }

  // The same, but tells the one that came last: what it needs is the likeliest
  // to be in a cache still. Those that came first may then wait for long.
  void NotifyLast() { Send(Notification::kAsLast); }

  // Tells all futures that were made before this call, polled or not, and none
  // that is made after it. Leaves no permit, and takes none: a `NotifyOne()`
  // beside it is for somebody else. O(number that wait).
  void NotifyWaiters() {
    if (!CountCall()) SlowNotifyWaiters();
  }

  // A future that is ready when it is told, or takes the permit.
  //
  // Those that wait are told in the order in which they were first polled, or
  // enabled. A task whose budget has run out, and that need not wait, lets
  // others run first: as a rule it holds nothing, and they may be quicker (but
  // if it comes to be told at that very moment it is ready). Destroying one
  // that waits loses its place; one that was told by a `NotifyOne()` or
  // `NotifyLast()`, and has not been ready yet, passes that on. So do not keep
  // one that waits and is polled no more: it may be given what others wait for.
  [[nodiscard]] NotifiedFuture Notified() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // The same, and keeps `notify`.
  static OwnedNotifiedFuture NotifiedOwned(std::shared_ptr<Notify> notify);

 private:
  // # The word
  //
  // Its lowest two bits are a state; the rest is the number of calls of
  // `NotifyWaiters()`, which does not come round in a thousand years.
  //
  //   from       to         by                                    under mu_
  //   kEmpty     kNotified  NotifyOne, NotifyLast                 no
  //   kNotified  kNotified  the same, which says that it was      no
  //   kNotified  kEmpty     who waits, and takes the permit       either
  //   kEmpty     kWaiting   who waits, and is the only one        yes
  //   kWaiting   kEmpty     who takes the last out of the list    yes
  //   kEmpty, kNotified: one call more, by NotifyWaiters          no
  //   kWaiting   kEmpty, and one call more, by NotifyWaiters      yes
  //
  // # Invariants
  //
  // - Under the lock it is kWaiting if and only if the list is not empty.
  // - While it is kWaiting only who has the lock changes it, so a store does.
  // - A future is told when it was marked, or when there were more calls than
  //   at its making. It joins the list only if there were not. So nobody need
  //   be marked whom NotifyWaiters tells, and all of them are told at once,
  //   though they are woken by and by.
  // - Who is told, and does not take the permit, sees it under the lock. So
  //   whoever told it has let go of everything here by then. Who leaves a
  //   permit does so without the lock, as the last that it does.
  enum State : uint64_t { kEmpty = 0, kWaiting = 1, kNotified = 2 };
  static constexpr uint64_t kStates = 3;
  static constexpr uint64_t kCall = 4;

  enum class Notification : uint8_t { kNot, kAsFirst, kAsLast };

  // Under the lock.
  struct Waiter : internal::WaitNode {
    Notification notification = Notification::kNot;
  };

  static uint64_t StateOf(uint64_t word) { return word & kStates; }
  static uint64_t CallsOf(uint64_t word) { return word & ~kStates; }

  void Send(Notification how) {
    // Who waited may have left before it was found.
    while (!StorePermit() && !NotifyWaiter(how)) {
    }
  }

  // Unless somebody waits.
  bool StorePermit() {
    // Relaxed: nothing is read for it, and what is old the exchange notices.
    uint64_t word = word_.load(std::memory_order_relaxed);
    while (StateOf(word) != kWaiting) {
      // Release pairs with the acquires of TryTake and of Join. Also where
      // there is a permit: it is now for what this caller did, too.
      if (word_.compare_exchange_weak(word, CallsOf(word) | kNotified,
                                      std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Unless somebody waits.
  bool CountCall() {
    // Relaxed: as above.
    uint64_t word = word_.load(std::memory_order_relaxed);
    while (StateOf(word) != kWaiting) {
      // Release pairs with the acquires of Look and of Join.
      if (word_.compare_exchange_weak(word, word + kCall,
                                      std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // The word, for one that is made.
  uint64_t Look() const {
    // Acquire pairs with the releases of CountCall and of StopWaiting: who is
    // made too late to be told sees what there was to be told of.
    return word_.load(std::memory_order_acquire);
  }

  // Whether one that was made after `calls` calls need not wait.
  bool IsReady(uint64_t calls) const {
    // Relaxed: nothing is read for it.
    const uint64_t word = word_.load(std::memory_order_relaxed);
    return CallsOf(word) != calls || StateOf(word) == kNotified;
  }

  // Takes the permit, if the word is `word` and there is one. So one that has
  // been told by a call since leaves it (tokio #7965).
  bool TryTake(uint64_t word) {
    // Acquire pairs with the releases of StorePermit, all since it was empty:
    // what follows the first of them are read-modify-writes.
    return StateOf(word) == kNotified &&
           word_.compare_exchange_strong(word, CallsOf(word) | kEmpty,
                                         std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  bool NotifyWaiter(Notification how);
  void SlowNotifyWaiters();

  // Whether one that was made after `calls` calls has been told; if not it is
  // in the list from now on.
  bool Join(Waiter& waiter, uint64_t calls, Waker& waker);
  // The same for one that has joined.
  bool LookAgain(Waiter& waiter, uint64_t calls, Waker& waker);
  void Leave(Waiter& waiter);

  // The list has become empty. There are `calls` calls now.
  void StopWaiting(uint64_t calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Release pairs with the acquire of Look. Who has emptied the list knows,
    // by the lock and by the making of those in it, of all calls before.
    word_.store(calls | kEmpty, std::memory_order_release);
  }

  Atomic<uint64_t> word_{kEmpty};
  BriefLock mu_;
  IntrusiveList<internal::WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

// Notify::NotifiedFuture
//
// See `Notified()`. Moved only before it is polled or enabled.
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

  // Takes its place among those that wait, as a first poll does, but without a
  // task to wake: it is to be polled later. Whether it has been told, or has
  // taken the permit; then what it was given is the caller's, the next poll is
  // ready if there is budget left, and nothing is passed on.
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
    kNotified,  // by Enable()
    kFinished,  // or moved from
  };

  explicit NotifiedFuture(Notify& notify)
      : notify_(notify), made_at_(notify.Look()) {}

  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMoved();

  bool IsNotified(Waker waker);
  PollResult<void> PollSlowly(Context& cx);
  void Leave();

  Notify& notify_;
  const uint64_t made_at_;  // the word at that time
  Stage stage_ = Stage::kNew;
  // In a union, since most find a permit.
  union {
    Waiter waiter_;
  };
};

// Notify::OwnedNotifiedFuture
//
// See `NotifiedOwned()`. As a `NotifiedFuture`.
class [[nodiscard]] Notify::OwnedNotifiedFuture {
 public:
  // The owner comes last: a panic leaves it with the future that needs it.
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

  std::shared_ptr<Notify> notify_;  // goes after the future
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
