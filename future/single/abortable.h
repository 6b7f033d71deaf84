// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: abortable.h
// -----------------------------------------------------------------------------
//
// Lets other code end one future, anywhere inside a task:
//
//   auto [fetch, aborter] = rouse::Abortable(Fetch(url));
//   dialog.OnCancel([aborter = aborter] { aborter.Abort(); });
//   absl::StatusOr<Page> page = co_await fetch;  // kCancelled if aborted
//
// An `AbortHandle` ends a whole task, and a `CancellationToken` notifies any
// number of futures.
//
// # Protocol
//
// The future and its aborters share a flag and an `AtomicWaker`. `Abort()` sets
// the flag, and then wakes. A poll that is pending registers its waker, and
// then checks the flag. In every interleaving the poll sees the flag, or the
// abort finds the waker (atomic_waker.h). The flag is never reset.
//
// | Release                 | Acquire                    | Hands over |
// |-------------------------|----------------------------|---------------------|
// | `is_aborted_` in Abort  | `is_aborted_` in IsAborted | what was done | | |
// | before `Abort()`    | | `references_` in Unref  | the last Unref | every
// use of the    | |                         |                            |
// shared state        |

#ifndef ROUSE_FUTURE_SINGLE_ABORTABLE_H_
#define ROUSE_FUTURE_SINGLE_ABORTABLE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/single/status_output.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace internal {

// AbortState
//
// The state that a future and its aborters share. Thread-safe.
class AbortState {
 public:
  // The caller owns the first reference.
  AbortState() = default;
  AbortState(const AbortState&) = delete;
  AbortState& operator=(const AbortState&) = delete;

  void Ref() {
    // Relaxed: the caller has a reference.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref();

  bool IsAborted() const {
    // Acquire pairs with the release of Abort.
    return is_aborted_.load(std::memory_order_acquire);
  }
  void Abort();

  // Registers the waker of a poll that is pending. Returns whether the future
  // has been aborted; otherwise an abort wakes `waker`.
  bool Register(const Waker& waker);
  // Drops the registered waker, if any.
  void Deregister() { waker_.Take().Reset(); }

 private:
  ~AbortState() = default;

  Atomic<uint64_t> references_{1};
  Atomic<bool> is_aborted_{false};
  AtomicWaker waker_;
};

// AbortStatePtr
//
// Owns a reference, or nothing.
class AbortStatePtr {
 public:
  // Takes over the caller's reference.
  explicit AbortStatePtr(AbortState* state) : state_(state) {}
  AbortStatePtr(const AbortStatePtr& other) : state_(other.state_) {
    if (state_ != nullptr) state_->Ref();
  }
  AbortStatePtr(AbortStatePtr&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  AbortStatePtr& operator=(AbortStatePtr other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~AbortStatePtr() {
    if (state_ != nullptr) state_->Unref();
  }

  AbortState* operator->() const { return state_; }
  explicit operator bool() const { return state_ != nullptr; }
  bool operator==(const AbortStatePtr& other) const = default;

 private:
  AbortState* state_;
};

}  // namespace internal

// Aborter
//
// Ends the future of an `Abortable()`. Copies abort the same future, and keep
// only some words of memory alive, but not the future. Destroying an aborter
// aborts nothing. Thread-safe, except for assigning, moving and destroying the
// same object. A moved-from aborter can only be assigned to and destroyed.
class Aborter {
 public:
  // Ends the future: its next poll destroys it, and is ready with `kCancelled`.
  // Wakes the task that waits. Does nothing if the future is complete,
  // destroyed or aborted. Everything done before the call is visible to the
  // task that gets the result.
  void Abort() const { state_->Abort(); }

  // Returns whether `Abort()` was called, even if the future was complete.
  bool IsAborted() const { return state_->IsAborted(); }

  // Returns whether both abort the same future.
  bool operator==(const Aborter& other) const = default;

 private:
  template <class>
  friend class AbortableFuture;

  explicit Aborter(internal::AbortStatePtr state) : state_(std::move(state)) {}

  internal::AbortStatePtr state_;
};

// AbortableFuture
//
// See `Abortable()`. Can be moved when the future inside can.
template <class F>
class [[nodiscard]] AbortableFuture {
 public:
  using Output = internal::StatusOutput<FutureOutput<F>>;

  explicit AbortableFuture(F&& future)
      : state_(new internal::AbortState),
        future_(std::in_place, std::forward<F>(future)) {}
  // Moves the future first: if that move panics, `other` is unchanged.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  AbortableFuture(AbortableFuture&& other)
      : state_(nullptr), future_(std::move(other.future_)) {
    state_ = std::move(other.state_);
    other.future_.reset();
  }
  AbortableFuture& operator=(AbortableFuture&&) = delete;
  ~AbortableFuture() {
    if (state_) state_->Deregister();
  }

  PollResult<Output> Poll(Context& cx) {
    if (!future_.has_value()) {
      Panic("Abortable was polled after it completed; create a new Abortable");
    }
    if (state_->IsAborted()) return Cancelled();
    PollResult<FutureOutput<F>> result = future_->get().Poll(cx);
    if (result.IsReady()) {
      Finish();
      return PollResult<Output>(std::in_place,
                                internal::ToStatusOutput(std::move(result)));
    }
    if (state_->Register(cx.waker())) return Cancelled();
    return kPending;
  }

  // Returns another aborter of this future.
  Aborter aborter() const { return Aborter(state_); }

  bool BorrowsClosure() const {
    return future_.has_value() && internal::BorrowsClosure(future_->get());
  }
  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) trace.Add(future_->get());
  }

 private:
  void Finish() {
    state_->Deregister();
    future_.reset();
  }

  PollResult<Output> Cancelled() {
    Finish();
    return PollResult<Output>(
        std::in_place, internal::StatusOutputError<FutureOutput<F>>(
                           absl::CancelledError("the future was aborted")));
  }

  internal::AbortStatePtr state_;
  std::optional<internal::OwnedOrRef<F>> future_;  // empty once finished
};

// Abortable()
//
// Returns a future with the output of `future`, and an aborter that ends the
// future from any thread. The output is `absl::Status` for void and for a
// status, and otherwise `absl::StatusOr<T>`. A `StatusOr` is not nested, and a
// reference is a `std::reference_wrapper`.
//
// An aborted future is not polled any more. The future is destroyed by the poll
// that follows the abort, on the thread that polls, and never inside `Abort()`.
// An abort during a poll counts only if that poll is pending.
//
// An rvalue is moved in, and destroyed before the result is ready. An lvalue is
// polled in place and must outlive the result. A callable that returns a future
// is kept, as by `Join()`. Destroying the future cancels it.
//
// Errors: `kCancelled` if aborted. Errors of `future` are passed on.
//
// Allocates once.
template <IntoFuture F>
std::pair<AbortableFuture<internal::FutureFrom<F>>, Aborter> Abortable(
    F&& future) {
  AbortableFuture<internal::FutureFrom<F>> abortable(
      internal::ToFuture<F>(future));
  Aborter aborter = abortable.aborter();
  return {std::move(abortable), std::move(aborter)};
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_SINGLE_ABORTABLE_H_
