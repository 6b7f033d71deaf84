// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: watch.h
// -----------------------------------------------------------------------------
//
// A channel that keeps only the latest value, for example a configuration, a
// state or a progress report, with occasional changes and many readers.
//
//   auto [tx, rx] = rouse::watch::Channel<Config>(Config());
//
//   // the reader
//   while ((co_await rx.Changed()).ok()) {
//     Apply(*rx.BorrowAndUpdate());
//   }
//
//   // the writer
//   tx.Send(ReadConfig());
//
// A slow receiver sees the last of several changes, and not the changes before.

#ifndef ROUSE_SYNC_WATCH_WATCH_H_
#define ROUSE_SYNC_WATCH_WATCH_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/error_for.h"
#include "rouse/base/exceptions.h"
#include "rouse/sync/internal/handle_ptr.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/stream_waiter.h"
#include "rouse/sync/watch/core.h"
#include "rouse/sync/watch/ref.h"  // IWYU pragma: export
#include "rouse/sync/watch/sharded_rw_lock.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::watch {

template <class T>
class Sender;
template <class T>
class Receiver;

namespace internal {

inline constexpr char kSenderName[] = "watch::Sender";
inline constexpr char kReceiverName[] = "watch::Receiver";

// The names of calls in panic messages.
inline constexpr char kClosed[] = "watch::Sender::Closed";
inline constexpr char kChanged[] = "watch::Receiver::Changed";
inline constexpr char kWaitFor[] = "watch::Receiver::WaitFor";

absl::Status ClosedError();

}  // namespace internal

// Channel()
//
// Makes a channel with `initial` as its value, which counts as seen. Allocates
// once, about a kilobyte. `T` is movable and assignable.
template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(T initial);

// Sender
//
// Copies send to the same channel. When the last sender is destroyed, receivers
// are notified. Any number of threads can call const members at once; sends are
// made one after another. A sender that was moved from can only be assigned and
// destroyed; any other use is a `Panic()`.
//
// A send takes O(1) time, and O(waiting receivers) to wake them. Receivers are
// woken when the value is available, and outside of all locks.
template <class T>
class Sender {
  using Shared = internal::Shared<T>;

 public:
  class ClosedFuture;

  // Makes a channel without receivers, with `initial` as its value.
  // `Subscribe()` makes the first receiver. Allocates as `Channel()` does.
  explicit Sender(T initial)
      : Sender(new Shared(std::move(initial), /*receivers=*/0)) {}

  Sender(const Sender& other)
      : shared_(other.shared_), shard_(other.shared_->NextShard()) {
    shared_->AddSender();
  }
  Sender(Sender&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)), shard_(other.shard_) {}
  Sender& operator=(Sender other) noexcept {
    std::swap(shared_, other.shared_);
    std::swap(shard_, other.shard_);
    return *this;
  }
  ~Sender() {
    if (shared_ != nullptr && shared_->RemoveSender()) delete shared_.Get();
  }

  // Makes `value` the latest value, and notifies the receivers. Returns false
  // if there are no receivers: nothing has changed then, and `value` is
  // unchanged. The previous value is destroyed. If the move of one of the two
  // values throws, the latest value is whatever that move has left, and no
  // receiver is notified.
  //
  // No sender of this channel may be part of `value`: the calling sender is
  // used until the call returns, and any other sender would keep the channel
  // alive forever.
  bool Send(T&& value) const {
    if (IsClosed()) return false;
    static_cast<void>(SendReplace(std::move(value)));
    return true;
  }
  bool Send(const T& value) const
    requires std::copy_constructible<T>
  {
    if (IsClosed()) return false;
    static_cast<void>(SendReplace(T(value)));
    return true;
  }

  // Makes `value` the latest value as `Send()` does, even if there are no
  // receivers. Returns the previous value.
  T SendReplace(T value) const {
    // The values are not swapped, because containers with different allocators
    // cannot be.
    std::optional<T> before;
    SendModify([&before, &value](T& latest) {
      before.emplace(std::move(latest));
      latest = std::move(value);
    });
    return *std::move(before);
  }

  // Calls `modify(T&)`, and notifies the receivers. No thread can read the
  // value while `modify` runs, so `modify` must be short, and must not use the
  // channel. If `modify` throws, the value is whatever `modify` has left, and
  // no receiver is notified.
  template <std::invocable<T&> F>
  void SendModify(F&& modify) const {
    SendIfModified([&modify](T& latest) {
      std::invoke(std::forward<F>(modify), latest);
      return true;
    });
  }

  // Calls `modify(T&)` as `SendModify()` does, but notifies the receivers only
  // if `modify` returns true. Returns the result of `modify`.
  template <std::predicate<T&> F>
  bool SendIfModified(F&& modify) const {
    uint64_t waiting;
    {
      const internal::WriterHolder lock(shared_->lock());
      if (!std::invoke(std::forward<F>(modify), shared_->value_to_write())) {
        return false;
      }
      waiting = shared_->Change();
    }
    shared_->Wake(waiting);
    return true;
  }

  // Returns the latest value.
  Ref<T> Borrow() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return Ref<T>(shared_.Get(), shard_);
  }

  // Returns a new receiver, which has seen the latest value.
  Receiver<T> Subscribe() const {
    shared_->AddReceiver();
    return Receiver<T>(shared_.Get(), shared_->Load().version());
  }

  // Returns the number of receivers.
  size_t receiver_count() const { return shared_->receivers(); }

  // Returns the number of senders.
  size_t sender_count() const { return shared_->senders(); }

  // Returns whether there is no receiver. `Subscribe()` makes one again.
  bool IsClosed() const { return receiver_count() == 0; }

  // Returns whether both senders send to the same channel.
  bool SameChannel(const Sender& other) const {
    return shared_.Get() == other.shared_.Get();
  }

  // Returns a future that is ready when a poll finds no receiver. A poll that
  // finds a new receiver waits for the destruction of that receiver, too. Any
  // number of threads and tasks can wait. The sender must outlive the future,
  // and must not be moved while the future exists. Destroying the future ends
  // the wait.
  ClosedFuture Closed() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ClosedFuture(shared_.Get());
  }

 private:
  template <class U>
  friend std::pair<Sender<U>, Receiver<U>> Channel(U initial);

  explicit Sender(Shared* shared)
      : shared_(shared), shard_(shared->NextShard()) {}

  rouse::internal::HandlePtr<Shared, internal::kSenderName> shared_;
  size_t shard_;
};

// Sender::ClosedFuture
//
// Can be moved until the first poll.
template <class T>
class [[nodiscard]] Sender<T>::ClosedFuture {
 public:
  explicit ClosedFuture(internal::Core* core) : wait_(core) {}

  PollResult<void> Poll(Context& cx) {
    return wait_.Poll(cx, [](internal::Core& core, internal::WaitNode& node,
                             const Waker& waker) {
      return core.receivers() != 0 && core.WaitForNoReceiver(node, waker);
    });
  }

 private:
  rouse::internal::PendingWait<internal::Core, internal::kClosed> wait_;
};

// Receiver
//
// Remembers which value was seen last. A copy has seen the same value, and
// is a separate receiver from then on. Used by a single thread at a time. A
// receiver that was moved from can only be assigned and destroyed; any other
// use is a `Panic()`.
template <class T>
class Receiver {
  using Shared = internal::Shared<T>;

 public:
  class ChangedFuture;
  template <class Predicate>
  class WaitForFuture;
  template <class Predicate>
  class WaitForValueFuture;
  // Internal. The waiter of `Next()`: see stream.h.
  using Waiter = rouse::internal::StreamWaiter<ChangedFuture>;

  Receiver(const Receiver& other) : shared_(other.shared_), seen_(other.seen_) {
    shared_->AddReceiver();
    shard_ = shared_->NextShard();
  }
  Receiver(Receiver&& other) noexcept
      : own_waiter_(std::move(other.own_waiter_)),
        shared_(std::exchange(other.shared_, nullptr)),
        shard_(other.shard_),
        seen_(other.seen_) {}
  Receiver& operator=(Receiver other) noexcept {
    own_waiter_.Reset();
    std::swap(shared_, other.shared_);
    std::swap(shard_, other.shard_);
    std::swap(seen_, other.seen_);
    return *this;
  }
  ~Receiver() {
    own_waiter_.Reset();
    if (shared_ != nullptr && shared_->RemoveReceiver()) delete shared_.Get();
  }

  // Makes the receiver a `Stream` of copies of the values that it has not seen,
  // which ends when all senders are destroyed and the last value was seen. To
  // begin with the present value, call `MarkChanged()` first. A slow stream
  // gives the last of several values. The copy is made while no sender can
  // send. If the copy throws, the value comes again. The stream may be moved
  // between two polls: a move ends the wait, and the next poll begins another.
  // Without a `waiter`, the first poll that waits allocates, and nothing else
  // may wait with this receiver until the stream has an item.
  PollResult<std::optional<T>> PollNext(Context& cx, Waiter* waiter = nullptr)
    requires std::copy_constructible<T>
  {
    if (waiter == nullptr) waiter = &own_waiter_.get();
    const uint64_t seen = seen_;
    const PollResult<absl::Status> changed =
        waiter->Poll(cx, [this] { return Changed(); });
    if (changed.IsPending()) return kPending;
    if (!changed->ok()) return std::nullopt;
    ROUSE_TRY {
      const Ref<T> latest = BorrowAndUpdate();
      return PollResult<std::optional<T>>(std::in_place, *latest);
    }
    ROUSE_CATCH_ALL {
      seen_ = seen;
      ROUSE_RETHROW;
    }
  }

  // Returns a future that is ready, with OK, when this receiver has not seen
  // the latest value. The value then counts as seen. A change before the first
  // poll also makes the future ready. The error:
  //
  //   kCancelled   all senders are destroyed, and the last value was seen. No
  //                other value will arrive.
  //
  // The receiver must outlive the future, and must not be moved while the
  // future exists. Destroying the future ends the wait, and loses no change.
  ChangedFuture Changed() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ChangedFuture(this);
  }

  // Returns a future of a `Ref` to a value for which `predicate(const T&)` is
  // true: the latest value at the first poll, or a later value. Values for
  // which the predicate was called count as seen. No sender can send while the
  // predicate runs, so the predicate must be short, and must not use the
  // channel. The error and all other rules are as for `Changed()`: the error
  // means that the predicate was not true for the last value.
  //
  //   auto done = [](const Progress& p) { return p.percent == 100; };
  //   {
  //     absl::StatusOr<watch::Ref<Progress>> last = co_await rx.WaitFor(done);
  //     if (last.ok()) Show(**last);
  //   }  // until here no sender could send
  //
  // The output keeps senders waiting, as every `Ref` does, wherever the output
  // is kept: in a `Join()` with other futures that are not ready, or in a task
  // that was not joined yet. Use `WaitForValue()` there.
  template <std::predicate<const T&> Predicate>
  WaitForFuture<std::decay_t<Predicate>> WaitFor(Predicate&& predicate)
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WaitForFuture<std::decay_t<Predicate>>(
        this, std::forward<Predicate>(predicate));
  }

  // Like `WaitFor()`, but returns a future of a copy of the value: an
  // `absl::StatusOr<T>`, which can be kept. The copy is made while no sender
  // can send.
  template <std::predicate<const T&> Predicate>
    requires std::copy_constructible<T>
  WaitForValueFuture<std::decay_t<Predicate>> WaitForValue(
      Predicate&& predicate) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WaitForValueFuture<std::decay_t<Predicate>>(
        this, std::forward<Predicate>(predicate));
  }

  // Returns the latest value. The value does not count as seen by this call.
  Ref<T> Borrow() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    uint64_t version;
    return BorrowVersion(version);
  }

  // Returns the latest value, which then counts as seen: the next `Changed()`
  // waits for another value.
  Ref<T> BorrowAndUpdate() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    uint64_t version;
    Ref<T> ref = BorrowVersion(version);
    seen_ = version;
    return ref;
  }

  // Returns whether there is a value that this receiver has not seen. Fails as
  // `Changed()` does: with `kCancelled` if all senders are destroyed and the
  // last value was seen, because no other value will arrive.
  absl::StatusOr<bool> HasChanged() const {
    const internal::Core::Seen now = shared_->Load();
    if (now.version() != seen_) return true;
    if (now.is_closed()) {
      return rouse::internal::ErrorFor<absl::StatusOr<bool>>(
          internal::ClosedError());
    }
    return false;
  }

  // Returns whether all senders are destroyed.
  bool IsClosed() const { return shared_->Load().is_closed(); }

  // Makes the latest value count as not seen, and notifies a waiting future of
  // this receiver.
  void MarkChanged() {
    seen_ = shared_->Load().version() - 1;
    shared_->WakeShard(shard_);
  }
  // Makes the latest value count as seen.
  void MarkUnchanged() { seen_ = shared_->Load().version(); }

  // Returns the number of senders.
  size_t sender_count() const { return shared_->senders(); }

  // Returns whether both receivers receive from the same channel.
  bool SameChannel(const Receiver& other) const {
    return shared_.Get() == other.shared_.Get();
  }

 private:
  friend class Sender<T>;
  template <class, const auto&>
  friend class rouse::internal::PendingWait;
  template <class U>
  friend std::pair<Sender<U>, Receiver<U>> Channel(U initial);

  Receiver(Shared* shared, uint64_t seen)
      : shared_(shared), shard_(shared->NextShard()), seen_(seen) {}

  // Called by the receiver's futures.
  void StopWaiting(internal::WaitNode& node) {
    shared_->ForgetChange(shard_, node);
  }

  // Returns whether the latest value is a value that was not seen.
  bool IsUnseen() const { return shared_->Load().version() != seen_; }

  Ref<T> BorrowVersion(uint64_t& version) const {
    Ref<T> ref(shared_.Get(), shard_);
    // Read under the lock, as every change is made: this is the version of the
    // value.
    version = shared_->Load().version();
    ref.has_changed_ = version != seen_;
    return ref;
  }

  rouse::internal::OwnStreamWaiter<Waiter> own_waiter_;  // uses `shared_`
  rouse::internal::HandlePtr<Shared, internal::kReceiverName> shared_;
  size_t shard_;
  uint64_t seen_;  // the version
};

// Receiver::ChangedFuture
//
// Can be moved until the first poll.
template <class T>
class [[nodiscard]] Receiver<T>::ChangedFuture {
 public:
  explicit ChangedFuture(Receiver* receiver) : wait_(receiver) {}

  PollResult<absl::Status> Poll(Context& cx) {
    Receiver& receiver = wait_.source();
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    internal::Core& core = *receiver.shared_;
    internal::Core::Seen now = core.Load();
    if (now.version() == receiver.seen_ && !now.is_closed()) {
      if (core.WaitForChange(receiver.shard_, wait_.node(), receiver.seen_,
                             cx.waker())) {
        wait_.set_waits(true);
        return kPending;
      }
      now = core.Load();
    }
    unit->MadeProgress();
    wait_.Stop();
    wait_.Finish();
    // The last value before the end comes first.
    if (std::exchange(receiver.seen_, now.version()) == now.version()) {
      return internal::ClosedError();
    }
    return absl::OkStatus();
  }

 private:
  rouse::internal::PendingWait<Receiver, internal::kChanged> wait_;
};

// Receiver::WaitForFuture
//
// Can be moved until the first poll.
template <class T>
template <class Predicate>
class [[nodiscard]] Receiver<T>::WaitForFuture {
 public:
  template <class Arg>
  WaitForFuture(Receiver* receiver, Arg&& predicate)
      : predicate_(std::forward<Arg>(predicate)), wait_(receiver) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  WaitForFuture(WaitForFuture&& other)
      : predicate_(std::move(Movable(other).predicate_)),
        wait_(std::move(other.wait_)) {}
  WaitForFuture& operator=(WaitForFuture&&) = delete;

  PollResult<absl::StatusOr<Ref<T>>> Poll(Context& cx) {
    Receiver& receiver = wait_.source();
    internal::Core& core = *receiver.shared_;
    for (;;) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      if (has_looked_ && core.WaitForChange(receiver.shard_, wait_.node(),
                                            receiver.seen_, cx.waker())) {
        wait_.set_waits(true);
        return kPending;
      }
      unit->MadeProgress();
      wait_.Stop();
      // Checked before the value: a value that arrives in between is not the
      // last.
      const bool closed = core.Load().is_closed();
      if (!has_looked_ || receiver.IsUnseen()) {
        has_looked_ = true;
        Ref<T> ref = receiver.BorrowAndUpdate();
        if (std::invoke(predicate_, *ref)) {
          wait_.Finish();
          return absl::StatusOr<Ref<T>>(std::move(ref));
        }
      }
      if (closed) {
        wait_.Finish();
        return absl::StatusOr<Ref<T>>(internal::ClosedError());
      }
    }
  }

 private:
  // Called in the first step of a move, so that a panic leaves all members
  // unchanged. A future that has looked at the value may have no node in the
  // list, and must not be moved nevertheless.
  static WaitForFuture& Movable(WaitForFuture& future) {
    if (future.has_looked_) {
      rouse::internal::PanicMovedAfterPoll(internal::kWaitFor);
    }
    return future;
  }

  Predicate predicate_;
  bool has_looked_ = false;
  // Destroyed first: the predicate may own the receiver. Moved last: moving the
  // predicate may throw.
  rouse::internal::PendingWait<Receiver, internal::kWaitFor> wait_;
};

// Receiver::WaitForValueFuture
//
// Can be moved until the first poll.
template <class T>
template <class Predicate>
class [[nodiscard]] Receiver<T>::WaitForValueFuture {
 public:
  template <class Arg>
  WaitForValueFuture(Receiver* receiver, Arg&& predicate)
      : wait_(receiver, std::forward<Arg>(predicate)) {}

  PollResult<absl::StatusOr<T>> Poll(Context& cx) {
    const PollResult<absl::StatusOr<Ref<T>>> ref = wait_.Poll(cx);
    if (ref.IsPending()) return kPending;
    if (!ref->ok()) {
      return absl::StatusOr<T>(
          rouse::internal::ErrorFor<absl::StatusOr<T>>(ref->status()));
    }
    return absl::StatusOr<T>(std::in_place, ***ref);
  }

 private:
  WaitForFuture<Predicate> wait_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(T initial) {
  auto* const shared =
      new internal::Shared<T>(std::move(initial), /*receivers=*/1);
  return {Sender<T>(shared), Receiver<T>(shared, shared->Load().version())};
}

}  // namespace rouse::watch

#endif  // ROUSE_SYNC_WATCH_WATCH_H_
