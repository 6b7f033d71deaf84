// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mpsc.h
// -----------------------------------------------------------------------------
//
// Channels from many senders to one receiver, first in, first out. A bounded
// one makes senders wait for room, and so keeps them from running ahead of the
// receiver:
//
//   auto [tx, rx] = rouse::mpsc::Channel<Job>(100);
//
//   Co<> Produce(rouse::mpsc::Sender<Job> tx) {
//     while (std::optional<Job> job = co_await NextJob()) {
//       if (!(co_await tx.Send(*std::move(job))).ok()) co_return;
//     }
//   }
//   Co<> Consume(rouse::mpsc::Receiver<Job> rx) {
//     while (std::optional<Job> job = co_await rx.Receive()) Do(*job);
//   }
//
// An unbounded one always has room, and its `Send()` is an ordinary function:
//
//   auto [tx, rx] = rouse::mpsc::UnboundedChannel<Event>();
//   absl::Status status = tx.Send(Event());
//
// # The end
//
// When the last sender has gone the receiver gets what is left, and then
// `std::nullopt`. When the receiver has gone, or has called `Close()`, senders
// fail with `kCancelled`; that is for good, and there is nothing to retry.
//
// # Messages
//
// `T` is any type whose move constructor and destructor do not throw. Each
// message is destroyed once: by who received it, by the receiver when it goes,
// or, if it was just being sent then, at the latest with the channel itself. No
// lock is held while messages are moved or destroyed.
//
// # Cost
//
// Nobody allocates to send, to receive or to wait, but for blocks of 32
// messages, which are used again. To send is three atomic operations (two if
// unbounded), to receive one (none).
//
// # Without a runtime
//
// Futures work from tasks of any executor, and `Blocking...` calls from plain
// threads.

#ifndef ROUSE_SYNC_MPSC_H_
#define ROUSE_SYNC_MPSC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/future/future.h"
#include "rouse/future/operand.h"
#include "rouse/sync/mpsc_core.h"
#include "rouse/sync/mpsc_queue.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpsc {

namespace internal {

template <class T, class Core>
class Shared;
template <class T, class Core>
class ReceiveFuture;
template <class T, class Core>
class ReceiveManyFuture;
class ClosedFuture;

}  // namespace internal

template <class T>
class OwnedPermit;
template <class T>
class Permit;
template <class T>
class PermitBatch;
template <class T>
class ReserveFuture;
template <class T>
class ReserveManyFuture;
template <class T>
class ReserveOwnedFuture;
template <class T>
class SendFuture;
template <class T, class F>
class SendUntilFuture;
template <class T, class Core>
class BasicReceiver;
template <class T, class Core>
class BasicSender;
template <class T, class Core>
class BasicWeakSender;

// Sender, UnboundedSender
//
// See `BasicSender`.
template <class T>
using Sender = BasicSender<T, internal::Bounded>;
template <class T>
using UnboundedSender = BasicSender<T, internal::Unbounded>;

// WeakSender, WeakUnboundedSender
//
// See `BasicWeakSender`.
template <class T>
using WeakSender = BasicWeakSender<T, internal::Bounded>;
template <class T>
using WeakUnboundedSender = BasicWeakSender<T, internal::Unbounded>;

// Receiver, UnboundedReceiver
//
// See `BasicReceiver`.
template <class T>
using Receiver = BasicReceiver<T, internal::Bounded>;
template <class T>
using UnboundedReceiver = BasicReceiver<T, internal::Unbounded>;

// Channel()
//
// With room for `capacity` messages: those that were sent and not received, and
// those for which a place is reserved. Panics if it is 0.
template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(size_t capacity);

// UnboundedChannel()
//
// With room for as many as memory has.
template <class T>
std::pair<UnboundedSender<T>, UnboundedReceiver<T>> UnboundedChannel();

// BasicSender
//
// One of the senders of a channel: a copy is one more. Its const members are
// thread-safe. One that was moved from can only be assigned and destroyed.
//
// Its futures refer to the channel: one sender, this or another, must outlive
// each. They may be moved until they are first polled, and panic if they are
// after.
template <class T, class Core>
class BasicSender {
 public:
  static constexpr bool kIsBounded = Core::kIsBounded;

  BasicSender(const BasicSender& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->AddSender();
  }
  BasicSender(BasicSender&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  BasicSender& operator=(BasicSender other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~BasicSender() {
    if (shared_ != nullptr) shared_->DropSender();
  }

  // ---- Of a bounded channel.

  // A future that waits for room, in the order in which senders came, and sends
  // `value`: an `absl::Status`. Fails with `kCancelled` if the channel is or
  // becomes closed. Then, or instead, the value can be had back:
  //
  //   auto send = tx.Send(std::move(job));
  //   absl::Status status = co_await send;
  //   if (!status.ok()) job = send.TakeValue();
  //
  // Cancelled, it has sent nothing, has lost its place in the queue, and the
  // value goes with it. To wait without a value, see `Reserve()`.
  SendFuture<T> Send(T value) const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return SendFuture<T>(*shared_, std::move(value));
  }

  // Sends `value` if there is room and nobody waits for it. If not, leaves it
  // alone: `kResourceExhausted`, or `kCancelled` if the channel is closed.
  absl::Status TrySend(T&& value) const
    requires kIsBounded
  {
    absl::Status status = shared_->TryAcquire(1, "mpsc::Sender::TrySend");
    if (ABSL_PREDICT_TRUE(status.ok())) shared_->Publish(std::move(value));
    return status;
  }

  // As `Send()`, for as long as `until`, a future of anything, is not ready. If
  // that is first: `kDeadlineExceeded`, nothing was sent, and the value can be
  // had back. If there is room it is not even polled. See also
  // mpsc_send_timeout.h.
  //
  //   auto send = tx.SendUntil(std::move(job), stop.Cancelled());
  //   absl::Status status = co_await send;
  template <Future F>
  SendUntilFuture<T, F> SendUntil(T value,
                                  F&& until) const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return SendUntilFuture<T, F>(Send(std::move(value)),
                                 std::forward<F>(until));
  }

  // For a thread outside of any runtime: blocks until there is room. On failure
  // leaves `value` alone.
  absl::Status BlockingSend(T&& value) const
    requires kIsBounded
  {
    absl::StatusOr<Permit<T>> permit = BlockOn(Reserve());
    if (!permit.ok()) return permit.status();
    std::move(*permit).Send(std::move(value));
    return absl::OkStatus();
  }

  // A future that waits for room and keeps it: an `absl::StatusOr<Permit<T>>`.
  // Fails as `Send()` does. Cancelled, it has lost its place in the queue, and
  // nothing else.
  ReserveFuture<T> Reserve() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return ReserveFuture<T>(*shared_);
  }

  // The same for `n` messages: an `absl::StatusOr<PermitBatch<T>>`. It has its
  // turn when there is room for all; those that came later wait for it.
  // `kInvalidArgument` if `n` is more than `max_capacity()`.
  ReserveManyFuture<T> ReserveMany(size_t n) const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    return ReserveManyFuture<T>(*shared_, n);
  }

  // As `Reserve()`, with a copy of this sender in the future and in what it
  // gives: an `absl::StatusOr<OwnedPermit<T>>`.
  ReserveOwnedFuture<T> ReserveOwned() const
    requires kIsBounded
  {
    return ReserveOwnedFuture<T>(*this);
  }

  // The same without waiting. They fail as `TrySend()` does.
  absl::StatusOr<Permit<T>> TryReserve() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    absl::Status status = shared_->TryAcquire(1, "mpsc::Sender::TryReserve");
    if (!status.ok()) return status;
    return Permit<T>(shared_);
  }
  absl::StatusOr<PermitBatch<T>> TryReserveMany(size_t n) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires kIsBounded
  {
    constexpr const char* kCall = "mpsc::Sender::TryReserveMany";
    absl::Status status = shared_->CheckCount(n, kCall);
    if (status.ok()) status = shared_->TryAcquire(n, kCall);
    if (!status.ok()) return status;
    return PermitBatch<T>(shared_, n);
  }
  absl::StatusOr<OwnedPermit<T>> TryReserveOwned() const
    requires kIsBounded
  {
    absl::Status status =
        shared_->TryAcquire(1, "mpsc::Sender::TryReserveOwned");
    if (!status.ok()) return status;
    return OwnedPermit<T>(*this);
  }

  // How many messages there is room for now, and how many when it is empty.
  size_t capacity() const
    requires kIsBounded
  {
    return shared_->available();
  }
  size_t max_capacity() const
    requires kIsBounded
  {
    return shared_->capacity();
  }

  // ---- Of an unbounded channel.

  // Sends `value`, or leaves it alone if the channel is closed: `kCancelled`.
  // Never waits.
  absl::Status Send(T&& value) const
    requires(!kIsBounded)
  {
    if (ABSL_PREDICT_TRUE(shared_->Publish(std::move(value)))) {
      return absl::OkStatus();
    }
    return internal::ClosedError("mpsc::UnboundedSender::Send");
  }

  // ---- Of both.

  // A future of nothing that is ready when the receiver has gone or has closed
  // the channel: nobody wants what a sender might still prepare.
  internal::ClosedFuture Closed() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Whether that is so now.
  bool IsClosed() const { return shared_->closed.IsSet(); }

  // Whether both send to the same channel.
  bool SameChannel(const BasicSender& other) const {
    return shared_ == other.shared_;
  }

  // A sender that does not keep the channel open.
  BasicWeakSender<T, Core> Downgrade() const {
    return BasicWeakSender<T, Core>(*shared_);
  }

  // How many senders and weak senders the channel has.
  size_t strong_count() const { return shared_->senders(); }
  size_t weak_count() const { return shared_->weak_senders(); }

 private:
  friend class BasicWeakSender<T, Core>;
  friend class OwnedPermit<T>;
  friend class ReserveOwnedFuture<T>;
  template <class U>
  friend std::pair<Sender<U>, Receiver<U>> Channel(size_t capacity);
  template <class U>
  friend std::pair<UnboundedSender<U>, UnboundedReceiver<U>> UnboundedChannel();

  // Adopts a count.
  explicit BasicSender(internal::Shared<T, Core>* shared) : shared_(shared) {}

  internal::Shared<T, Core>* shared_;
};

// BasicWeakSender
//
// What may become a sender as long as there is one. A copy is one more.
// Thread-safe as `BasicSender` is.
template <class T, class Core>
class BasicWeakSender {
 public:
  BasicWeakSender(const BasicWeakSender& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->AddWeakSender();
  }
  BasicWeakSender(BasicWeakSender&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  BasicWeakSender& operator=(BasicWeakSender other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~BasicWeakSender() {
    if (shared_ != nullptr) shared_->Unref(Core::kWeakSender);
  }

  // A sender, or nothing if all have gone. (Not if the receiver has.)
  std::optional<BasicSender<T, Core>> Upgrade() const {
    if (!shared_->TryAddSender()) return std::nullopt;
    return BasicSender<T, Core>(shared_);
  }

  size_t strong_count() const { return shared_->senders(); }
  size_t weak_count() const { return shared_->weak_senders(); }

 private:
  friend class BasicSender<T, Core>;

  explicit BasicWeakSender(internal::Shared<T, Core>& shared)
      : shared_(&shared) {
    shared.AddWeakSender();
  }

  internal::Shared<T, Core>* shared_;
};

// BasicReceiver
//
// The receiver of a channel. Used by one thread at a time, and by one call or
// future at a time. When it goes it closes the channel and destroys what is in
// it. A stream (future/stream.h). One that was moved from can only be assigned
// and destroyed.
//
// Its futures refer to the channel, and the receiver must outlive them.
// Cancelling one of them has taken nothing.
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

  // A future of the next message, a `std::optional<T>`, or of `std::nullopt`
  // when there will be none. May be moved at any time.
  internal::ReceiveFuture<T, Core> Receive() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::ReceiveFuture<T, Core>(*shared_);
  }

  // A future that waits for a message and appends to `out` all that are there,
  // up to `limit`: how many, a `size_t`. 0 when there will be none, and at once
  // if `limit` is 0. `out` outlives it. May be moved at any time.
  //
  // If `out` cannot grow, what it could not take stays in the channel.
  internal::ReceiveManyFuture<T, Core> ReceiveMany(
      std::vector<T>& out ABSL_ATTRIBUTE_LIFETIME_BOUND,
      size_t limit) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return internal::ReceiveManyFuture<T, Core>(*shared_, out, limit);
  }

  // For futures of one's own, as `Receive()`. The waker of the last call that
  // was pending is kept until there is a message, or the next call.
  PollResult<std::optional<T>> PollReceive(Context& cx) {
    return shared_->PollReceive(cx);
  }
  // The same: a receiver is a stream.
  PollResult<std::optional<T>> PollNext(Context& cx) { return PollReceive(cx); }

  // The next message if there is one: `kUnavailable` if there is none yet,
  // `kCancelled` if there will be none. Finds whatever was sent before; for
  // that, it may have to wait a moment for a sender that is just at it. No
  // future of this receiver may be waiting.
  absl::StatusOr<T> TryReceive() { return shared_->TryReceive(); }

  // For a thread outside of any runtime: as `Receive()`.
  std::optional<T> BlockingReceive() { return BlockOn(Receive()); }
  size_t BlockingReceiveMany(std::vector<T>& out, size_t limit) {
    return BlockOn(ReceiveMany(out, limit));
  }

  // Lets senders fail from now on. What was sent, or is sent with a permit that
  // a sender has, can be received; then there is the end.
  void Close() { shared_->Close(); }

  // Whether no more can be sent (but with permits): it was closed, or the last
  // sender has gone.
  bool IsClosed() const {
    return shared_->closed.IsSet() || shared_->senders() == 0;
  }

  // How many messages there are, with those that are just being sent.
  size_t size() const { return shared_->queue().size(); }
  bool IsEmpty() const { return size() == 0; }

  // As of a sender.
  size_t capacity() const
    requires Core::kIsBounded
  {
    return shared_->available();
  }
  size_t max_capacity() const
    requires Core::kIsBounded
  {
    return shared_->capacity();
  }
  size_t sender_strong_count() const { return shared_->senders(); }
  size_t sender_weak_count() const { return shared_->weak_senders(); }

 private:
  template <class U>
  friend std::pair<Sender<U>, Receiver<U>> Channel(size_t capacity);
  template <class U>
  friend std::pair<UnboundedSender<U>, UnboundedReceiver<U>> UnboundedChannel();

  explicit BasicReceiver(internal::Shared<T, Core>* shared) : shared_(shared) {}

  internal::Shared<T, Core>* shared_;
};

// Permit
//
// A place in a bounded channel, for one message. Given back when it is
// destroyed. May be used after the receiver's `Close()`. A sender must outlive
// it. Used by one thread at a time.
template <class T>
class [[nodiscard]] Permit {
 public:
  Permit(Permit&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  Permit& operator=(Permit&& other) noexcept {
    Permit replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    return *this;
  }
  ~Permit() {
    if (shared_ != nullptr) shared_->GiveBack(1);
  }

  // Does not fail. If the receiver has gone the message goes too.
  void Send(T value) && {
    ABSL_ASSERT(shared_ != nullptr);
    std::exchange(shared_, nullptr)->Publish(std::move(value));
  }

 private:
  friend class BasicSender<T, internal::Bounded>;
  friend class ReserveFuture<T>;

  explicit Permit(internal::Shared<T, internal::Bounded>* shared)
      : shared_(shared) {}

  internal::Shared<T, internal::Bounded>* shared_;  // null: used
};

// PermitBatch
//
// Places in a bounded channel, for several messages. Those that are not used
// are given back when it is destroyed. Otherwise as a `Permit`.
template <class T>
class [[nodiscard]] PermitBatch {
 public:
  PermitBatch(PermitBatch&& other) noexcept
      : shared_(other.shared_), size_(std::exchange(other.size_, 0)) {}
  PermitBatch& operator=(PermitBatch&& other) noexcept {
    PermitBatch replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    std::swap(size_, replaced.size_);
    return *this;
  }
  ~PermitBatch() {
    if (size_ != 0) shared_->GiveBack(size_);
  }

  // How many are left.
  size_t size() const { return size_; }
  bool IsEmpty() const { return size_ == 0; }

  // Uses one. Panics if there is none.
  void Send(T value) {
    if (ABSL_PREDICT_FALSE(size_ == 0)) {
      Panic("mpsc::PermitBatch::Send: no permit is left; look at size()");
    }
    --size_;
    shared_->Publish(std::move(value));
  }

 private:
  friend class BasicSender<T, internal::Bounded>;
  friend class ReserveManyFuture<T>;

  PermitBatch(internal::Shared<T, internal::Bounded>* shared, size_t size)
      : shared_(shared), size_(size) {}

  internal::Shared<T, internal::Bounded>* shared_;
  size_t size_;
};

// OwnedPermit
//
// A `Permit` with a sender of its own.
template <class T>
class [[nodiscard]] OwnedPermit {
 public:
  OwnedPermit(OwnedPermit&&) noexcept = default;
  OwnedPermit& operator=(OwnedPermit&& other) noexcept {
    OwnedPermit replaced(std::move(other));
    std::swap(sender_, replaced.sender_);
    return *this;
  }
  ~OwnedPermit() {
    if (sender_.shared_ != nullptr) sender_.shared_->GiveBack(1);
  }

  // Sends, and gives the sender. Does not fail.
  Sender<T> Send(T value) && {
    ABSL_ASSERT(sender_.shared_ != nullptr);
    sender_.shared_->Publish(std::move(value));
    return std::move(sender_);
  }

  // Gives the place back, and the sender.
  Sender<T> Release() && {
    ABSL_ASSERT(sender_.shared_ != nullptr);
    sender_.shared_->GiveBack(1);
    return std::move(sender_);
  }

 private:
  friend class BasicSender<T, internal::Bounded>;
  friend class ReserveOwnedFuture<T>;

  explicit OwnedPermit(Sender<T> sender) : sender_(std::move(sender)) {}

  Sender<T> sender_;  // moved from: used
};

// SendFuture
//
// See `Sender::Send()`.
template <class T>
class [[nodiscard("a message is sent when this is awaited")]] SendFuture {
 public:
  SendFuture(internal::Shared<T, internal::Bounded>& shared, T&& value)
      : shared_(&shared), request_(shared, 1), value_(std::move(value)) {}

  PollResult<absl::Status> Poll(Context& cx) {
    PollResult<bool> has_place = request_.Poll(cx, kCall);
    if (has_place.IsPending()) return kPending;
    if (ABSL_PREDICT_FALSE(!*has_place)) return internal::ClosedError(kCall);
    is_sent_ = true;
    shared_->Publish(std::move(value_));
    return absl::OkStatus();
  }

  // Gives the value of a send that has failed, or is not ready and is thereby
  // cancelled: it is not polled again. Panics if it was sent.
  T TakeValue() {
    if (is_sent_) {
      Panic("mpsc::SendFuture::TakeValue: the value was sent; see the status");
    }
    request_.Cancel();
    return std::move(value_);
  }

 private:
  template <class, class>
  friend class SendUntilFuture;

  static constexpr const char* kCall = "mpsc::Sender::Send";

  internal::Shared<T, internal::Bounded>* shared_;
  bool is_sent_ = false;
  internal::PlaceRequest request_;
  T value_;
};

// SendUntilFuture
//
// See `Sender::SendUntil()`.
template <class T, class F>
class [[nodiscard("a message is sent when this is awaited")]] SendUntilFuture {
 public:
  SendUntilFuture(SendFuture<T> send, F&& until)
      : send_(std::move(send)), until_(std::forward<F>(until)) {}

  PollResult<absl::Status> Poll(Context& cx) {
    PollResult<absl::Status> sent = send_.Poll(cx);
    if (sent.IsReady()) return sent;
    if (until_.get().Poll(cx).IsPending()) return kPending;
    send_.request_.Cancel();
    return absl::DeadlineExceededError(
        "mpsc::Sender::SendUntil: there was no room until then; take the value "
        "back, or send it again");
  }

  // See `SendFuture`.
  T TakeValue() { return send_.TakeValue(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "SendUntil");
    branches.Add(send_);
    branches.Add(until_.get());
  }

 private:
  SendFuture<T> send_;
  rouse::internal::Operand<F> until_;
};

// ReserveFuture
//
// See `Sender::Reserve()`.
template <class T>
class [[nodiscard]] ReserveFuture {
 public:
  explicit ReserveFuture(internal::Shared<T, internal::Bounded>& shared)
      : shared_(&shared), request_(shared, 1) {}

  PollResult<absl::StatusOr<Permit<T>>> Poll(Context& cx) {
    constexpr const char* kCall = "mpsc::Sender::Reserve";
    PollResult<bool> has_place = request_.Poll(cx, kCall);
    if (has_place.IsPending()) return kPending;
    if (!*has_place) return internal::ClosedError(kCall);
    return Permit<T>(shared_);
  }

 private:
  internal::Shared<T, internal::Bounded>* shared_;
  internal::PlaceRequest request_;
};

// ReserveManyFuture
//
// See `Sender::ReserveMany()`.
template <class T>
class [[nodiscard]] ReserveManyFuture {
 public:
  ReserveManyFuture(internal::Shared<T, internal::Bounded>& shared, size_t n)
      // What can never be had is not asked for.
      : shared_(&shared),
        n_(n),
        request_(shared, n <= shared.capacity() ? n : 0) {}

  PollResult<absl::StatusOr<PermitBatch<T>>> Poll(Context& cx) {
    constexpr const char* kCall = "mpsc::Sender::ReserveMany";
    PollResult<bool> has_places = request_.Poll(cx, kCall);
    if (has_places.IsPending()) return kPending;
    if (!*has_places) return internal::ClosedError(kCall);
    absl::Status status = shared_->CheckCount(n_, kCall);
    if (!status.ok()) return status;
    return PermitBatch<T>(shared_, n_);
  }

 private:
  internal::Shared<T, internal::Bounded>* shared_;
  size_t n_;
  internal::PlaceRequest request_;
};

// ReserveOwnedFuture
//
// See `Sender::ReserveOwned()`.
template <class T>
class [[nodiscard]] ReserveOwnedFuture {
 public:
  explicit ReserveOwnedFuture(Sender<T> sender)
      : sender_(std::move(sender)), request_(*sender_.shared_, 1) {}

  PollResult<absl::StatusOr<OwnedPermit<T>>> Poll(Context& cx) {
    constexpr const char* kCall = "mpsc::Sender::ReserveOwned";
    PollResult<bool> has_place = request_.Poll(cx, kCall);
    if (has_place.IsPending()) return kPending;
    if (!*has_place) return internal::ClosedError(kCall);
    return OwnedPermit<T>(std::move(sender_));
  }

 private:
  Sender<T> sender_;  // outlives the request
  internal::PlaceRequest request_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

namespace internal {

// What a channel's ends share.
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
    constexpr const char* kCall = "mpsc::Receiver::TryReceive";
    if (!queue_.HasFront()) {
      if (HasEnded()) return ClosedError(kCall);
      if (queue_.size() == 0) {
        return absl::UnavailableError(
            "mpsc::Receiver::TryReceive: there is no message yet; Receive() "
            "waits for one");
      }
      // Who sends the first may be at it still, though others behind it are
      // done.
      BlockOn(FrontFuture(*this));
    }
    return *Take();
  }

  // Forgets the waker of a poll that was pending.
  void StopWaiting() { this->receiver_waker.Forget(); }

  void Close() {
    if (this->closed.IsSet()) return;
    this->CloseCapacity();
    if constexpr (!Core::kIsBounded) queue_.Close();
    this->closed.Set();
  }

  void DropReceiver() {
    Close();
    StopWaiting();
    while (queue_.HasFront()) queue_.PopFront();
    Unref(Core::kReceiver);
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
    if (HasEnded()) return false;
    // Who makes the front, or the end, after the look that follows wakes this.
    this->receiver_waker.Register(cx.waker(), !queue_.IsWatching());
    queue_.Watch();
    if (queue_.HasFront()) return true;
    if (HasEnded()) return false;
    return kPending;
  }

  // REQUIRES: there is one.
  std::optional<T> Take() {
    std::optional<T> value(std::move(queue_.Front()));
    queue_.PopFront();
    this->Received(1);
    return value;
  }

  Queue<T> queue_;
};

// What a pending receive leaves behind is taken away if it is destroyed.
template <class T, class Core>
class Receiving {
 public:
  explicit Receiving(Shared<T, Core>& shared) : shared_(&shared) {}
  Receiving(Receiving&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)),
        waits_(std::exchange(other.waits_, false)) {}
  Receiving& operator=(Receiving&&) = delete;
  ~Receiving() {
    if (ABSL_PREDICT_FALSE(waits_)) shared_->StopWaiting();
  }

  Shared<T, Core>& shared(const char* call) {
    if (ABSL_PREDICT_FALSE(shared_ == nullptr)) {
      PanicPolledAgain(call);
    }
    return *shared_;
  }

  void SetResult(bool is_pending) {
    waits_ = is_pending;
    if (!is_pending) shared_ = nullptr;
  }

 private:
  Shared<T, Core>* shared_;  // null: finished
  bool waits_ = false;
};

// See `BasicReceiver::Receive()`.
template <class T, class Core>
class [[nodiscard]] ReceiveFuture {
 public:
  explicit ReceiveFuture(Shared<T, Core>& shared) : receiving_(shared) {}

  PollResult<std::optional<T>> Poll(Context& cx) {
    PollResult<std::optional<T>> result =
        receiving_.shared("mpsc::Receiver::Receive").PollReceive(cx);
    receiving_.SetResult(result.IsPending());
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
    Shared<T, Core>& shared = receiving_.shared("mpsc::Receiver::ReceiveMany");
    const PollResult<size_t> result = PollMany(shared, cx);
    receiving_.SetResult(result.IsPending());
    return result;
  }

 private:
  // Gives back the places of what has been received, also if `out` throws.
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

// See `BasicSender::Closed()`.
class [[nodiscard]] ClosedFuture {
 public:
  explicit ClosedFuture(ClosedEvent& event) : wait_(event) {}
  PollResult<void> Poll(Context& cx) { return wait_.Poll(cx); }

 private:
  ClosedWait wait_;
};

}  // namespace internal

template <class T, class Core>
internal::ClosedFuture BasicSender<T, Core>::Closed() const {
  return internal::ClosedFuture(shared_->closed);
}

template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(size_t capacity) {
  auto* const shared = new internal::Shared<T, internal::Bounded>(capacity);
  return {Sender<T>(shared), Receiver<T>(shared)};
}

template <class T>
std::pair<UnboundedSender<T>, UnboundedReceiver<T>> UnboundedChannel() {
  auto* const shared = new internal::Shared<T, internal::Unbounded>();
  return {UnboundedSender<T>(shared), UnboundedReceiver<T>(shared)};
}

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_H_
