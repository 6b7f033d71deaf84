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
//       if (event.lagged() > 0) continue;            // so many were missed
//       Handle(*event);
//     }
//   }
//
// # Slow receivers
//
// A channel keeps the last `capacity` values, and a sender never waits. A
// receiver for which a value was overwritten before it had it is told so, and
// how many it has missed, and goes on at the oldest value that is kept. The
// capacity that was asked for is rounded up to a power of two.
//
// # What is asked of T
//
// It is copied, by several receivers at once and while others destroy their own
// copies: `T(const T&)` must be safe to call for one value by several threads.
// (What is not, such as a type with a `mutable` cache, goes through a
// `std::shared_ptr`.) A receiver that finds itself alone with the value gets
// that itself and not a copy.
// No lock is held while a `T` is copied, moved or destroyed, so it may do
// anything; but it must not throw when it is destroyed. If it throws when it is
// copied that receiver has lost the value, and gets the exception.
//
// A value goes when the last receiver has had it, at the latest when it is
// overwritten. What is at most 16 bytes and is copied as bytes is kept in the
// ring itself; all else takes an allocation for a `Send()`, from the pool.
//
// # Threads
//
// Works without a runtime, on any thread. A `Sender` is used by any number of
// threads at once, but for assigning and destroying one object; a `Receiver` by
// one at a time. To receive what is there takes no lock and waits for nobody,
// but for a future that has had to wait before.

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
#include "rouse/base/panic.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/broadcast/core.h"
#include "rouse/sync/broadcast/slot.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::broadcast {

template <class T>
class Receiver;
template <class T>
class Sender;
template <class T>
class WeakSender;

// Received
//
// What a receiver got: a value, or that it has missed some, or that there is
// none and will be none; or, of `TryReceive()`, that there is none yet. Exactly
// one of `has_value()`, `lagged() > 0`, `IsClosed()` and `IsEmpty()` holds.
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

  bool has_value() const { return value_.has_value(); }

  // How many values were overwritten before this receiver had them; 0 if it is
  // not this that is said. The next to come is the oldest that is kept.
  uint64_t lagged() const { return without_ < kEmpty ? without_ : 0; }

  // No sender is left, and the receiver has had everything.
  bool IsClosed() const { return without_ == kClosed; }

  // There is nothing yet.
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
// See `Receiver::Receive()`.
template <class T>
class [[nodiscard]] ReceiveFuture {
 public:
  explicit ReceiveFuture(Receiver<T>& receiver) : receiver_(&receiver) {}
  // Only before the first poll.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  ReceiveFuture(ReceiveFuture&& other);
  ReceiveFuture& operator=(ReceiveFuture&&) = delete;
  ~ReceiveFuture();

  PollResult<Received<T>> Poll(Context& cx);

 private:
  PollResult<Received<T>> PollSlow(Context& cx, BudgetUnit& unit);

  Receiver<T>* receiver_;  // null: finished
  bool waits_ = false;     // `node_` may be in the channel's list
  internal::WaitNode node_;
};

// ClosedFuture
//
// See `Sender::Closed()`.
class [[nodiscard]] ClosedFuture {
 public:
  explicit ClosedFuture(internal::CoreBase& core)
      : core_(&core), node_(core.NextMoment()) {}
  // Only before the first poll.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  ClosedFuture(ClosedFuture&& other);
  ClosedFuture& operator=(ClosedFuture&&) = delete;
  ~ClosedFuture();

  PollResult<void> Poll(Context& cx);

 private:
  internal::CoreBase* core_;  // null: finished
  bool waits_ = false;        // `node_` may be in the channel's list
  internal::CoreBase::ClosedNode node_;
};

// Sender
//
// A copy is a sender of the same channel. The channel is closed for receivers
// when the last one has gone. One that was moved from can only be assigned and
// destroyed; anything else is a `Panic()`.
template <class T>
class Sender {
 public:
  // A channel without receivers, of which `Subscribe()` makes the first. Panics
  // if `capacity` is 0 or more than `kMaxCapacity`.
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

  // Sends to all receivers that there are, and says how many that are. They may
  // yet miss the value, or go without having received it. Never waits, and
  // needs no runtime. O(1), and as much again for each receiver that waits.
  //
  // Fails if there are no receivers: `kCancelled`. Then `value` is as it was.
  // (A `T` that cannot be assigned, and so not be given back, is copied.) What
  // receivers did before they went is visible then.
  //
  // This sender is not in `value`, nor goes with it when that is received. A
  // copy may be: the channel stays open as long as it is kept.
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

  // The same with a copy.
  absl::StatusOr<size_t> Send(const T& value) const {
    if (core_->receivers() == 0) return internal::NoReceiversError();
    Message message = internal::Slot<T>::Wrap(value);
    const size_t receivers = core_->Send(message);
    if (ABSL_PREDICT_TRUE(receivers != 0)) return receivers;
    return internal::NoReceiversError();
  }

  // A receiver of all that is sent from now on. Panics where there are
  // `kMaxReceivers` already.
  Receiver<T> Subscribe() const { return Receiver<T>(core_); }

  // A future that is ready when there is no receiver. A moment of that since
  // this call is enough, though somebody has subscribed since. Any number of
  // threads and tasks may wait. Destroying the future stops its waiting. The
  // sender stays where it is as long as the future lives.
  ClosedFuture Closed() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ClosedFuture(*core_.operator->());
  }

  size_t receiver_count() const { return core_->receivers(); }

  // Whether there is no receiver. `Subscribe()` makes one again.
  bool IsClosed() const { return receiver_count() == 0; }

  size_t sender_count() const { return core_->senders(); }

  // How many of the values that are kept some receiver has not had yet.
  // O(log capacity).
  size_t size() const { return core_->Unread(); }
  bool IsEmpty() const { return size() == 0; }

  // How many values are kept: what was asked for, rounded up to a power of two.
  size_t capacity() const { return core_->capacity(); }

  // A handle that does not keep the channel open.
  WeakSender<T> Downgrade() const { return WeakSender<T>(core_); }

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
// Does not count as a sender, but becomes one as long as another is left.
// Thread-safe as a `Sender` is.
template <class T>
class WeakSender {
 public:
  // A sender, or nothing if the last has gone.
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
// Gets what is sent after it was made, in one order, the same for all. Used by
// one thread at a time. Of one that was moved from nothing is used but its
// destructor and assignment. Destroying it gives up its share in what it has
// not received: O(size()), and never more than the capacity.
template <class T>
class Receiver {
 public:
  Receiver(Receiver&& other) noexcept = default;
  Receiver& operator=(Receiver other) noexcept {
    std::swap(core_, other.core_);
    std::swap(position_, other.position_);
    return *this;
  }
  ~Receiver() {
    if (core_) core_->RemoveReceiver(position_);
  }

  // A future of the next value, or of how many were missed, or of the end:
  // closed, when all senders have gone and everything has been received. It is
  // never empty.
  //
  // Destroying the future before it is ready has taken nothing. The receiver
  // stays where it is, and has no other call for a value, as long as the future
  // lives.
  ReceiveFuture<T> Receive() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReceiveFuture<T>(*this);
  }

  // The same without waiting; if there is nothing yet the result is empty.
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

  // The same, and blocks the thread until it has a result. As `BlockOn()`, a
  // `Panic()` inside a task.
  Received<T> BlockingReceive() {
    return rouse::internal::BlockOnFor("broadcast::Receiver::BlockingReceive",
                                       "co_await Receive()", Receive());
  }

  // Another receiver, of all that is sent from now on: it does not get what
  // this one has not received yet.
  Receiver Resubscribe() const { return Receiver(core_); }

  // How many values have been sent that this receiver has not got. If that is
  // more than the capacity, the next result says so.
  uint64_t size() const { return core_->SentSince(position_); }
  bool IsEmpty() const { return size() == 0; }

  // Whether all senders have gone. There may be values left to receive.
  bool IsClosed() const { return core_->senders() == 0; }

  size_t capacity() const { return core_->capacity(); }
  size_t sender_count() const { return core_->senders(); }

  bool SameChannel(const Receiver& other) const {
    return core_.get() == other.core_.get();
  }

 private:
  friend class ReceiveFuture<T>;
  friend class Sender<T>;
  using Core = internal::Core<T>;
  using Look = internal::CoreBase::Look;

  explicit Receiver(internal::CoreRef<T> core)
      : core_(std::move(core)), position_(core_->AddReceiver()) {}

  template <class Taken>
  static Received<T> FromTaken(Taken&& taken) {
    return Received<T>(std::in_place, std::forward<Taken>(taken).Take());
  }

  // REQUIRES: `taken` has a value if that is what was found.
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

  internal::CoreRef<T> core_;
  uint64_t position_ = 0;  // of the next value
};

// The largest capacity.
inline constexpr size_t kMaxCapacity = internal::kMaxCapacity;

// How many receivers a channel has at the most.
inline constexpr size_t kMaxReceivers = internal::kMaxReceivers;

// Channel()
//
// A channel that keeps `capacity` values, rounded up to a power of two, with
// its first sender and its first receiver. Allocates for all of them: 16 bytes
// each, or 24 if `T` is of 9 to 16 bytes and copied as bytes. Panics if
// `capacity` is 0 or more than `kMaxCapacity`.
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
ReceiveFuture<T>::ReceiveFuture(ReceiveFuture&& other)
    : receiver_(other.receiver_) {
  if (other.waits_) {
    Panic(
        "broadcast::Receiver::Receive: the future was moved after it was "
        "polled; move it before, or make a new one");
  }
  other.receiver_ = nullptr;
}

template <class T>
ReceiveFuture<T>::~ReceiveFuture() {
  if (waits_) receiver_->core_->StopWaiting(node_);
}

template <class T>
PollResult<Received<T>> ReceiveFuture<T>::Poll(Context& cx) {
  if (ABSL_PREDICT_FALSE(receiver_ == nullptr)) {
    Panic(
        "broadcast::Receiver::Receive: polled after it has finished; call "
        "Receive() again");
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (!waits_) {
    typename Receiver<T>::Core::Taken taken =
        receiver_->core_->Take(receiver_->position_);
    if (ABSL_PREDICT_TRUE(taken.has_value())) {
      unit->MadeProgress();
      ++std::exchange(receiver_, nullptr)->position_;
      return Receiver<T>::FromTaken(*std::move(taken));
    }
  }
  return PollSlow(cx, *unit);
}

template <class T>
PollResult<Received<T>> ReceiveFuture<T>::PollSlow(Context& cx,
                                                   BudgetUnit& unit) {
  using Look = internal::CoreBase::Look;
  typename Receiver<T>::Core::Taken taken;
  uint64_t missed = 0;
  const Look look = receiver_->core_->TakeOrWait(receiver_->position_, missed,
                                                 taken, &node_, &cx.waker());
  waits_ = look == Look::kEmpty;
  if (waits_) return kPending;
  unit.MadeProgress();
  receiver_ = nullptr;
  return Receiver<T>::From(look, missed, taken);
}

}  // namespace rouse::broadcast

#endif  // ROUSE_SYNC_BROADCAST_BROADCAST_H_
