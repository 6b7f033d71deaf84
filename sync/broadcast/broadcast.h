// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: broadcast.h
// -----------------------------------------------------------------------------
//
// A broadcast channel: every receiver gets every value that was sent after it
// subscribed. Many senders, many receivers.
//
//   auto [tx, rx] = rouse::broadcast::Channel<Event>(1024);
//   rouse::Spawn(Serve(tx.Subscribe())).Detach();
//   ...
//   tx.Send(event).IgnoreError();   // never waits
//
//   rouse::Co<> Serve(rouse::broadcast::Receiver<Event> rx) {
//     for (;;) {
//       rouse::broadcast::Received<Event> event = co_await rx.Receive();
//       if (event.IsClosed()) co_return;             // no sender is left
//       if (event.lagged() > 0) continue;            // this many were missed
//       Handle(*event);
//     }
//   }
//
// # Slow receivers
//
// A channel keeps the last `capacity` values, and a sender never waits. If a
// receiver is too slow, so that values are overwritten before they are
// received, the receiver gets the number of missed values, and continues at the
// oldest kept value. The requested capacity is rounded up to a power of two.
//
// # Requirements for T
//
// Several receivers may copy a `T` at once, while others destroy their copies.
// Therefore several threads must be able to call `T(const T&)` for the same
// value concurrently. (Send a `std::shared_ptr` to any other type, such as a
// type with a `mutable` cache.) When only one receiver is left with the value,
// the receiver gets the value itself and not a copy. No lock is held while a
// `T` is copied, moved or destroyed, so all three operations may do anything.
// The destructor must not throw. If the copy constructor throws, the receiver
// has lost the value, and gets the exception.
//
// A value is destroyed when the last receiver has received the value, and at
// the latest when the value is overwritten. A trivially copyable value of at
// most 16 bytes is kept in the ring itself. For all other values, each `Send()`
// makes an allocation, from the pool.
//
// # Threads
//
// A channel works without a runtime, on any thread. Any number of threads can
// use a `Sender` at once, except to assign or destroy it. One thread at a time
// can use a `Receiver`. Receiving an available value takes no lock and waits
// for no other thread, except in a future that has already had to wait.

#ifndef ROUSE_SYNC_BROADCAST_BROADCAST_H_
#define ROUSE_SYNC_BROADCAST_BROADCAST_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "absl/status/statusor.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/broadcast/core.h"
#include "rouse/sync/broadcast/slot.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/stream_waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::broadcast {

template <class T>
class Receiver;
template <class T>
class Sender;
template <class T>
class WeakSender;

namespace internal {

// The names of calls in panic messages.
inline constexpr char kReceive[] = "broadcast::Receiver::Receive";
inline constexpr char kClosed[] = "broadcast::Sender::Closed";

}  // namespace internal

// Received
//
// The result of a receive: a value; a number of missed values; the end, when no
// value is left and no more will arrive; or, only from `TryReceive()`, an empty
// result when there is no value yet. Exactly one of `has_value()`,
// `lagged() > 0`, `IsClosed()` and `IsEmpty()` holds.
template <class T>
class [[nodiscard]] Received {
 public:
  using value_type = T;

  template <class... Args>
  explicit Received(std::in_place_t, Args&&... args)
      : value_(std::in_place, std::forward<Args>(args)...) {}

  // REQUIRES: `missed` is not 0.
  static Received Lagged(uint64_t missed) { return Received(missed); }
  static Received Closed() { return Received(kClosed); }
  static Received Empty() { return Received(kEmpty); }

  // Returns whether a value was received.
  bool has_value() const { return value_.has_value(); }

  // Returns the number of values that were overwritten before this receiver
  // could receive them, or 0 for other results. The next value is the oldest
  // kept value.
  uint64_t lagged() const { return without_ < kEmpty ? without_ : 0; }

  // Returns whether no sender is left and the receiver has received everything.
  bool IsClosed() const { return without_ == kClosed; }

  // Returns whether there is no value yet.
  bool IsEmpty() const { return without_ == kEmpty; }

  // REQUIRES: `has_value()`.
  T& value() & ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(has_value());
    return *value_;
  }
  const T& value() const& ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(has_value());
    return *value_;
  }
  T&& value() && ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(has_value());
    return *std::move(value_);
  }

  T& operator*() & ABSL_ATTRIBUTE_LIFETIME_BOUND { return value(); }
  const T& operator*() const& ABSL_ATTRIBUTE_LIFETIME_BOUND { return value(); }
  T&& operator*() && ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::move(*this).value();
  }
  T* operator->() ABSL_ATTRIBUTE_LIFETIME_BOUND { return &value(); }
  const T* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return &value(); }

 private:
  static constexpr uint64_t kClosed = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kEmpty = kClosed - 1;

  explicit Received(uint64_t without) : without_(without) {}

  std::optional<T> value_;
  uint64_t without_ = 0;
};

// ReceiveFuture
//
// See `Receiver::Receive()`. Can be moved only before the first poll.
template <class T>
class [[nodiscard]] ReceiveFuture {
 public:
  explicit ReceiveFuture(Receiver<T>& receiver) : wait_(&receiver) {}

  PollResult<Received<T>> Poll(Context& cx);

 private:
  PollResult<Received<T>> PollSlow(Context& cx);

  rouse::internal::PendingWait<Receiver<T>, internal::kReceive> wait_;
};

// ClosedFuture
//
// See `Sender::Closed()`. Can be moved only before the first poll.
class [[nodiscard]] ClosedFuture {
 public:
  explicit ClosedFuture(internal::CoreBase& core) : wait_(&core) {}

  PollResult<void> Poll(Context& cx) {
    return wait_.Poll(cx, &internal::CoreBase::WaitForNoReceiver);
  }

 private:
  rouse::internal::PendingWait<internal::CoreBase, internal::kClosed> wait_;
};

// Sender
//
// A copy is a sender of the same channel. When the last sender is destroyed,
// the channel is closed for receivers. A sender that was moved from can only be
// assigned and destroyed; any other use is a `Panic()`.
template <class T>
class Sender {
 public:
  // Makes a channel without receivers. `Subscribe()` makes the first receiver.
  // Panics if `capacity` is 0 or more than `kMaxCapacity`.
  explicit Sender(size_t capacity) : core_(new internal::Core<T>(capacity)) {}

  Sender(const Sender& other) : core_(other.core_) {
    if (core_) core_->AddSender();
  }
  Sender(Sender&& other) noexcept = default;
  Sender& operator=(Sender other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Sender() {
    if (core_) core_->RemoveSender();
  }

  // Sends `value` to all existing receivers, and returns the number of
  // receivers. A receiver may still miss the value, or be destroyed without
  // having received the value. Never waits, and needs no runtime. Takes O(1)
  // time, and O(1) more for each receiver that waits.
  //
  // Fails with `kCancelled`, leaving `value` unchanged, if there are no
  // receivers. (A `T` without assignment, which cannot be given back, is
  // copied.) After the failure, everything that receivers did before their
  // destruction is visible.
  //
  // This sender must not be part of `value`, or be destroyed with it when the
  // value is received. A copy of the sender may be part of `value`: the channel
  // stays open as long as the copy exists.
  absl::StatusOr<size_t> Send(T&& value) const {
    if constexpr (internal::kIsPlain<T> || !std::is_move_assignable_v<T>) {
      return Send(std::as_const(value));
    } else {
      if (core_->receivers() == 0) return internal::NoReceiversError();
      Message message = internal::Slot<T>::Wrap(std::move(value));
      const size_t receivers = core_->Send(message);
      if (ABSL_PREDICT_TRUE(receivers != 0)) return receivers;
      value = std::move(message->value());
      return internal::NoReceiversError();
    }
  }

  // Sends a copy of `value`, with the same results.
  absl::StatusOr<size_t> Send(const T& value) const {
    if (core_->receivers() == 0) return internal::NoReceiversError();
    Message message = internal::Slot<T>::Wrap(value);
    const size_t receivers = core_->Send(message);
    if (ABSL_PREDICT_TRUE(receivers != 0)) return receivers;
    return internal::NoReceiversError();
  }

  // Returns a receiver of all values that are sent from now on. Panics if the
  // channel already has `kMaxReceivers` receivers.
  Receiver<T> Subscribe() const { return Receiver<T>(core_); }

  // Returns a future that is ready when a poll finds no receiver. A poll that
  // finds a new receiver waits for the destruction of that receiver, too. Any
  // number of threads and tasks can wait. The sender must not be moved or
  // destroyed as long as the future exists. Destroying the future ends the
  // wait.
  ClosedFuture Closed() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ClosedFuture(*core_.operator->());
  }

  // Returns the number of receivers.
  size_t receiver_count() const { return core_->receivers(); }

  // Returns whether there is no receiver. `Subscribe()` makes one again.
  bool IsClosed() const { return receiver_count() == 0; }

  // Returns the number of senders, without weak senders.
  size_t sender_count() const { return core_->senders(); }

  // Returns the number of kept values that some receiver has not received yet.
  // Takes O(log capacity) time.
  size_t size() const { return core_->Unread(); }
  bool IsEmpty() const { return size() == 0; }

  // Returns the number of values that are kept: the requested capacity, rounded
  // up to a power of two.
  size_t capacity() const { return core_->capacity(); }

  // Returns a handle that does not keep the channel open.
  WeakSender<T> Downgrade() const { return WeakSender<T>(core_); }

  // Returns whether both senders send to the same channel.
  bool SameChannel(const Sender& other) const {
    return core_.get() == other.core_.get();
  }

 private:
  friend class WeakSender<T>;
  using Message = typename internal::Core<T>::Message;

  explicit Sender(internal::CoreRef<T> core) : core_(std::move(core)) {}

  internal::CoreRef<T> core_;
};

// WeakSender
//
// A handle that does not count as a sender, but can be upgraded to a sender as
// long as another sender is left. Thread-safe as a `Sender` is.
template <class T>
class WeakSender {
 public:
  // Returns a sender, or nothing if the last sender is destroyed.
  std::optional<Sender<T>> Upgrade() const {
    if (!core_->AddSenderUnlessClosed()) return std::nullopt;
    return Sender<T>(core_);
  }

 private:
  friend class Sender<T>;

  explicit WeakSender(internal::CoreRef<T> core) : core_(std::move(core)) {}

  internal::CoreRef<T> core_;
};

// Receiver
//
// Receives the values that are sent after the receiver was made, in the same
// order as all other receivers. Used by a single thread at a time. A receiver
// that was moved from can only be assigned and destroyed. The destructor gives
// up the receiver's share in values that were not received. Its cost is
// O(size()), and never more than the capacity.
template <class T>
class Receiver {
 public:
  // Internal. The waiter of `Next()`: see stream.h.
  using Waiter = rouse::internal::StreamWaiter<ReceiveFuture<T>>;

  Receiver(Receiver&& other) noexcept = default;
  Receiver& operator=(Receiver other) noexcept {
    own_waiter_.Reset();
    std::swap(core_, other.core_);
    std::swap(position_, other.position_);
    return *this;
  }
  ~Receiver() {
    own_waiter_.Reset();
    if (core_) core_->RemoveReceiver(position_);
  }

  // Returns a future of the next value, of the number of missed values, or of
  // the end: closed, when all senders are destroyed and everything has been
  // received. The result is never empty.
  //
  // A future that is destroyed before it is ready has received nothing. As long
  // as the future exists, the receiver must not be moved or destroyed, and no
  // other call may receive from the receiver.
  ReceiveFuture<T> Receive() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReceiveFuture<T>(*this);
  }

  // Makes the receiver a `Stream` of the results of `Receive()`, which ends
  // when the channel is closed. Each item is a value or a number of missed
  // values. The stream may be moved between two polls: a move ends the wait,
  // and the next poll begins another. Without a `waiter`, the first poll that
  // waits allocates, and nothing else may receive until the stream has an item.
  PollResult<std::optional<Received<T>>> PollNext(Context& cx,
                                                  Waiter* waiter = nullptr) {
    if (waiter == nullptr) waiter = &own_waiter_.get();
    PollResult<Received<T>> received =
        waiter->Poll(cx, [this] { return Receive(); });
    if (received.IsPending()) return kPending;
    if (received->IsClosed()) return std::nullopt;
    return PollResult<std::optional<Received<T>>>(std::in_place,
                                                  *std::move(received));
  }

  // Receives like `Receive()` without waiting. If there is no value yet the
  // result is empty.
  Received<T> TryReceive() {
    typename Core::Taken taken = core_->Take(position_);
    if (ABSL_PREDICT_TRUE(taken.has_value())) {
      ++position_;
      return FromTaken(std::move(*taken));
    }
    uint64_t missed = 0;
    const Look look =
        core_->TakeOrWait(position_, missed, taken, nullptr, nullptr);
    return From(look, missed, taken);
  }

  // Receives like `Receive()`, but blocks the calling thread until there is a
  // result. Like `BlockOn()`, this is a `Panic()` inside a task.
  Received<T> BlockingReceive() {
    return rouse::internal::BlockOnFor("broadcast::Receiver::BlockingReceive",
                                       "co_await Receive()", Receive());
  }

  // Returns another receiver, of all values sent from now on. The new receiver
  // does not get the earlier values, even if this receiver has not received
  // them yet.
  Receiver Resubscribe() const { return Receiver(core_); }

  // Returns the number of sent values that this receiver has not received. If
  // the number is more than the capacity, the next result reports the missed
  // values.
  uint64_t size() const { return core_->SentSince(position_); }
  bool IsEmpty() const { return size() == 0; }

  // Returns whether all senders are destroyed. There may be values left to
  // receive.
  bool IsClosed() const { return core_->senders() == 0; }

  // Returns the number of values that are kept, and the number of senders
  // without weak senders.
  size_t capacity() const { return core_->capacity(); }
  size_t sender_count() const { return core_->senders(); }

  // Returns whether both receivers receive from the same channel.
  bool SameChannel(const Receiver& other) const {
    return core_.get() == other.core_.get();
  }

 private:
  friend class ReceiveFuture<T>;
  friend class Sender<T>;
  template <class, const auto&>
  friend class rouse::internal::PendingWait;
  using Core = internal::Core<T>;
  using Look = internal::CoreBase::Look;

  explicit Receiver(internal::CoreRef<T> core)
      : core_(std::move(core)), position_(core_->AddReceiver()) {}

  // Called by the receiver's future.
  void StopWaiting(internal::WaitNode& node) { core_->StopWaiting(node); }

  template <class Taken>
  static Received<T> FromTaken(Taken&& taken) {
    return Received<T>(std::in_place, std::forward<Taken>(taken).Take());
  }

  // REQUIRES: `taken` has a value if `look` is `kValue`.
  static Received<T> From(Look look, uint64_t missed,
                          typename Core::Taken& taken) {
    switch (look) {
      case Look::kValue:
        return FromTaken(*std::move(taken));
      case Look::kLagged:
        return Received<T>::Lagged(missed);
      case Look::kEmpty:
        return Received<T>::Empty();
      case Look::kClosed:
        break;
    }
    return Received<T>::Closed();
  }

  rouse::internal::OwnStreamWaiter<Waiter> own_waiter_;  // uses `core_`
  internal::CoreRef<T> core_;
  uint64_t position_ = 0;  // of the next value
};

// The largest capacity.
inline constexpr size_t kMaxCapacity = internal::kMaxCapacity;

// The largest number of receivers of a channel.
inline constexpr size_t kMaxReceivers = internal::kMaxReceivers;

// Channel()
//
// Makes a channel that keeps `capacity` values, rounded up to a power of two,
// with the first sender and the first receiver. Allocates room for all values:
// 16 bytes each, or 24 bytes if `T` is trivially copyable and has 9 to 16
// bytes. Panics if `capacity` is 0 or more than `kMaxCapacity`.
template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(size_t capacity) {
  Sender<T> sender(capacity);
  Receiver<T> receiver = sender.Subscribe();
  return {std::move(sender), std::move(receiver)};
}

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class T>
PollResult<Received<T>> ReceiveFuture<T>::Poll(Context& cx) {
  Receiver<T>& receiver = wait_.source();
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (!wait_.waits()) {
    typename Receiver<T>::Core::Taken taken =
        receiver.core_->Take(receiver.position_);
    if (ABSL_PREDICT_TRUE(taken.has_value())) {
      unit->MadeProgress();
      ++receiver.position_;
      wait_.Finish();
      return Receiver<T>::FromTaken(*std::move(taken));
    }
  }
  // The unit is not passed on, so that the compiler keeps it in a register.
  PollResult<Received<T>> received = PollSlow(cx);
  if (received.IsReady()) unit->MadeProgress();
  return received;
}

template <class T>
PollResult<Received<T>> ReceiveFuture<T>::PollSlow(Context& cx) {
  using Look = internal::CoreBase::Look;
  Receiver<T>& receiver = wait_.source();
  typename Receiver<T>::Core::Taken taken;
  uint64_t missed = 0;
  const Look look = receiver.core_->TakeOrWait(
      receiver.position_, missed, taken, &wait_.node(), &cx.waker());
  wait_.set_waits(look == Look::kEmpty);
  if (wait_.waits()) return kPending;
  wait_.Finish();
  return Receiver<T>::From(look, missed, taken);
}

}  // namespace rouse::broadcast

#endif  // ROUSE_SYNC_BROADCAST_BROADCAST_H_
