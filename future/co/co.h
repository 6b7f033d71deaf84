// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: co.h
// -----------------------------------------------------------------------------
//
// `Co<T>` is the coroutine type of Rouse. A coroutine is a function that can
// wait:
//
//   rouse::Co<int> Add(rouse::Co<int> a, rouse::Co<int> b) {
//     const int x = co_await std::move(a);
//     co_return x + co_await std::move(b);
//   }
//
// Inside a `Co`, `co_await` takes
//
// * any `Future`, by reference or as a temporary, and returns the output;
// * another `Co`, as an rvalue, and returns the result;
// * `OrReturn(x)`, and returns the value of `x` or ends the coroutine with the
//   error: see or_return.h.
//
// # Lambdas
//
// A lambda's captures are in the lambda, not in the coroutine. A lambda
// coroutine must not outlive the lambda:
//
//   auto loop = [socket = std::move(socket)]() -> rouse::Co<> { ... };
//   rouse::Co<> bad = std::move(loop)();   // dangles when `loop` has gone
//   rouse::Spawn(std::move(loop));         // fine: the task keeps the lambda
//
// `Join`, `TryJoin`, `Select`, `Race` and `Timeout` take a lambda as `Spawn`
// does. Spawning a coroutine of a lambda with captures, as in `Spawn(loop())`,
// is a `Panic()` whose message names the line.
//
// References and views that are passed as parameters dangle in the same way.
// Clang can warn about both if it sees a temporary: see coro_attributes.h.
//
// # g++ 12
//
// g++ 12 miscompiles some coroutines, and the resulting programs crash. To
// support this compiler:
//
// * Write no lambda and no aggregate as a temporary in a full expression with
//   `co_await`, because g++ 12 destroys the temporary twice: name it first.
// * Make no awaiter and no future an aggregate.
// * Do not `co_await` a temporary in the condition of a `switch`, or of an `if`
//   without `else`: name the future or the result first.

#ifndef ROUSE_FUTURE_CO_CO_H_
#define ROUSE_FUTURE_CO_CO_H_

#include "rouse/base/cxx20.h"

#include <coroutine>
#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/co/chain.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
template <class T>
class CoPromise;
template <class Promise>
class CoAwaits;
}  // namespace internal

// Co
//
// Owns a coroutine. `Co` is lazy: no part of the body runs before the first
// poll. `T` may be void, a reference or move-only.
//
// Destroying a `Co` at any point cancels it. The awaited future is cancelled
// first. Then the locals of each coroutine in the chain are destroyed,
// innermost coroutine first. Nothing runs after that.
//
// An exception that leaves the body propagates out of the `co_await` or the
// `Poll()` that receives the result.
//
// A `Co` may be moved at any time, even between polls, but not inside its own
// poll. Polling or awaiting a `Co` that was moved from or has finished is a
// `Panic()`. A `Co` destroyed before the first poll destroys the parameters as
// any function does: if a parameter is itself such a `Co`, and so on, the
// destruction is recursive.
//
// No object that lives in a frame may be aligned to more than 16 bytes, whether
// it is the result, a parameter, a local or an awaited future. Compilers do not
// ensure a larger alignment; hold such an object through a pointer.
//
// A frame is one block of `FramePool`, or, with clang 20, possibly a part of
// the frame that awaits it. Awaiting allocates nothing else. A wake costs the
// same at any depth of coroutines that await one another.
template <class T = void>
class [[nodiscard(
    "a coroutine does nothing until it is awaited")]] ROUSE_CORO_RETURN_TYPE
    ROUSE_CORO_AWAIT_ELIDABLE Co {
 public:
  using promise_type = internal::CoPromise<T>;

  Co(Co&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Co& operator=(Co&& other) noexcept {
    // The replaced coroutine is destroyed now, not when `other` is.
    Co replaced(std::move(other));
    std::swap(frame_, replaced.frame_);
    return *this;
  }
  ~Co() {
    if (IsLive()) internal::DestroyChain(*frame_);
  }

  // Runs the coroutine and the chain of awaited coroutines, until the coroutine
  // finishes or must wait.
  PollResult<T> Poll(Context& cx) {
    CheckLive();
    if (!internal::PollChain(*frame_, cx)) return kPending;
    return TakeResult();
  }

  // Internal. Returns whether this is a coroutine of a lambda with captures,
  // which must outlive the coroutine: see borrowed_closure.h.
  bool BorrowsClosure() const { return IsLive() && frame_->borrows_closure(); }

  // Internal. Like `Poll()`, for a caller that has checked that the stack has
  // room. If the result is true, the coroutine has finished, and the caller
  // must call `TakeFrame()` next.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool PollInPlace(Context& cx) {
    CheckLive();
    return frame_->started() ? internal::PollChain(*frame_, cx)
                             : internal::StartChain(*frame_, cx);
  }
  // Internal. Returns the frame, which the caller must destroy after taking the
  // result.
  promise_type& TakeFrame() { return *std::exchange(frame_, Finished()); }

  // Adds to `trace` where the coroutine waits: see await_trace.h. A coroutine
  // that has not begun, is running or has finished is a leaf.
  void Trace(AwaitTrace& trace) const {
    if (IsLive() && frame_->IsInAwait()) {
      internal::TraceChain(*frame_, trace);
    } else if (IsLive() && frame_->started()) {
      trace.AddLeaf(internal::TypeName<Co>(), "running");
    } else {
      trace.AddLeaf(internal::TypeName<Co>(),
                    IsLive() ? "not started" : "finished");
    }
  }

 private:
  template <class Promise>
  friend class internal::CoAwaits;
  friend promise_type;

  struct Destroy {
    void operator()(promise_type* frame) const { frame->Destroy(); }
  };

  explicit Co(promise_type& frame) : frame_(&frame) {}

  // Destroys the frame, which has finished, and returns the result. Not inlined
  // into each poll.
  ABSL_ATTRIBUTE_NOINLINE PollResult<T> TakeResult() {
    const std::unique_ptr<promise_type, Destroy> done(
        std::exchange(frame_, Finished()));
    if constexpr (std::is_void_v<T>) {
      done->Take();
      return {};
    } else {
      return PollResult<T>(done->Take());
    }
  }

  // Stands for a frame that finished and was destroyed.
  static promise_type* Finished() {
    return reinterpret_cast<promise_type*>(uintptr_t{1});
  }

  bool IsLive() const { return frame_ != nullptr && frame_ != Finished(); }

  void CheckLive() const {
    if (!IsLive()) [[unlikely]]
      PanicNotLive();
  }

  [[noreturn]] ABSL_ATTRIBUTE_COLD void PanicNotLive() const {
    if (frame_ == nullptr) {
      Panic(
          "a Co was polled or awaited after it was moved from; use the Co that "
          "it was moved to");
    }
    Panic(
        "a Co was polled or awaited after it completed; keep the result, or "
        "call the coroutine again");
  }

  // Releases the frame to an awaiting coroutine, the owner from then on.
  promise_type& Release() {
    CheckLive();
    if (frame_->started()) {
      Panic(
          "a Co was awaited as an rvalue after it was polled; await the Co by "
          "reference, as in `co_await co` instead of `co_await std::move(co)`");
    }
    return *std::exchange(frame_, nullptr);
  }

  promise_type* frame_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

namespace internal {

template <class Promise, class T>
struct OrReturnTraits;
template <class T>
class OrReturnOperand;

// Defines the operands of `co_await` in a coroutine with the given promise.
template <class Promise>
class CoAwaits : public Frame {
 public:
  template <class F>
    requires Future<std::remove_reference_t<F>>
  FutureAwaiter<std::remove_reference_t<F>> await_transform(
      F&& future ABSL_ATTRIBUTE_LIFETIME_BOUND,
      std::source_location where = std::source_location::current()) {
    static_assert(
        std::is_lvalue_reference_v<F> ||
            alignof(std::remove_reference_t<F>) <= 2 * sizeof(void*),
        "a coroutine frame is aligned to 16 bytes: keep a future of larger "
        "alignment outside the coroutine, and await it by reference");
    return FutureAwaiter<std::remove_reference_t<F>>(*this, future, where);
  }

  // Rejects other operands with advice in the error message.
  template <class A>
    requires(!Future<std::remove_reference_t<A>>)
  std::suspend_never await_transform(A&&) {
    static_assert(Future<std::remove_reference_t<A>>,
                  "co_await takes a future, which is a type with PollResult<T> "
                  "Poll(Context&). To wait for another library's awaitable or "
                  "callback, let it send to a oneshot channel. To wait for a "
                  "std::future, call its get() in SpawnBlocking()");
    return {};
  }

  template <class U>
  ChildAwaiter<CoPromise<U>> await_transform(
      Co<U>&& child,
      std::source_location where = std::source_location::current()) {
    return ChildAwaiter<CoPromise<U>>(child.Release(), where);
  }

  // Declared here, and defined in or_return.h, which must be included for
  // `OrReturn()`.
  template <class U>
  auto await_transform(
      OrReturnOperand<U>&& operand,
      std::source_location where = std::source_location::current()) {
    return OrReturnTraits<Promise, U>::MakeAwaiter(static_cast<Promise&>(*this),
                                                   operand, where);
  }

  // Releases the frame of a child to an awaiter other than the plain one.
  template <class U>
  static CoPromise<U>& Release(Co<U>&& child) {
    return child.Release();
  }
};

template <class T>
class CoPromise : public CoAwaits<CoPromise<T>>, public ResultSlot<T> {
 public:
  Co<T> get_return_object() {
    Frame::CheckLayout<CoPromise>();
    return Co<T>(*this);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() noexcept { return FinalAwaiter(*this); }

  void unhandled_exception() noexcept { this->KeepException(); }

  // Takes the result of a finished coroutine. Must be called only once.
  T Take() {
    RethrowFrom(*this);
    return this->result_.Take();
  }

  // Returns a pointer to the result, which stays in place, or null if an
  // exception ended the coroutine.
  auto* Peek() { return this->HasException() ? nullptr : this->result_.Peek(); }
};

// LambdaCoPromise
//
// Promise of a coroutine whose first parameter is a lambda by reference.
template <class T, class Closure, class... Args>
class LambdaCoPromise final : public CoPromise<T> {
 public:
  // The closure's type is complete only after the lambda's body, where the
  // constructor is defined.
  LambdaCoPromise() {
    if (!std::is_empty_v<std::remove_reference_t<Closure>> &&
        IsClosureOf<Co<T>, std::remove_reference_t<Closure>, Args...>()) {
      this->link = Frame::kBorrowsClosure;
    }
  }
};

}  // namespace internal

}  // namespace rouse

// Matches coroutine lambdas, among others. `Closure&` and `Args...` are the
// parameters of the coroutine.
template <class T, class Closure, class... Args>
  requires(rouse::internal::IsLambda<std::remove_const_t<Closure>>())
struct std::coroutine_traits<rouse::Co<T>, Closure&, Args...> {
  using promise_type = rouse::internal::LambdaCoPromise<T, Closure&, Args...>;
};

#endif  // ROUSE_FUTURE_CO_CO_H_
