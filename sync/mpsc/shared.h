// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shared.h
// -----------------------------------------------------------------------------
//
// The state that the two ends of a channel share: see mpsc.h. Internal to
// `sync/`.
//
// # When the receiver has been destroyed
//
// Messages may arrive as long as senders are sending, or have permits. The
// receiver leaves behind a waker, owned by the channel, which receives and
// discards messages until no more can arrive: see `Drain()`. To senders the
// waker looks like a waiting receiver after a close. `Drain()` runs inside the
// calls of the waker, in a single call at a time. A call of the waker during a
// drain makes the draining thread check once more.
//
// The waker owns the receiver's reference. Therefore a message may hold the
// last sender. Every thread that wakes the waker has a sender, or an object
// that belongs to a sender, so the channel exists until the wake has been
// counted.

#ifndef ROUSE_SYNC_MPSC_SHARED_H_
#define ROUSE_SYNC_MPSC_SHARED_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/atomic.h"
#include "rouse/base/error_for.h"
#include "rouse/base/first_exception.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/mpsc/core.h"
#include "rouse/sync/mpsc/queue.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::mpsc::internal {

// The names of the handles in panic messages.
inline constexpr char kSenderName[] = "mpsc::Sender";
inline constexpr char kWeakSenderName[] = "mpsc::WeakSender";
inline constexpr char kReceiverName[] = "mpsc::Receiver";

// Makes the two ends of a channel; see mpsc.h.
template <class T, class Core>
class Ends;
template <class T, class Core>
class ReceiveManyFuture;

// A core, and the number of the receiver's latest pending poll, never 0.
template <class Core>
class Polled : public Core {
 public:
  using Core::Core;

 protected:
  uint64_t polls_ = 1;
};

// Shared
//
// The shared state of a channel of `T`. `Core` is `Bounded` or `Unbounded`.
//
// The core is the gap of the queue: senders change the members before the core,
// and the receiver changes the members after the core. The word of the permits
// of a bounded core, which both sides change, is on a third cache line.
template <class T, class Core>
class Shared : public Queue<T, Polled<Core>> {
 public:
  using Base = Queue<T, Polled<Core>>;
  using Base::Base;

  Base& queue() { return *this; }
  const Base& queue() const { return *this; }

  // ---- For senders.

  // Enqueues `value`. For a bounded channel the caller must have a place.
  // Returns false, leaving `value` intact, if an unbounded channel is closed.
  bool Publish(T&& value) {
    const PushResult result = queue().Push(std::move(value));
    if (result == PushResult::kWake) this->receiver_waker.Wake();
    return result != PushResult::kClosed;
  }

  void DropSender() {
    if (!this->RemoveSender()) return;
    if (queue().SendersAreGone()) this->receiver_waker.Wake();
    Unref(Core::kSenders);
  }

  void DropWeakSender() { Unref(Core::kWeakSender); }

  void Unref(uint64_t who) {
    if (this->Leave(who)) delete this;
  }

  // ---- For the receiver.

  // Inlined, because the calls would cost a quarter of a receive that need not
  // wait.
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<std::optional<T>> PollReceive(
      Context& cx) {
    if (ABSL_PREDICT_FALSE(!cx.HasBudget() || !queue().HasFront())) {
      return PollReceiveSlowly(cx);
    }
    TakeUnitIfAny(cx);
    return Take();
  }

  // Is ready when there is a message (true) or when the end is reached (false).
  PollResult<bool> PollFront(Context& cx) {
    if (ABSL_PREDICT_TRUE(queue().HasFront())) return true;
    return PollFrontSlowly(cx);
  }

  absl::StatusOr<T> TryReceive() {
    if (!queue().HasFront()) {
      // The last sender may not have notified the queue yet, but all messages
      // have been sent.
      if (HasEnded() || (!this->HasSenders() && !queue().HasFront())) {
        return rouse::internal::ErrorFor<absl::StatusOr<T>>(
            ClosedError("mpsc::Receiver::TryReceive"));
      }
      if (queue().size() == 0) {
        return rouse::internal::ErrorFor<absl::StatusOr<T>>(
            absl::UnavailableError(
                "mpsc::Receiver::TryReceive: the channel is empty; call "
                "Receive() to wait for a message"));
      }
      // The sender of the first message may still be sending, although senders
      // of later messages are done.
      rouse::internal::BlockOnAnywhere(FrontFuture(*this));
    }
    return *Take();
  }

  // Notes that the poll of a future was pending. Returns the number of the
  // poll. The waker of the poll is kept until the next poll.
  uint64_t BeginWait() {
    ++this->waiting;
    return this->polls_;
  }
  // Notes that a future is polled again, or is destroyed.
  void EndWait() { --this->waiting; }

  // Forgets the waker of poll number `poll`. Does nothing if another poll was
  // pending since, or if a future waits, because the waker then belongs to the
  // task of that future.
  void ForgetWaker(uint64_t poll) {
    if (poll == this->polls_ && this->waiting == 0)
      this->receiver_waker.Forget();
  }

  void Close() {
    if (this->closed.IsSet()) return;
    FirstException first;  // of wakers
    first.Catch([this] { this->CloseCapacity(); });
    if constexpr (!Core::kIsBounded) queue().Close();
    first.Catch([this] { this->closed.Set(); });
    first.Rethrow();
  }

  // Closes the channel for a receiver that continues to exist: a poll of the
  // receiver may be pending.
  void CloseAndWake() {
    FirstException first;
    first.Catch([this] { Close(); });
    first.Catch([this] { this->receiver_waker.Wake(); });
    first.Rethrow();
  }

  void DropReceiver() {
    Close();
    ForgetWaker(this->polls_);
    Drain();
  }

 private:
  template <class, class>
  friend class ReceiveManyFuture;

  class FrontFuture {
   public:
    explicit FrontFuture(Shared& shared) : shared_(shared) {}
    PollResult<bool> Poll(Context& cx) { return shared_.PollFront(cx); }

   private:
    Shared& shared_;
  };

  ~Shared() = default;

  // Returns whether the end is reached, as of the last check.
  bool HasEnded() const { return queue().HasEnded() || this->IsDrained(); }

  ABSL_ATTRIBUTE_NOINLINE PollResult<std::optional<T>> PollReceiveSlowly(
      Context& cx) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    const PollResult<bool> has_front = PollFrontSlowly(cx);
    if (has_front.IsPending()) return kPending;
    unit->MadeProgress();
    if (!*has_front) return std::optional<T>();
    return Take();
  }

  ABSL_ATTRIBUTE_NOINLINE PollResult<bool> PollFrontSlowly(Context& cx) {
    if (!HasEnded()) {
      // If the front becomes ready, or the end is announced, after the check
      // below, the registered waker is woken.
      ++this->polls_;
      this->receiver_waker.Register(cx.waker(), !queue().IsWatching());
      if (!queue().Watch() && !HasEnded()) return kPending;
    }
    ForgetWaker(this->polls_);
    return queue().HasFront();
  }

  void Drain() {
    // Acquire pairs with the release of the previous draining thread. The
    // thread that is draining now sees the cause of the wake when it registers
    // again.
    if (this->drain_wakes.fetch_add(1, std::memory_order_acquire) != 0) return;
    uint32_t wakes = 1;
    do {
      if (DrainOnce()) {
        // The count stays above 0, so that a late wake does nothing.
        Unref(Core::kReceivers);
        return;
      }
      // Release pairs with the acquire above.
      wakes =
          this->drain_wakes.fetch_sub(wakes, std::memory_order_release) - wakes;
    } while (wakes != 0);
  }

  // Returns whether the end is reached.
  bool DrainOnce() {
    const BorrowedWaker waker(RawWaker{this, &kDrainVTable});
    Context cx(waker.get());
    for (;;) {
      const PollResult<bool> has_front = PollFront(cx);
      if (has_front.IsPending()) return false;
      if (!*has_front) return true;
      queue().PopFront();
      this->Received(1);
    }
  }

  // The wakers below own no reference: see the top of the file.
  static RawWaker CloneDrain(void* shared) { return {shared, &kDrainVTable}; }
  static void WakeDrain(void* shared) { static_cast<Shared*>(shared)->Drain(); }
  static void DropDrain(void*) {}

  static constexpr RawWakerVTable kDrainVTable = {&CloneDrain, &WakeDrain,
                                                  &WakeDrain, &DropDrain};

  // Removes the front and returns it. REQUIRES: there is a front.
  ABSL_ATTRIBUTE_ALWAYS_INLINE std::optional<T> Take() {
    std::optional<T> value(std::move(queue().Front()));
    queue().PopFront();
    this->Received(1);
    return value;
  }
};

}  // namespace rouse::mpsc::internal

#endif  // ROUSE_SYNC_MPSC_SHARED_H_
