// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shared.h
// -----------------------------------------------------------------------------
//
// A `Shared` is a future with copies. Any number of tasks and threads wait for
// the output of one future, each with a copy of its own:
//
//   rouse::Shared config(LoadConfig(path));
//   for (Server& server : servers) {
//     rouse::Spawn(Run(server, config)).Detach();
//   }
//
//   rouse::Co<> Run(Server& server, rouse::Shared<rouse::Co<Config>> config) {
//     server.Start(co_await config);
//     ...
//   }
//
// A `OnceCell` also makes a value once. Use a `Shared` if the future is known
// at the beginning and is cancelled when no code waits any more. Use a
// `OnceCell` if the value has a fixed place, and each user can make it.

#ifndef ROUSE_FUTURE_SHARED_SHARED_H_
#define ROUSE_FUTURE_SHARED_SHARED_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/co/output_slot.h"
#include "rouse/future/future.h"
#include "rouse/future/shared/core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace internal {

// Names the output of a copy, for a future whose output is `T`.
template <class T>
struct SharedOutputOf {
  using type = std::conditional_t<std::copy_constructible<T>, T, const T&>;
};
template <>
struct SharedOutputOf<void> {
  using type = void;
};
template <class T>
struct SharedOutputOf<T&> {
  using type = T&;
};

// SharedState
//
// Holds the future and then the output.
template <class F>
class SharedState final : public SharedCore {
  using T = FutureOutput<F>;

 public:
  using Output = typename SharedOutputOf<T>::type;

  template <class Arg>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): cannot be copied
  explicit SharedState(Arg&& future)
      : future_(std::in_place, std::forward<Arg>(future)),
        borrows_closure_(internal::BorrowsClosure(*future_)) {}

  // Polls the future for the copy of `waiter`. Returns whether the output is
  // available.
  // REQUIRES: `Join()` has returned `kPoll`.
  bool PollFuture(SharedWaiter& waiter, Context& cx) {
    bool is_ready = true;
    {
      const BorrowedWaker waker(raw_waker());
      Context inner(waker.get(), cx);
      ROUSE_TRY {
        is_ready = output_.FillBy([&] { return future_->Poll(inner); });
        if (is_ready) future_.reset();
      }
      ROUSE_CATCH_ALL { KeepException(); }
    }
    is_ready ? Finish(waiter) : EndPoll();
    return is_ready;
  }

  // Returns the output, or throws the exception of the future.
  // REQUIRES: the core is done.
  PollResult<Output> Take() {
    if (exception_ != nullptr) std::rethrow_exception(exception_);
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return PollResult<Output>(*output_.Peek());
    }
  }

  // Return the output, if any, and the exception, if any.
  // REQUIRES: the core is done.
  auto* output() { return exception_ == nullptr ? output_.Peek() : nullptr; }
  const std::exception_ptr& exception() const { return exception_; }

  bool borrows_closure() const { return borrows_closure_; }

 private:
  ~SharedState() override = default;

  void KeepException() {
#ifdef ABSL_HAVE_EXCEPTIONS
    exception_ = std::current_exception();
    future_.reset();
#endif
  }

  void DestroyContents() override {
    future_.reset();
    exception_ = nullptr;
    if constexpr (!std::is_void_v<T>) output_.Clear();
  }

  std::optional<F> future_;  // empty once done
  OutputSlot<T> output_;
  std::exception_ptr exception_;
  const bool borrows_closure_;
};

}  // namespace internal

// Shared
//
// A future of the output of a future of type `F`. The output of each copy is a
// copy of the future's output. If the output can only be moved, the output of
// each copy is a const reference, valid as long as any copy exists. A reference
// and void stay as they are. A copy may be polled again when ready, and is
// ready again. `Peek()` reads the output in place.
//
// The future is polled by one of the copies that are polled. A wake of the
// future wakes all copies that wait, and the first of them to be polled polls
// the future. A copy that waits and is not polled therefore delays no other
// copy. To wake the copies only once, share the `JoinHandle` of a task:
// `Shared(Spawn(Load()))`.
//
// An exception from the future is thrown by the poll of every copy. The copies
// throw the same exception object.
//
// Copies may be used on different threads concurrently, and the future is then
// polled and destroyed on any of these threads. One copy may be used by only
// one thread at a time. The output's copy constructor may run on several
// threads at once.
//
// A copy may be copied and moved at any time, even between polls. A new copy
// waits only once polled, while a moved copy continues to wait. Polling a copy
// that was moved from is a `Panic()`.
//
// Destroying a copy ends its wait. Destroying the last copy destroys the
// future, which cancels it, or destroys the output. A future must not hold a
// copy of its own `Shared`, which would keep the two alive forever.
//
// Making a `Shared` allocates once. Copying and waiting allocate nothing. A
// wake is O(copies that wait). Each ready poll takes a unit of the budget
// (context.h).
template <Future F>
class [[nodiscard("a Shared does nothing until it is awaited")]] Shared {
  static_assert(!std::is_reference_v<F>,
                "a Shared owns its future: move the future, as in "
                "Shared(std::move(future))");
  using State = internal::SharedState<F>;

 public:
  using Output = typename State::Output;

  explicit Shared(F future) : state_(new State(std::move(future))) {}
  // Calls `callable` at the first poll, and keeps the callable for as long as
  // the returned future.
  template <class Callable>
    requires(!Future<Callable> &&
             std::same_as<F, internal::FutureFrom<Callable>>)
  explicit Shared(Callable&& callable)
      : state_(new State(internal::ToFuture<Callable>(callable))) {}

  Shared(const Shared& other) : state_(other.state_) {
    if (state_ != nullptr) state_->AddCopy();
  }
  Shared(Shared&& other) noexcept { TakeFrom(other); }
  Shared& operator=(const Shared& other) {
    if (this != &other) *this = Shared(other);
    return *this;
  }
  Shared& operator=(Shared&& other) {
    Shared taken(std::move(other));
    Drop();
    TakeFrom(taken);
    return *this;
  }
  ~Shared() { Drop(); }

  PollResult<Output> Poll(Context& cx) {
    if (state_ == nullptr) [[unlikely]]
      PanicMovedFrom();
    // Each result takes budget; otherwise a loop of results would never yield.
    if (!cx.HasBudget()) return YieldForBudget(cx);
    if (!state_->IsDone() && !Run(cx)) return kPending;
    StopWaiting();
    TakeUnitIfAny(cx);
    return state_->Take();
  }

  // Returns whether the future has ended, so that a poll is ready.
  bool IsReady() const { return state_ != nullptr && state_->IsDone(); }

  // Returns a pointer to the output, or null if the future has not ended or has
  // ended with an exception. The pointer is valid as long as any copy exists.
  auto* Peek() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires(!std::is_void_v<FutureOutput<F>>)
  {
    using T = std::remove_reference_t<FutureOutput<F>>;
    using Pointer =
        std::conditional_t<std::is_reference_v<FutureOutput<F>>, T*, const T*>;
    return IsReady() ? Pointer(state_->output()) : nullptr;
  }

  // Returns the exception that has ended the future, or null.
  std::exception_ptr exception() const {
    return IsReady() ? state_->exception() : nullptr;
  }

  // Returns whether both are copies of one `Shared`.
  bool IsCopyOf(const Shared& other) const { return state_ == other.state_; }

  bool BorrowsClosure() const {
    return state_ != nullptr && state_->borrows_closure() && !IsReady();
  }

  // Adds a leaf, because another thread may be polling the future.
  void Trace(AwaitTrace& trace) const {
    trace.AddLeaf("Shared", std::string(internal::TypeName<F>()));
  }

 private:
  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMovedFrom() {
    Panic(
        "a Shared was polled after it was moved from; use the Shared that it "
        "was moved to");
  }

  // Returns whether the output is available. Otherwise waits for it.
  bool Run(Context& cx) {
    Waker waker = cx.waker().Clone();
    waits_ = true;
    switch (state_->Join(waiter_, waker)) {
      case internal::SharedCore::Turn::kTake:
        return true;
      case internal::SharedCore::Turn::kPoll:
        return state_->PollFuture(waiter_, cx);
      case internal::SharedCore::Turn::kWait:
        break;
    }
    return false;
  }

  void StopWaiting() {
    if (std::exchange(waits_, false)) state_->Leave(waiter_);
  }

  void Drop() {
    if (state_ == nullptr) return;
    StopWaiting();
    std::exchange(state_, nullptr)->DropCopy();
  }

  // REQUIRES: this object has no state.
  void TakeFrom(Shared& other) {
    state_ = std::exchange(other.state_, nullptr);
    waits_ = std::exchange(other.waits_, false);
    if (waits_) state_->Replace(other.waiter_, waiter_);
  }

  State* state_ = nullptr;  // null if moved from
  // True if `waiter_` may be in the list, or has a waker.
  bool waits_ = false;
  internal::SharedWaiter waiter_;
};

template <class F>
Shared(F&&) -> Shared<internal::FutureFrom<F>>;

}  // namespace rouse

#endif  // ROUSE_FUTURE_SHARED_SHARED_H_
