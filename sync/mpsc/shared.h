// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shared.h
// -----------------------------------------------------------------------------
//
// What the two ends of a channel share: see mpsc.h. Internal to `sync/`.
//
// # When the receiver has gone
//
// Messages may come for as long as senders are at it, or have permits. The
// receiver leaves a waker of the channel's own behind, which receives what
// comes, for nobody, until there will be no more: `Drain()`. To senders it is a
// receiver that has closed and waits. It runs inside the calls that wake it, in
// one at a time: who wakes it meanwhile has it look once more.
//
// It has the reference of the receiver. So a message may have the last sender
// with it, and whoever wakes it has a sender or what belongs to one: the
// channel is there until the wake has been counted.

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

// What a panic calls them.
inline constexpr char kSenderName[] = "mpsc::Sender";
inline constexpr char kWeakSenderName[] = "mpsc::WeakSender";
inline constexpr char kReceiverName[] = "mpsc::Receiver";

// Makes the ends; see mpsc.h.
template <class T, class Core>
class Ends;
template <class T, class Core>
class ReceiveManyFuture;

// Shared
//
// Of a channel of `T`; `Core` is `Bounded` or `Unbounded`.
template <class T, class Core>
class Shared : public Core {
 public:
  using Core::Core;

  Queue<T>& queue() { return queue_; }

  // ---- For senders.

  // Of a bounded channel, by who has a place; else it may be closed: false, and
  // `value` is left alone.
  bool Publish(T&& value) {
    const PushResult result = queue_.Push(std::move(value));
    if (result == PushResult::kWake) this->receiver_waker.Wake();
    return result != PushResult::kClosed;
  }

  void DropSender() {
    if (!this->RemoveSender()) return;
    if (queue_.SendersAreGone()) this->receiver_waker.Wake();
    Unref(Core::kSenders);
  }

  void Unref(uint64_t who) {
    if (this->Leave(who)) delete this;
  }

  // ---- For the receiver.

  PollResult<std::optional<T>> PollReceive(Context& cx) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (ABSL_PREDICT_FALSE(unit.IsPending())) return kPending;
    const PollResult<bool> has_front = PollFront(cx);
    if (has_front.IsPending()) return kPending;
    unit->MadeProgress();
    if (!*has_front) return std::optional<T>();
    return Take();
  }

  // Whether there is a message, or the end.
  PollResult<bool> PollFront(Context& cx) {
    if (ABSL_PREDICT_TRUE(queue_.HasFront())) return true;
    return PollFrontSlowly(cx);
  }

  absl::StatusOr<T> TryReceive() {
    if (!queue_.HasFront()) {
      // The last sender may not have told the queue yet. All has been sent.
      if (HasEnded() || (!this->HasSenders() && !queue_.HasFront())) {
        return rouse::internal::ErrorFor<absl::StatusOr<T>>(
            ClosedError("mpsc::Receiver::TryReceive"));
      }
      if (queue_.size() == 0) {
        return rouse::internal::ErrorFor<absl::StatusOr<T>>(
            absl::UnavailableError(
                "mpsc::Receiver::TryReceive: there is no message yet; "
                "Receive() waits for one"));
      }
      // Who sends the first may be at it still, though others behind it are
      // done.
      rouse::internal::BlockOnAnywhere(FrontFuture(*this));
    }
    return *Take();
  }

  // Notes that the poll of a future was pending. Returns the number of the
  // poll, whose waker is kept until the next one.
  uint64_t BeginWait() {
    ++waiting_;
    return polls_;
  }
  // Notes that a future is polled again, or is destroyed.
  void EndWait() { --waiting_; }

  // Forgets the waker of the poll with this number, unless another poll was
  // pending since, or a future waits: it has been of that future's task.
  void ForgetWaker(uint64_t poll) {
    if (poll == polls_ && waiting_ == 0) this->receiver_waker.Forget();
  }

  void Close() {
    if (this->closed.IsSet()) return;
    FirstException first;  // of wakers
    first.Catch([this] { this->CloseCapacity(); });
    if constexpr (!Core::kIsBounded) queue_.Close();
    first.Catch([this] { this->closed.Set(); });
    first.Rethrow();
  }

  // For a receiver that stays: a poll of its own may be pending.
  void CloseAndWake() {
    FirstException first;
    first.Catch([this] { Close(); });
    first.Catch([this] { this->receiver_waker.Wake(); });
    first.Rethrow();
  }

  void DropReceiver() {
    Close();
    ForgetWaker(polls_);
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

  // As of the last look.
  bool HasEnded() const { return queue_.HasEnded() || this->IsDrained(); }

  ABSL_ATTRIBUTE_NOINLINE PollResult<bool> PollFrontSlowly(Context& cx) {
    if (!HasEnded()) {
      // Who makes the front, or the end, after the look that follows wakes
      // this.
      ++polls_;
      this->receiver_waker.Register(cx.waker(), !queue_.IsWatching());
      if (!queue_.Watch() && !HasEnded()) return kPending;
    }
    ForgetWaker(polls_);
    return queue_.HasFront();
  }

  void Drain() {
    // Acquire pairs with the release of who was at it before. Who is at it now
    // sees what the wake is about when it registers anew.
    if (drain_wakes_.fetch_add(1, std::memory_order_acquire) != 0) return;
    uint32_t wakes = 1;
    do {
      if (DrainOnce()) {
        // The count stays, so that a wake which is late does nothing.
        Unref(Core::kReceiver);
        return;
      }
      // Release: as above.
      wakes = drain_wakes_.fetch_sub(wakes, std::memory_order_release) - wakes;
    } while (wakes != 0);
  }

  // Whether it has come to the end.
  bool DrainOnce() {
    const BorrowedWaker waker(RawWaker{this, &kDrainVTable});
    Context cx(waker.get());
    for (;;) {
      const PollResult<bool> has_front = PollFront(cx);
      if (has_front.IsPending()) return false;
      if (!*has_front) return true;
      queue_.PopFront();
      this->Received(1);
    }
  }

  // Of wakers that are no references: see above.
  static RawWaker CloneDrain(void* shared) { return {shared, &kDrainVTable}; }
  static void WakeDrain(void* shared) { static_cast<Shared*>(shared)->Drain(); }
  static void DropDrain(void*) {}

  static constexpr RawWakerVTable kDrainVTable = {&CloneDrain, &WakeDrain,
                                                  &WakeDrain, &DropDrain};

  // REQUIRES: there is one.
  std::optional<T> Take() {
    std::optional<T> value(std::move(queue_.Front()));
    queue_.PopFront();
    this->Received(1);
    return value;
  }

  Queue<T> queue_;
  // Of the receiver: the number of the latest poll that was pending, which is
  // not 0, and how many of its futures wait.
  uint64_t polls_ = 1;
  uint32_t waiting_ = 0;
  // Those that who drains has not answered yet.
  Atomic<uint32_t> drain_wakes_{0};
};

}  // namespace rouse::mpsc::internal

#endif  // ROUSE_SYNC_MPSC_SHARED_H_
