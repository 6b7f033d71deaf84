// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: oneshot.h
// -----------------------------------------------------------------------------
//
// A channel for one value, from one sender to one receiver: mostly the answer
// to a question that was put to another task.
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
// No value is lost: it is either received, or given back to who sends it, or
// destroyed with the receiver for which it was sent in time.

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
                "a reference cannot be sent: send a pointer");
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

// What receiving a `T` gives: `absl::Status` for void and `absl::Status`, else
// `absl::StatusOr<T>`; a `StatusOr` is not nested. As for `JoinHandle`.
template <class T>
using Received = typename internal::ReceivedOf<T>::type;

// Channel()
//
// The two ends of a new channel of `T`, which is movable, or void for a mere
// signal. Allocates once, from the `FramePool`, for both.
template <class T>
std::pair<Sender<T>, Receiver<T>> Channel();

// Sender
//
// Destroying it before it has sent tells the receiver that nothing will come.
// Move-only. Used by one thread at a time. Every operation is O(1) and
// lock-free.
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
  // False if the receiver has gone or has closed the channel: `value` is what
  // it was, and the sender too.
  //
  // True does not mean that it will be received: the receiver may go before it
  // looks. Panics if something was sent already. The sender is not in `value`,
  // nor goes with it when that is received.
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

  // Whether nothing can be sent: the receiver has gone, or has closed the
  // channel, or something was sent. Once true it stays so.
  bool IsClosed() const { return shared_ == nullptr || shared_->IsClosed(); }

  // A future that is ready when the receiver has gone or has closed the
  // channel: for who can spare himself the work.
  //
  //   auto closed = tx.Closed();
  //   auto work = Compute();
  //   auto first = co_await Select(closed, work);
  //
  // The sender stays where it is meanwhile, sends nothing, and is not waited
  // for by two such futures at once. Destroying the future stops its waiting.
  ClosedFuture Closed() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ClosedFuture(*this);
  }

  // The same for a future of one's own. The waker of the last poll is kept
  // until the sender sends or goes. Panics if something was sent.
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
                  "what is sent must be movable, so that it can be given back");
    if (ABSL_PREDICT_FALSE(shared_ == nullptr)) internal::PanicSentBefore();
    if (shared_->IsClosed()) return false;
    Value* const place = std::construct_at(shared_->value(), std::move(value));
    // Before a waker is called, which may throw.
    Shared* const shared = std::exchange(shared_, nullptr);
    if (ABSL_PREDICT_TRUE(shared->Send())) return true;
    // The receiver has closed the channel in between.
    shared_ = shared;
    // Also if the assignment throws.
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
// Movable at any time.
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
// A future of the value. Its errors:
//
//   kCancelled   the sender was destroyed before it has sent anything, as a
//                task that is aborted does to its own (and joining such a task
//                gives the same code); or this receiver is closed.
//
// Destroying the receiver closes the channel, and destroys a value that was
// sent. Abandoning an await of it loses nothing: it can be awaited again, until
// it has given its result.
//
// Move-only, movable at any time. Used by one thread at a time. Every operation
// but `BlockingReceive()` is O(1) and lock-free.
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

  // Panics if the result was given already.
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

  // Waits on this thread. As `BlockOn()`, a `Panic()` inside a task.
  Received<T> BlockingReceive() {
    return rouse::internal::BlockOnFor("oneshot::Receiver::BlockingReceive",
                                       "co_await", *this);
  }

  // The value, if it has been sent. It is the result then: the receiver gives
  // no other. Errors leave the receiver as it is:
  //
  //   kUnavailable         nothing has been sent yet;
  //   kCancelled           nothing will be: as for `Poll()`;
  //   kFailedPrecondition  the result was given already.
  Received<T> TryReceive() {
    if (shared_ == nullptr) return Error(internal::TakenError());
    const Answer answer = shared_->Look();
    if (answer != Answer::kValue) return ErrorOf(answer);
    return Take<Received<T>>();
  }

  // From now on nothing can be sent; tells the sender, and whoever awaits this
  // receiver. What was sent before can still be received.
  void Close() {
    if (shared_ != nullptr) shared_->Close();
  }

  // Whether the result was given: then it must not be polled.
  bool IsTerminated() const { return shared_ == nullptr; }

  // Whether there is no value to receive at this moment.
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

  // The sender has sent and is gone: the block is the receiver's alone.
  template <class Result, class... Tag>
  Result Take(Tag... tag) {
    if constexpr (std::is_void_v<T>) {
      delete std::exchange(shared_, nullptr);
      return Result(tag..., absl::OkStatus());
    } else {
      // If the value's move throws, the receiver still has it.
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

// The block of both ends.
template <class T>
class Shared final : public Core {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  // Where the value is or will be. `Core` says whose it is.
  Value* value() { return &place_.Write().value; }

#ifndef ROUSE_MODEL  // where the pool's own steps would multiply a channel's
  static void* operator new(size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* block, size_t size) {
    FramePool::Free(block, size);
  }
  // Of a value that is aligned more than the pool's blocks are.
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
