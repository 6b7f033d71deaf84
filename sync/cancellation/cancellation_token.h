// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cancellation_token.h
// -----------------------------------------------------------------------------
//
// A `CancellationToken` tells any number of tasks that they should end:
//
//   rouse::Co<> Serve(TcpListener& listener, rouse::CancellationToken stop) {
//     for (;;) {
//       auto accepted = co_await stop.RunUntilCancelled(listener.Accept());
//       if (!accepted.has_value()) co_return;  // cancelled
//       rouse::Spawn(Talk(*std::move(accepted), stop.ChildToken())).Detach();
//     }
//   }
//   ...
//   stop.Cancel();
//
// To cancel a token cancels those made of it by `ChildToken()`, and theirs, and
// not the one that it was made of. So one connection can be ended by its own
// token, and all of them by the server's.
//
// Nothing is interrupted: a task that is to end looks, or waits, for it. (To
// have a task destroyed wherever it is, abort it.)

#ifndef ROUSE_SYNC_CANCELLATION_CANCELLATION_TOKEN_H_
#define ROUSE_SYNC_CANCELLATION_CANCELLATION_TOKEN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace internal {

struct ListOfChildren;
struct ListOfNotified;

// CancellationTree
//
// What all tokens share that stem from one: the lock of who is whose child. It
// is held for as long as it takes to mark those that one call cancels.
class CancellationTree {
 public:
  // Starts with one reference, the caller's.
  CancellationTree() = default;
  CancellationTree(const CancellationTree&) = delete;
  CancellationTree& operator=(const CancellationTree&) = delete;

  void Ref() {
    // Relaxed: the caller has a reference.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last one: use comes before delete.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  ThreadMutex mu;

 private:
  ~CancellationTree() = default;

  Atomic<uint64_t> references_{1};
};

// CancellationNode
//
// What the copies of one token share. References are those of tokens, and of
// who wakes those that wait for it.
//
// A node is in the tree as long as it has a reference and is not cancelled. If
// its last reference goes, its children become its parent's. If it is cancelled
// they are too, and none of them is anybody's child any more. So the tree has
// no node that nobody has a token of, and no node keeps another.
//
// Locks: the tree's, then a node's. No two nodes' at once. Wakers are used
// under neither.
class CancellationNode : public IntrusiveListNode<ListOfChildren>,
                         public IntrusiveListNode<ListOfNotified> {
 public:
  // With one reference, the caller's. A child of none, then of `parent`.
  CancellationNode() : tree_(*new CancellationTree) {}
  static CancellationNode* NewChild(CancellationNode& parent);

  void Ref() {
    // Relaxed: the caller has a reference, or sees one who waits and has one.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last one: use comes before delete.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Delete();
  }

  bool IsCancelled() const {
    // Acquire pairs with the release of Mark.
    return cancelled_.load(std::memory_order_acquire);
  }
  void Cancel();

  // Whether it is cancelled; if not, `waiter` is among those that wait from now
  // on, and `waker` is woken.
  bool Wait(WaitNode& waiter, Waker& waker);
  void StopWaiting(WaitNode& waiter);

 private:
  explicit CancellationNode(CancellationTree& tree) : tree_(tree) {
    tree_.Ref();
  }
  ~CancellationNode() { tree_.Unref(); }

  void Delete();
  // Under the tree's lock.
  void LeaveParent() {
    IntrusiveListNode<ListOfChildren>::Unlink();
    parent_ = nullptr;
  }
  // Under the tree's lock: cancels this one. Whether somebody waits for it; if
  // so it has a reference more, the caller's.
  bool Mark();
  void WakeAll();

  Atomic<uint64_t> references_{1};
  CancellationTree& tree_;
  // Under the tree's lock. The parent is null if there is none.
  CancellationNode* parent_ = nullptr;
  IntrusiveList<CancellationNode, ListOfChildren> children_;

  // Written under both locks, once.
  Atomic<bool> cancelled_{false};
  BriefLock mu_;
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

// What a future's output is in a `std::optional`.
template <class T>
struct OptionalValue {
  using Type = T;
};
template <>
struct OptionalValue<void> {
  using Type = std::monostate;
};
template <class T>
struct OptionalValue<T&> {
  using Type = std::reference_wrapper<T>;
};

}  // namespace internal

class CancellationDropGuard;
template <class F>
class RunUntilCancelledFuture;

// CancellationToken
//
// Copies are of the same token. Thread-safe but for assigning, moving and
// destroying one object. One that was moved from can only be assigned to and
// destroyed.
//
// A copy is one atomic operation, `IsCancelled()` a load. A new token is one
// allocation, or two if it is no child. What nobody has a copy of is freed: a
// token does not grow with the children that it has had. Tokens of one tree
// share a lock, which is taken to make a child, to destroy a token's last copy
// and to cancel; not to wait.
//
// What was done before a `Cancel()` is visible to who sees the token, or one
// below it, cancelled.
class CancellationToken {
 public:
  class CancelledFuture;
  class OwnedCancelledFuture;

  // A token that is nobody's child.
  CancellationToken() : node_(new internal::CancellationNode) {}
  CancellationToken(const CancellationToken& other) : node_(other.node_) {
    if (node_ != nullptr) node_->Ref();
  }
  CancellationToken(CancellationToken&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)) {}
  CancellationToken& operator=(CancellationToken other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  // Destroying the last copy cancels nothing. The token's children are then
  // those of what it was a child of. O(children).
  ~CancellationToken() {
    if (node_ != nullptr) node_->Unref();
  }

  // A token that is cancelled when this one is: at once, if this one has been.
  CancellationToken ChildToken() const {
    return CancellationToken(internal::CancellationNode::NewChild(*node_));
  }

  // Cancels this token and all below it, and wakes whoever waits for one of
  // them. When the call returns all of them are cancelled, also if another call
  // had come before it. A second call does nothing.
  //
  // O(tokens below), without recursion: the tree may be as deep as it likes.
  void Cancel() const { node_->Cancel(); }

  bool IsCancelled() const { return node_->IsCancelled(); }

  // A future that is ready when the token is cancelled. Any number may wait.
  // Destroying it stops its waiting. A copy of the token must outlive it.
  [[nodiscard]] CancelledFuture Cancelled()
      const& ABSL_ATTRIBUTE_LIFETIME_BOUND;
  void Cancelled() const&& = delete;  // use CancelledOwned()

  // The same, and keeps a copy itself.
  [[nodiscard]] OwnedCancelledFuture CancelledOwned() const;

  // Cancels the token when it goes.
  CancellationDropGuard DropGuard() const;

  // Returns a future that runs `future` until it is ready or the token is
  // cancelled. Its result is a `std::optional`: the output of `future`, or
  // nothing. For an output of void it holds a `std::monostate`, for a reference
  // a `std::reference_wrapper`.
  //
  //   std::optional<Reply> reply = co_await stop.RunUntilCancelled(Ask(db));
  //
  // A token that is cancelled before the first poll wins: `future` is never
  // polled. After that a `future` that is ready wins, so that what it has taken
  // from elsewhere, such as a message, is not lost to a cancellation that comes
  // at that moment.
  //
  // An rvalue is moved in, and has been destroyed when there is a result; an
  // lvalue is polled where it is. The returned future keeps a copy of the
  // token.
  template <Future F>
  RunUntilCancelledFuture<F> RunUntilCancelled(F&& future) const;

 private:
  friend class CancellationDropGuard;

  // Takes over the caller's reference.
  explicit CancellationToken(internal::CancellationNode* node) : node_(node) {}

  internal::CancellationNode* node_;
};

// CancellationToken::CancelledFuture
//
// See `Cancelled()`. Moved only before it is polled.
class [[nodiscard]] CancellationToken::CancelledFuture {
 public:
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  CancelledFuture(CancelledFuture&& other) : node_(other.node_) {
    if (other.waits_) PanicMoved();
    other.node_ = nullptr;
  }
  CancelledFuture& operator=(CancelledFuture&&) = delete;
  ~CancelledFuture() { Stop(); }

  PollResult<void> Poll(Context& cx);

 private:
  friend class CancellationToken;
  template <class F>
  friend class RunUntilCancelledFuture;

  explicit CancelledFuture(internal::CancellationNode* node) : node_(node) {}

  // Waits no more: as if finished.
  void Stop() {
    if (std::exchange(waits_, false)) node_->StopWaiting(waiter_);
    node_ = nullptr;
  }

  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMoved();

  internal::CancellationNode* node_;  // null: finished, or moved from
  bool waits_ = false;
  internal::WaitNode waiter_;
};

// CancellationToken::OwnedCancelledFuture
//
// See `CancelledOwned()`. As a `CancelledFuture`.
class [[nodiscard]] CancellationToken::OwnedCancelledFuture {
 public:
  // The token comes last: a panic leaves it with the future that needs it.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  OwnedCancelledFuture(OwnedCancelledFuture&& other)
      : token_(nullptr), future_(std::move(other.future_)) {
    token_ = std::move(other.token_);
  }
  OwnedCancelledFuture& operator=(OwnedCancelledFuture&&) = delete;

  PollResult<void> Poll(Context& cx) { return future_.Poll(cx); }

 private:
  friend class CancellationToken;
  template <class F>
  friend class RunUntilCancelledFuture;

  explicit OwnedCancelledFuture(CancellationToken token)
      : token_(std::move(token)), future_(token_.Cancelled()) {}

  CancellationToken token_;  // goes after the future
  CancelledFuture future_;
};

// CancellationDropGuard
//
// See `CancellationToken::DropGuard()`.
class [[nodiscard]] CancellationDropGuard {
 public:
  explicit CancellationDropGuard(CancellationToken token)
      : token_(std::move(token)) {}
  CancellationDropGuard(CancellationDropGuard&&) noexcept = default;
  CancellationDropGuard& operator=(CancellationDropGuard other) noexcept {
    std::swap(token_, other.token_);
    return *this;
  }
  ~CancellationDropGuard() {
    if (token_.node_ != nullptr) token_.Cancel();
  }

  // Gives the token back, and cancels nothing.
  CancellationToken Disarm() && { return std::move(token_); }

 private:
  CancellationToken token_;  // moved from: disarmed
};

// RunUntilCancelledFuture
//
// See `CancellationToken::RunUntilCancelled()`.
template <class F>
class [[nodiscard]] RunUntilCancelledFuture {
 public:
  using Output =
      std::optional<typename internal::OptionalValue<FutureOutput<F>>::Type>;

  RunUntilCancelledFuture(CancellationToken token, F&& future)
      : cancelled_(std::move(token)), future_(std::forward<F>(future)) {}

  PollResult<Output> Poll(Context& cx) {
    if (!future_.has_value()) {
      Panic(
          "CancellationToken::RunUntilCancelled: polled after it has finished; "
          "keep what it gave");
    }
    // Each result takes budget, or a loop of them would never yield.
    if (!cx.HasBudget()) return YieldForBudget(cx);
    if (!std::exchange(began_, true) && IsCancelled()) {
      PollProceed(cx)->MadeProgress();
      Finish();
      return Output(std::nullopt);
    }
    PollResult<FutureOutput<F>> result = future().Poll(cx);
    if (result.IsPending()) {
      // The first look takes no budget, of which `future` may have left none.
      if (!IsCancelled() && cancelled_.Poll(cx).IsPending()) return kPending;
      Finish();
      return Output(std::nullopt);
    }
    Finish();
    if constexpr (std::is_void_v<FutureOutput<F>>) {
      return Output(std::in_place);
    } else {
      return Output(std::in_place, std::move(result).value());
    }
  }

  bool BorrowsClosure() const {
    return future_.has_value() && internal::BorrowsClosure(future());
  }
  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "RunUntilCancelled");
    if (future_.has_value()) branches.Add(future());
  }

 private:
  using Inner = std::remove_reference_t<F>;

  Inner& future() { return *future_; }
  const Inner& future() const { return *future_; }

  bool IsCancelled() const { return cancelled_.token_.IsCancelled(); }
  void Finish() {
    cancelled_.future_.Stop();
    future_.reset();
  }

  CancellationToken::OwnedCancelledFuture cancelled_;
  bool began_ = false;
  // Empty once finished.
  std::optional<std::conditional_t<std::is_lvalue_reference_v<F>,
                                   std::reference_wrapper<Inner>, Inner>>
      future_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

inline CancellationToken::CancelledFuture CancellationToken::Cancelled()
    const& {
  return CancelledFuture(node_);
}

inline CancellationToken::OwnedCancelledFuture
CancellationToken::CancelledOwned() const {
  return OwnedCancelledFuture(*this);
}

inline CancellationDropGuard CancellationToken::DropGuard() const {
  return CancellationDropGuard(*this);
}

template <Future F>
RunUntilCancelledFuture<F> CancellationToken::RunUntilCancelled(
    F&& future) const {
  return RunUntilCancelledFuture<F>(*this, std::forward<F>(future));
}

}  // namespace rouse

#endif  // ROUSE_SYNC_CANCELLATION_CANCELLATION_TOKEN_H_
