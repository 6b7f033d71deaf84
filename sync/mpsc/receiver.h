// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: receiver.h
// -----------------------------------------------------------------------------
//
// The receiver of a channel: see mpsc.h.

#ifndef ROUSE_SYNC_MPSC_RECEIVER_H_
#define ROUSE_SYNC_MPSC_RECEIVER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/statusor.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/internal/handle_ptr.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/mpsc/core.h"
#include "rouse/sync/mpsc/shared.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpsc {

template <class T, class Core>
class BasicReceiver;

// Receiver, UnboundedReceiver
//
// See `BasicReceiver`.
template <class T>
using Receiver = BasicReceiver<T, internal::Bounded>;
template <class T>
using UnboundedReceiver = BasicReceiver<T, internal::Unbounded>;

namespace internal {

// The part of a receiving future that removes the traces of a pending receive
// when the future is destroyed.
template <class T, class Core>
class Receiving {
 public:
  explicit Receiving(Shared<T, Core>& shared) : shared_(&shared) {}
  Receiving(Receiving&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)),
        pending_poll_(std::exchange(other.pending_poll_, 0)) {}
  Receiving& operator=(Receiving&&) = delete;
  ~Receiving() {
    if (ABSL_PREDICT_TRUE(pending_poll_ == 0)) return;
    shared_->EndWait();
    shared_->ForgetWaker(pending_poll_);
  }

  // Begins a poll. Returns the channel.
  Shared<T, Core>& BeginPoll(const char* call) {
    if (ABSL_PREDICT_FALSE(shared_ == nullptr)) {
      rouse::internal::PanicPolledAfterEnd(call);
    }
    if (std::exchange(pending_poll_, 0) != 0) shared_->EndWait();
    return *shared_;
  }

  void EndPoll(bool is_pending) {
    if (is_pending) {
      pending_poll_ = shared_->BeginWait();
    } else {
      shared_ = nullptr;
    }
  }

 private:
  Shared<T, Core>* shared_;    // null: finished
  uint64_t pending_poll_ = 0;  // 0 if the last poll was not pending
};

// See `BasicReceiver::Receive()`.
template <class T, class Core>
class [[nodiscard]] ReceiveFuture {
 public:
  explicit ReceiveFuture(Shared<T, Core>& shared) : receiving_(shared) {}

  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<std::optional<T>> Poll(Context& cx) {
    PollResult<std::optional<T>> result =
        receiving_.BeginPoll("mpsc::Receiver::Receive").PollReceive(cx);
    receiving_.EndPoll(result.IsPending());
    return result;
  }

 private:
  Receiving<T, Core> receiving_;
};

// See `BasicReceiver::ReceiveMany()`.
template <class T, class Core>
class [[nodiscard]] ReceiveManyFuture {
 public:
  ReceiveManyFuture(Shared<T, Core>& shared, std::vector<T>& out, size_t limit)
      : receiving_(shared), out_(&out), limit_(limit) {}

  PollResult<size_t> Poll(Context& cx) {
    Shared<T, Core>& shared =
        receiving_.BeginPoll("mpsc::Receiver::ReceiveMany");
    const PollResult<size_t> result = PollMany(shared, cx);
    receiving_.EndPoll(result.IsPending());
    return result;
  }

 private:
  // Gives back the places of the received messages, even if `out` throws.
  struct Count {
    explicit Count(Shared<T, Core>& s) : shared(s) {}
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;
    ~Count() {
      if (received != 0) shared.Received(received);
    }

    Shared<T, Core>& shared;
    size_t received = 0;
  };

  PollResult<size_t> PollMany(Shared<T, Core>& shared, Context& cx) {
    if (limit_ == 0) return size_t{0};
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    const PollResult<bool> has_front = shared.PollFront(cx);
    if (has_front.IsPending()) return kPending;
    unit->MadeProgress();
    Count count(shared);
    while (count.received < limit_ && shared.queue().HasFront()) {
      out_->push_back(std::move(shared.queue().Front()));
      shared.queue().PopFront();
      ++count.received;
    }
    return count.received;
  }

  Receiving<T, Core> receiving_;
  std::vector<T>* out_;
  size_t limit_;
};

}  // namespace internal

// BasicReceiver
//
// The receiver of a channel. Used by a single thread at a time. The destructor
// closes the channel and destroys the remaining messages. A receiver is a
// stream (future/stream.h). A receiver that was moved from can only be assigned
// and destroyed; any other use is a `Panic()`.
//
// Several futures of a receiver can be pending at once, but only in one task,
// such as the branches of a `Join` or a `Select`: the task of the latest poll
// is woken.
//
// The futures refer to the channel, and the receiver must outlive them. A
// cancelled future has received nothing. If the waker of a sender that has
// waited for room throws, the exception is dropped, and the received message is
// returned.
template <class T, class Core>
class BasicReceiver {
 public:
  BasicReceiver(BasicReceiver&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  BasicReceiver& operator=(BasicReceiver&& other) noexcept {
    BasicReceiver replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    return *this;
  }
  ~BasicReceiver() {
    if (shared_ != nullptr) shared_->DropReceiver();
  }

  // Returns a future of the next message as a `std::optional<T>`, or of
  // `std::nullopt` when no more messages will arrive. The future can be moved
  // at any time.
  internal::ReceiveFuture<T, Core> Receive() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::ReceiveFuture<T, Core>(*shared_);
  }

  // Returns a future that waits for a message and appends all available
  // messages to `out`, up to `limit`. The result is the number of appended
  // messages, a `size_t`. The result is 0 when no more messages will arrive,
  // and at once if `limit` is 0. `out` must outlive the future. The future can
  // be moved at any time.
  //
  // If `out` cannot grow, the messages without room stay in the channel.
  internal::ReceiveManyFuture<T, Core> ReceiveMany(
      std::vector<T>& out ABSL_ATTRIBUTE_LIFETIME_BOUND,
      size_t limit) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::ReceiveManyFuture<T, Core>(*shared_, out, limit);
  }

  // Polls for the next message, as `Receive()` does, for the caller's own
  // futures. The waker of the last call that was pending is kept until there is
  // a message, or until the next call.
  PollResult<std::optional<T>> PollReceive(Context& cx) {
    return shared_->PollReceive(cx);
  }
  // Calls `PollReceive()`, which makes the receiver a stream.
  PollResult<std::optional<T>> PollNext(Context& cx) { return PollReceive(cx); }

  // Returns the next message if there is one. Fails with `kUnavailable` if
  // there is no message yet, and with `kCancelled` if no more messages will
  // arrive. Finds every message that was sent before the call; to do so, the
  // call may wait a moment for a sender in the middle of a send. No future of
  // this receiver may be waiting.
  absl::StatusOr<T> TryReceive() { return shared_->TryReceive(); }

  // Receives as `Receive()` does, and blocks the calling thread. For threads
  // outside of any runtime. Like `BlockOn()`, this is a `Panic()` inside a
  // task.
  std::optional<T> BlockingReceive() {
    return rouse::internal::BlockOnFor("mpsc::Receiver::BlockingReceive",
                                       "co_await Receive()", Receive());
  }
  // Receives as `ReceiveMany()` does, and blocks the calling thread. For
  // threads outside of any runtime. Like `BlockOn()`, this is a `Panic()`
  // inside a task.
  size_t BlockingReceiveMany(std::vector<T>& out, size_t limit) {
    return rouse::internal::BlockOnFor("mpsc::Receiver::BlockingReceiveMany",
                                       "co_await ReceiveMany()",
                                       ReceiveMany(out, limit));
  }

  // Closes the channel: senders fail from now on, and a pending `Receive()` of
  // this receiver is woken. Earlier messages, and messages sent with a permit
  // that a sender already has, can still be received. After these messages the
  // receiver gets the end. If wakers throw, the channel is closed nevertheless,
  // and the first exception is rethrown.
  void Close() { shared_->CloseAndWake(); }

  // Returns whether no more messages can be sent (except with permits), because
  // the channel was closed or the last sender was destroyed.
  bool IsClosed() const {
    return shared_->closed.IsSet() || !shared_->HasSenders();
  }

  // Returns the number of messages, including messages that are being sent
  // right now.
  size_t size() const { return shared_->queue().size(); }
  bool IsEmpty() const { return size() == 0; }

  // Returns the number of messages for which there is room now.
  size_t capacity() const
    requires Core::kIsBounded
  {
    return shared_->available();
  }
  // Returns the number of messages for which an empty channel has room.
  size_t max_capacity() const
    requires Core::kIsBounded
  {
    return shared_->capacity();
  }
  size_t sender_strong_count() const { return shared_->senders(); }
  size_t sender_weak_count() const { return shared_->weak_senders(); }

 private:
  template <class, class>
  friend class internal::Ends;

  explicit BasicReceiver(internal::Shared<T, Core>* shared) : shared_(shared) {}

  rouse::internal::HandlePtr<internal::Shared<T, Core>, internal::kReceiverName>
      shared_;
};

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_RECEIVER_H_
