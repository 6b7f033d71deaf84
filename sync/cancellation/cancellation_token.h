// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cancellation_token.h
// -----------------------------------------------------------------------------
//
// A `CancellationToken` notifies any number of tasks that they should end:
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
// Cancelling a token also cancels the tokens created from it by `ChildToken()`,
// and their descendants, but not its parent. A single connection can thus be
// ended by its own token, and all connections by the token of the server.
//
// Cancellation interrupts nothing: the task must check the token or wait for
// the cancellation. (To destroy a task wherever it is, abort it.)

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
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/sync/internal/pending_wait.h"
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
// The state shared by all tokens of a tree: the lock that guards the relations
// between parents and children. A call of `Cancel()` holds the lock for as long
// as it takes to mark all tokens to be cancelled.
class CancellationTree {
 public:
  // Creates a tree with one reference, for the caller.
  CancellationTree() = default;
  CancellationTree(const CancellationTree&) = delete;
  CancellationTree& operator=(const CancellationTree&) = delete;

  void Ref() {
    // Relaxed: the caller has a reference.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last call: every use comes before
    // the deletion.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  ThreadMutex mu;

 private:
  ~CancellationTree() = default;

  Atomic<uint64_t> references_{1};
};

// CancellationNode
//
// The state shared by the copies of a token. References belong to tokens, and
// to threads waking the waiters of the token.
//
// A node is in the tree as long as it has a reference and is not cancelled.
// When a node loses its last reference, the children become children of the
// node's parent. When a node is cancelled, its descendants are cancelled too,
// and all of them lose their parents. The tree therefore has no node without a
// token, and no node keeps another alive.
//
// Lock order: the tree's lock, then a node's lock. The locks of two nodes are
// never held at once. Wakers are used under neither lock.
class CancellationNode : public IntrusiveListNode<ListOfChildren>,
                         public IntrusiveListNode<ListOfNotified> {
 public:
  // Creates a node without a parent, and with one reference for the caller.
  CancellationNode() : tree_(*new CancellationTree) {}
  // Creates a child of `parent` with one reference for the caller.
  static CancellationNode* NewChild(CancellationNode& parent);

  void Ref() {
    // Relaxed: the caller, or a waiter seen by the caller, has a reference.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last call: every use comes before
    // the deletion.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Delete();
  }

  bool IsCancelled() const {
    // Acquire pairs with the release of Mark.
    return cancelled_.load(std::memory_order_acquire);
  }
  void Cancel();

  // Returns false if the node is cancelled. Otherwise adds `waiter` to the list
  // of waiters, and `waker` will be woken.
  bool Wait(WaitNode& waiter, const Waker& waker);
  void StopWaiting(WaitNode& waiter) { waiter.LeaveWith(mu_); }

 private:
  explicit CancellationNode(CancellationTree& tree) : tree_(tree) {
    tree_.Ref();
  }
  ~CancellationNode() { tree_.Unref(); }

  void Delete();
  // Removes the node from its parent. Called under the tree's lock.
  void LeaveParent() {
    IntrusiveListNode<ListOfChildren>::Unlink();
    parent_ = nullptr;
  }
  // Marks the node as cancelled. Called under the tree's lock. Returns whether
  // the node has waiters; if so, the caller gets an additional reference.
  bool Mark();
  void WakeAll();

  Atomic<uint64_t> references_{1};
  CancellationTree& tree_;
  // Guarded by the tree's lock. The parent is null if there is none.
  CancellationNode* parent_ = nullptr;
  IntrusiveList<CancellationNode, ListOfChildren> children_;

  // Written once, under both locks, or by `NewChild()` before others have the
  // node.
  Atomic<bool> cancelled_{false};
  BriefLock mu_;
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

// The type for the output of a future in a `std::optional`.
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

// The name of a call in panic messages.
inline constexpr char kCancelled[] = "CancellationToken::Cancelled";

}  // namespace internal

class CancellationDropGuard;
template <class F>
class RunUntilCancelledFuture;

// CancellationToken
//
// Copies refer to the same token. `CancellationToken` is thread-safe, except
// for assigning, moving and destroying the same object. A moved-from object can
// only be assigned to and destroyed; any other use is a `Panic()`.
//
// Making a copy is an atomic operation, and `IsCancelled()` is a load. Creating
// a token takes one allocation, or two if the token is not a child. A token is
// freed with its last copy, so a parent does not grow with former children. The
// tokens of a tree share a lock. Making a child, destroying the last copy of a
// token and cancelling take the lock; waiting does not.
//
// Everything done before a `Cancel()` is visible to any caller that sees the
// token, or a token below it, cancelled.
class CancellationToken {
 public:
  class CancelledFuture;
  class OwnedCancelledFuture;

  // Creates a token without a parent.
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
  // Destroys this copy. Destroying the last copy cancels nothing; the children
  // of the token then become children of its parent. O(children).
  ~CancellationToken() {
    if (node_ != nullptr) node_->Unref();
  }

  // Returns whether both objects are copies of one token. Copies have the same
  // hash, so that tokens can be keys of hash tables. A moved-from object equals
  // other moved-from objects only.
  friend bool operator==(const CancellationToken& a,
                         const CancellationToken& b) {
    return a.node_ == b.node_;
  }
  template <class H>
  friend H AbslHashValue(H state, const CancellationToken& token) {
    return H::combine(std::move(state), token.node_);
  }

  // Returns a token that is cancelled when this token is, and at once if this
  // token already has been.
  CancellationToken ChildToken() const {
    return CancellationToken(internal::CancellationNode::NewChild(node()));
  }

  // Cancels this token and all tokens below it, and wakes all of their waiters.
  // When the call returns, all of the tokens are cancelled, even if another
  // call came first. A second call does nothing.
  //
  // O(tokens below), without recursion: the tree may be arbitrarily deep.
  void Cancel() const { node().Cancel(); }

  // Returns whether the token is cancelled.
  bool IsCancelled() const { return node().IsCancelled(); }

  // Returns a future that is ready when the token is cancelled. Any number of
  // futures may wait. Destroying a future ends the wait. A copy of the token
  // must outlive the future.
  [[nodiscard]] CancelledFuture Cancelled()
      const& ABSL_ATTRIBUTE_LIFETIME_BOUND;
  void Cancelled() const&& = delete;  // use CancelledOwned()

  // Like `Cancelled()`, but the future keeps a copy of the token.
  [[nodiscard]] OwnedCancelledFuture CancelledOwned() const;

  // Returns a guard that cancels the token when the guard is destroyed.
  CancellationDropGuard DropGuard() const;

  // Returns a future that runs `future` until `future` is ready or the token is
  // cancelled. The result is a `std::optional`: the output of `future`, or
  // nothing. The optional holds a `std::monostate` for an output of void, and a
  // `std::reference_wrapper` for a reference.
  //
  //   std::optional<Reply> reply = co_await stop.RunUntilCancelled(Ask(db));
  //
  // A token cancelled before the first poll wins: `future` is never polled.
  // Later, a ready `future` wins. Anything taken from elsewhere by `future`,
  // such as a message, is thus not lost to a cancellation at the same moment.
  // (These are the rules of tokio-util. If a ready `future` won even at the
  // first poll, a loop of futures that are always ready would never end.) To
  // keep what a future already has, such as a value in a channel, pass the
  // future as an lvalue.
  //
  // An rvalue is moved into the returned future and destroyed before the result
  // is returned; an lvalue is polled in place. The returned future keeps a copy
  // of the token.
  template <Future F>
  RunUntilCancelledFuture<F> RunUntilCancelled(F&& future) const;

 private:
  friend class CancellationDropGuard;

  // Panics and reports that a token was used after it was moved from.
  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMovedFrom();

  // Returns the node. A `Panic()` if the token was moved from.
  internal::CancellationNode& node() const {
    if (ABSL_PREDICT_FALSE(node_ == nullptr)) PanicMovedFrom();
    return *node_;
  }

  // Takes over the caller's reference.
  explicit CancellationToken(internal::CancellationNode* node) : node_(node) {}

  internal::CancellationNode* node_;  // null if moved from
};

// CancellationToken::CancelledFuture
//
// See `Cancelled()`. Can be moved only before the first poll.
class [[nodiscard]] CancellationToken::CancelledFuture {
 public:
  PollResult<void> Poll(Context& cx) {
    return wait_.Poll(cx, &internal::CancellationNode::Wait);
  }

 private:
  friend class CancellationToken;
  template <class F>
  friend class RunUntilCancelledFuture;

  explicit CancelledFuture(internal::CancellationNode* node) : wait_(node) {}

  internal::PendingWait<internal::CancellationNode, internal::kCancelled> wait_;
};

// CancellationToken::OwnedCancelledFuture
//
// See `CancelledOwned()`. Otherwise like `CancelledFuture`.
class [[nodiscard]] CancellationToken::OwnedCancelledFuture {
 public:
  // Moves the token last: if the other move panics, `other` still has its
  // token.
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

  CancellationToken token_;  // destroyed after the future
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

  // Returns the token without cancelling it.
  CancellationToken Disarm() && { return std::move(token_); }

 private:
  CancellationToken token_;  // moved-from if disarmed
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
          "CancellationToken::RunUntilCancelled was polled after it completed; "
          "keep the result");
    }
    // Each result takes budget; otherwise a loop of results would never yield.
    if (!cx.HasBudget()) return YieldForBudget(cx);
    if (!std::exchange(began_, true) && IsCancelled()) {
      PollProceed(cx)->MadeProgress();
      Finish();
      return Output(std::nullopt);
    }
    PollResult<FutureOutput<F>> result = future().Poll(cx);
    if (result.IsPending()) {
      // The first check takes no budget, because `future` may have left none.
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
    cancelled_.future_.wait_.Stop();
    cancelled_.future_.wait_.Finish();
    future_.reset();
  }

  CancellationToken::OwnedCancelledFuture cancelled_;
  bool began_ = false;
  // Empty once the future has finished.
  std::optional<std::conditional_t<std::is_lvalue_reference_v<F>,
                                   std::reference_wrapper<Inner>, Inner>>
      future_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

inline CancellationToken::CancelledFuture CancellationToken::Cancelled()
    const& {
  return CancelledFuture(&node());
}

inline CancellationToken::OwnedCancelledFuture
CancellationToken::CancelledOwned() const {
  return OwnedCancelledFuture(*this);
}

inline CancellationDropGuard CancellationToken::DropGuard() const {
  static_cast<void>(node());  // a guard without a token would cancel nothing
  return CancellationDropGuard(*this);
}

template <Future F>
RunUntilCancelledFuture<F> CancellationToken::RunUntilCancelled(
    F&& future) const {
  return RunUntilCancelledFuture<F>(*this, std::forward<F>(future));
}

}  // namespace rouse

#endif  // ROUSE_SYNC_CANCELLATION_CANCELLATION_TOKEN_H_
