// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: oneshot.h
// -----------------------------------------------------------------------------
//
// A channel for a single value, from one sender to one receiver. Typically the
// value is the answer to a request that was sent to another task.
//
//   struct Request {
//     std::string key;
//     rouse::oneshot::Sender<int> answer;
//   };
//
//   auto [tx, rx] = rouse::oneshot::Channel<int>();
//   Post(Request{"apples", std::move(tx)});
//   absl::StatusOr<int> answer = co_await rx;
//
//   // the other task
//   request.answer.Send(Count(request.key));
//
// No value is lost. Each value is either received, or given back to the sender,
// or destroyed with the receiver if the value was sent in time.

#ifndef ROUSE_SYNC_ONESHOT_ONESHOT_H_
#define ROUSE_SYNC_ONESHOT_ONESHOT_H_

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/cell.h"
#include "rouse/base/error_for.h"
#include "rouse/base/frame_pool.h"
#include "rouse/future/block_on.h"
#include "rouse/sync/oneshot/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::oneshot {

template <class T>
class Sender;
template <class T>
class Receiver;

namespace internal {

template <class T>
struct ReceivedOf {
  static_assert(!std::is_reference_v<T>,
                "a oneshot channel cannot send a reference: send a pointer");
  using type = absl::StatusOr<T>;
};
template <class T>
struct ReceivedOf<absl::StatusOr<T>> {
  using type = absl::StatusOr<T>;
};
template <>
struct ReceivedOf<absl::Status> {
  using type = absl::Status;
};
template <>
struct ReceivedOf<void> {
  using type = absl::Status;
};

template <class T>
class Shared;

// The errors of a receiver.
absl::Status SenderDestroyedError();
absl::Status ClosedError();
absl::Status NothingYetError();
absl::Status TakenError();
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicPolledAfterEnd();
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicSentBefore();

}  // namespace internal

// The result of receiving a `T`: `absl::Status` for void and `absl::Status`,
// and `absl::StatusOr<T>` for all other types, where a `StatusOr` is not
// nested. `JoinHandle` follows the same rule.
template <class T>
using Received = typename internal::ReceivedOf<T>::type;

// Channel()
//
// Makes the two ends of a new channel of `T`. `T` is movable, or is void for a
// mere signal. Allocates once, from the `FramePool`, for both ends.
template <class T>
std::pair<Sender<T>, Receiver<T>> Channel();

// Sender
//
// Destroying a sender before a send notifies the receiver that nothing will
// arrive. Move-only. Used by a single thread at a time. Every operation is O(1)
// and lock-free.
template <class T>
class Sender {
  using Shared = internal::Shared<T>;
  using Value = typename Shared::Value;

 public:
  class ClosedFuture;

  Sender(Sender&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  Sender& operator=(Sender&& other) noexcept {
    Sender replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    return *this;
  }
  ~Sender() { Drop(); }

  // Sends `value`, which ends the use of the sender, and wakes the receiver.
  // Returns false, leaving `value` and the sender unchanged, if the receiver is
  // destroyed or has closed the channel.
  //
  // True does not mean that the value will be received: the receiver may be
  // destroyed before it checks. Panics if something was already sent. The
  // sender must not be part of `value`, or be destroyed with it when the value
  // is received.
  bool Send(Value&& value)
    requires(!std::is_void_v<T>)
  {
    return SendValue(value);
  }
  bool Send(const Value& value)
    requires(!std::is_void_v<T> && std::copy_constructible<Value>)
  {
    Value copy(value);
    return SendValue(copy);
  }
  bool Send()
    requires std::is_void_v<T>
  {
    Value value;
    return SendValue(value);
  }

  // Returns whether nothing can be sent: the receiver is destroyed or has
  // closed the channel, or something was sent. Once true, the result stays
  // true.
  bool IsClosed() const { return shared_ == nullptr || shared_->IsClosed(); }

  // Returns a future that is ready when the receiver is destroyed or has closed
  // the channel. Useful to avoid unnecessary work:
  //
  //   auto closed = tx.Closed();
  //   auto work = Compute();
  //   auto first = co_await Select(closed, work);
  //
  // Until the future is ready or destroyed, the sender must not be moved or
  // destroyed. While the future is awaited, the sender must not send, and no
  // other such future may wait. Destroying the future ends the wait.
  ClosedFuture Closed() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ClosedFuture(*this);
  }

  // Polls whether the channel is closed, as `Closed()` does, for the caller's
  // own futures. The waker of the last poll is kept until the sender sends or
  // is destroyed. Panics if something was sent.
  PollResult<void> PollClosed(Context& cx) {
    if (ABSL_PREDICT_FALSE(shared_ == nullptr)) internal::PanicSentBefore();
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    if (!shared_->IsClosed() && shared_->WaitForClose(cx.waker())) {
      return kPending;
    }
    unit->MadeProgress();
    return {};
  }

 private:
  template <class U>
  friend std::pair<Sender<U>, Receiver<U>> Channel();

  explicit Sender(Shared* shared) : shared_(shared) {}

  bool SendValue(Value& value) {
    static_assert(std::is_nothrow_move_constructible_v<Value> ||
                      std::is_move_assignable_v<Value>,
                  "the value must be movable, so that a failed Send() can "
                  "return the value");
    if (ABSL_PREDICT_FALSE(shared_ == nullptr)) internal::PanicSentBefore();
    if (shared_->IsClosed()) return false;
    Value* const place = std::construct_at(shared_->value(), std::move(value));
    // Reset before a waker is called, which may throw.
    Shared* const shared = std::exchange(shared_, nullptr);
    if (ABSL_PREDICT_TRUE(shared->Send())) return true;
    // The receiver has closed the channel in between.
    shared_ = shared;
    // The value is destroyed even if the assignment throws.
    const absl::Cleanup destroy = [place] { std::destroy_at(place); };
    if constexpr (std::is_nothrow_move_assignable_v<Value> ||
                  !std::is_nothrow_move_constructible_v<Value>) {
      value = std::move(*place);
    } else {
      std::destroy_at(&value);
      std::construct_at(&value, std::move(*place));
    }
    return false;
  }

  void Drop() {
    Shared* const shared = std::exchange(shared_, nullptr);
    if (shared != nullptr && !shared->DropSender()) delete shared;
  }

  Shared* shared_;  // null: nothing can be sent any more
};

// Sender::ClosedFuture
//
// Can be moved at any time.
template <class T>
class [[nodiscard]] Sender<T>::ClosedFuture {
 public:
  explicit ClosedFuture(Sender& sender) : sender_(&sender) {}
  ClosedFuture(ClosedFuture&& other) noexcept
      : sender_(std::exchange(other.sender_, nullptr)),
        waits_(std::exchange(other.waits_, false)) {}
  ClosedFuture& operator=(ClosedFuture&&) = delete;
  ~ClosedFuture() {
    if (waits_ && sender_->shared_ != nullptr) sender_->shared_->ForgetClose();
  }

  PollResult<void> Poll(Context& cx) {
    if (ABSL_PREDICT_FALSE(sender_ == nullptr)) internal::PanicPolledAfterEnd();
    waits_ = true;
    if (sender_->PollClosed(cx).IsPending()) return kPending;
    waits_ = false;
    sender_ = nullptr;
    return {};
  }

 private:
  Sender* sender_;  // null: was ready
  bool waits_ = false;
};

// Receiver
//
// A future of the value. Its error:
//
//   kCancelled   the sender was destroyed before a send, as happens when the
//                task that owns the sender is aborted (joining such a task
//                gives the same code); or this receiver is closed.
//
// Destroying the receiver closes the channel, and destroys a value that was
// sent. Abandoning an await of the receiver loses nothing: the receiver can be
// awaited again, until the result is given.
//
// Move-only, and can be moved at any time. Used by a single thread at a time.
// Every operation except `BlockingReceive()` is O(1) and lock-free.
template <class T>
class [[nodiscard]] Receiver {
  using Shared = internal::Shared<T>;

 public:
  Receiver(Receiver&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)) {}
  Receiver& operator=(Receiver&& other) noexcept {
    Receiver replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    return *this;
  }
  ~Receiver() { Drop(); }

  // Polls for the result. Panics if the result was already given.
  PollResult<Received<T>> Poll(Context& cx) {
    if (ABSL_PREDICT_FALSE(shared_ == nullptr)) internal::PanicPolledAfterEnd();
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    Answer answer = shared_->Look();
    if (answer == Answer::kNone) {
      if (shared_->WaitForValue(cx.waker())) return kPending;
      answer = shared_->Look();
    }
    unit->MadeProgress();
    if (ABSL_PREDICT_FALSE(answer != Answer::kValue)) {
      Drop();
      return ErrorOf(answer);
    }
    return Take<PollResult<Received<T>>>(std::in_place);
  }

  // Receives the value, and blocks the calling thread until there is a result.
  // Like `BlockOn()`, this is a `Panic()` inside a task.
  Received<T> BlockingReceive() {
    return rouse::internal::BlockOnFor("oneshot::Receiver::BlockingReceive",
                                       "co_await", *this);
  }

  // Returns the value, if it was sent. The value is then the receiver's only
  // result. Errors leave the receiver as it is:
  //
  //   kUnavailable         nothing has been sent yet;
  //   kCancelled           nothing will be sent: as for `Poll()`;
  //   kFailedPrecondition  the result was already given.
  Received<T> TryReceive() {
    if (shared_ == nullptr) return Error(internal::TakenError());
    const Answer answer = shared_->Look();
    if (answer != Answer::kValue) return ErrorOf(answer);
    return Take<Received<T>>();
  }

  // Closes the channel: nothing can be sent from now on. Notifies the sender,
  // and the task that awaits this receiver. A value that was sent before can
  // still be received.
  void Close() {
    if (shared_ != nullptr) shared_->Close();
  }

  // Returns whether the result was given. In that case the receiver must not be
  // polled.
  bool IsTerminated() const { return shared_ == nullptr; }

  // Returns whether there is no value to receive at this moment.
  bool IsEmpty() const {
    return shared_ == nullptr || shared_->Look() != Answer::kValue;
  }

 private:
  using Answer = internal::Core::Answer;

  template <class U>
  friend std::pair<Sender<U>, Receiver<U>> Channel();

  explicit Receiver(Shared* shared) : shared_(shared) {}

  static Received<T> Error(absl::Status error) {
    return rouse::internal::ErrorFor<Received<T>>(std::move(error));
  }
  static Received<T> ErrorOf(Answer answer) {
    switch (answer) {
      case Answer::kSenderDestroyed:
        return Error(internal::SenderDestroyedError());
      case Answer::kClosed:
        return Error(internal::ClosedError());
      default:
        return Error(internal::NothingYetError());
    }
  }

  // Takes the value. The sender has finished, and only the receiver can access
  // the block now.
  template <class Result, class... Tag>
  Result Take(Tag... tag) {
    if constexpr (std::is_void_v<T>) {
      delete std::exchange(shared_, nullptr);
      return Result(tag..., absl::OkStatus());
    } else {
      // If the move of the value throws, the receiver still has the value.
      Result result(tag..., std::move(*shared_->value()));
      Shared* const shared = std::exchange(shared_, nullptr);
      std::destroy_at(shared->value());
      delete shared;
      return result;
    }
  }

  void Drop() {
    Shared* const shared = std::exchange(shared_, nullptr);
    if (shared == nullptr || shared->DropReceiver()) return;
    if (shared->Look() == Answer::kValue) std::destroy_at(shared->value());
    delete shared;
  }

  Shared* shared_;  // null: the result was given
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

namespace internal {

// The block that both ends share.
template <class T>
class Shared final : public Core {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  // Returns the place of the value, before or after the send. `Core` determines
  // which end owns the value.
  Value* value() { return &place_.Write().value; }

#ifndef ROUSE_MODEL  // in models the pool would multiply the channel's steps
  static void* operator new(size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* block, size_t size) {
    FramePool::Free(block, size);
  }
  // For values with a larger alignment than the pool's blocks.
  static void* operator new(size_t size, std::align_val_t alignment) {
    return ::operator new(size, alignment);
  }
  static void operator delete(void* block, size_t size,
                              std::align_val_t alignment) {
    ::operator delete(block, size, alignment);
  }
#endif

 private:
  struct Place {
    Place() {}
    ~Place() {}
    union {
      Value value;
    };
  };

  Cell<Place> place_;
};

}  // namespace internal

template <class T>
std::pair<Sender<T>, Receiver<T>> Channel() {
  auto* const shared = new internal::Shared<T>;
  return {Sender<T>(shared), Receiver<T>(shared)};
}

}  // namespace rouse::oneshot

#endif  // ROUSE_SYNC_ONESHOT_ONESHOT_H_
