// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shared.h
// -----------------------------------------------------------------------------
//
// The state that the ends of a channel share: see mpmc.h. Internal to `sync/`.
//
// A channel is a queue (queue.h), a semaphore whose permits are the messages
// that can be received, and in a bounded channel a semaphore whose permits are
// the free places. The semaphores have all the waiting: who waits, in which
// order, and what happens to a waiter that was notified and is destroyed. A
// permit of a message does not say which message: the receiver finds out when
// it claims a position, which it does at once.
//
// The semaphore of the messages is never closed. At the end it gets so many
// permits that every receive has one, and those that find no message are at the
// end.

#ifndef ROUSE_SYNC_MPMC_SHARED_H_
#define ROUSE_SYNC_MPMC_SHARED_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/error_for.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/lock/back_off.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/mpmc/core.h"
#include "rouse/sync/mpmc/queue.h"
#include "rouse/sync/semaphore/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpmc::internal {

// The names of the handles in panic messages.
inline constexpr char kSenderName[] = "mpmc::Sender";
inline constexpr char kWeakSenderName[] = "mpmc::WeakSender";
inline constexpr char kReceiverName[] = "mpmc::Receiver";

// Makes the two ends of a channel; see mpmc.h.
template <class T, class Core>
class Ends;

// The part of a channel that does not depend on the room. A base class, so that
// the members of the core are in the padding of the queue.
template <class T>
class Messages {
 public:
  Queue<T>& queue() { return queue_; }
  const Queue<T>& queue() const { return queue_; }
  rouse::internal::SemaphoreCore& permits() { return permits_; }

 private:
  // The word of the semaphore, which both sides change, is on a cache line of
  // its own.
  alignas(ABSL_CACHELINE_SIZE) rouse::internal::SemaphoreCore permits_{0};
  [[no_unique_address]] Queue<T> queue_;
};

// Shared
//
// The shared state of a channel of `T`. `Core` is `Bounded` or `Unbounded`.
template <class T, class Core>
class Shared : public Messages<T>, public Core {
 public:
  using Core::Core;
  using Messages<T>::queue;
  using Messages<T>::permits;

  // ---- For senders.

  // Enqueues `value`. For a bounded channel the caller must have a place.
  // Returns false, leaving `value` intact, if the channel is closed.
  bool Publish(T&& value) {
    const size_t ready = queue().Push(std::move(value));
    if (ABSL_PREDICT_FALSE(ready == kRefused)) {
      // Drops an exception from a waker, which would seem to come from a send
      // that has taken the value.
      this->Received(1);
      return false;
    }
    if (ready != 0) permits().Release(ready);
    return true;
  }

  void DropSender() {
    if (!this->RemoveSender()) return;
    const size_t end = queue().SendersAreGone();
    if (end != 0) permits().Release(end);
    Unref(Core::kSenders);
  }

  void DropWeakSender() { Unref(Core::kWeakSender); }

  void Unref(uint64_t who) {
    if (this->Leave(who)) delete this;
  }

  // ---- For receivers.

  // Returns the next message, or nothing at the end. The caller must have a
  // permit.
  std::optional<T> Take() {
    const size_t position = queue().Claim(1);
    std::optional<T> value;
    if (ABSL_PREDICT_FALSE(queue().CountBeforeEnd(position, 1) == 0)) {
      return value;
    }
    queue().Take(position, 1, [&value](T&& v) { value.emplace(std::move(v)); });
    this->Received(1);
    return value;
  }

  absl::StatusOr<T> TryReceive() {
    if (!TryTakePermit()) {
      // The end may not have been announced yet, but no message is left.
      if (IsClosed() && queue().size() == 0) return ErrorOfEnd();
      return rouse::internal::ErrorFor<absl::StatusOr<T>>(
          absl::UnavailableError(
              "mpmc::Receiver::TryReceive: the channel is empty; call "
              "Receive() to wait for a message"));
    }
    std::optional<T> value = Take();
    if (!value.has_value()) return ErrorOfEnd();
    return *std::move(value);
  }

  // Returns whether no more messages can be sent. A caller that gets true sees
  // all messages that were sent.
  bool IsClosed() const { return this->closed.IsSet() || !this->HasSenders(); }

  void Close() {
    if (this->closed.IsSet()) return;
    const size_t end = queue().Close();
    FirstException first;  // of wakers
    first.Catch([this] { this->CloseCapacity(); });
    first.Catch([this] { this->closed.Set(); });
    if (end != 0) first.Catch([this, end] { permits().Release(end); });
    first.Rethrow();
  }

  void DropReceiver() {
    if (!this->RemoveReceiver()) return;
    Close();
    Discard();
    Unref(Core::kReceivers);
  }

 private:
  // Waits for a permit of a message, without budget.
  class PermitFuture {
   public:
    explicit PermitFuture(Shared& shared) : acquire_(shared.permits(), 1) {}
    PollResult<bool> Poll(Context& cx) {
      size_t free = 1;
      return acquire_.Poll(cx, "mpmc::Receiver", free);
    }

   private:
    rouse::internal::PendingAcquire acquire_;
  };

  ~Shared() = default;

  static auto ErrorOfEnd() {
    return rouse::internal::ErrorFor<absl::StatusOr<T>>(
        ClosedError("mpmc::Receiver::TryReceive"));
  }

  // Takes a permit, unless all messages that were sent before the call have
  // been received, or have been assigned to waiting receivers, or are about to
  // be assigned after the wakers of others have been called.
  bool TryTakePermit() {
    if (ABSL_PREDICT_TRUE(permits().TryAcquire(1))) return true;
    size_t sent = queue().PushedEnd();
    BackOff back_off;
    // A push that began earlier may still be at work, although later pushes are
    // done. Or a receiver with a permit has not claimed a position yet. Both
    // are only a few instructions from their ends. A claim is counted before
    // the waiters, and so is not counted twice.
    for (;;) {
      // A push that a close refuses counts until the close has set the end.
      sent = std::min(sent, queue().PushedEnd());
      size_t used = queue().ClaimedEnd();
      if (used < sent) used += permits().NotifiedWaiters();
      if (used >= sent || permits().IsAssigning()) {
        return permits().TryAcquire(1);
      }
      back_off.Wait();
      if (permits().TryAcquire(1)) return true;
    }
  }

  // Destroys all messages, when the channel is closed and has no receiver. May
  // wait a moment for senders in the middle of a send.
  void Discard() {
    for (;;) {
      if (!permits().TryAcquire(1)) {
        PermitFuture permit(*this);
        rouse::internal::BlockOnAnywhere(permit);
      }
      const size_t position = queue().Claim(1);
      if (queue().CountBeforeEnd(position, 1) == 0) return;
      queue().Take(position, 1, [](T&&) {});
    }
  }
};

}  // namespace rouse::mpmc::internal

#endif  // ROUSE_SYNC_MPMC_SHARED_H_
