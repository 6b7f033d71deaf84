// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: chain.h
// -----------------------------------------------------------------------------
//
// Implements the polling of coroutines. Internal to `Co` and `Gen`.
//
// Coroutines that await one another form a chain of frames: the root, which is
// polled from outside, the root's child, and so on to the frame that awaits the
// leaf, a future that is not a coroutine.
//
//   root ──awaits──▶ child ──awaits──▶ child ──awaits──▶ leaf future
//
// Polling the root polls the leaf and no frame in between. When the leaf is
// ready, the frame that awaits it is resumed. When a frame finishes, its parent
// continues, in a loop. A wake therefore costs the same at any depth.
//
// A parent starts its child inline, as a call. A child that finishes without
// suspending returns into the parent, and the parent never suspends. After
// `kMaxInlineDepth` nested calls, the native stack is unwound instead, and the
// root's loop starts the child. A chain that is polled by a leaf of another
// chain, as in a `Join`, counts separately.
//
// # Invariants of a chain that is not being polled
//
// * The root's `leaf` is the awaiter in which the deepest frame is suspended.
//   `leaf` is null before the first poll, and in a generator that has yielded.
// * The `awaiter` of each frame except the root is the awaiter in the parent
//   that owns the frame.
// * Every frame is suspended. `finished` is not set on any frame, except on the
//   root for the moment before the owner takes the result.
// * The root's `cx` is null. While `cx` is not null, the chain may be neither
//   polled nor destroyed, because the code that is running may be part of the
//   chain.

#ifndef ROUSE_FUTURE_CO_CHAIN_H_
#define ROUSE_FUTURE_CO_CHAIN_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <utility>

#include "absl/base/config.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/frame_pool.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/output_slot.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

// Maximum number of coroutines that run inside one another on the native stack.
// A level takes a few hundred bytes, or a few thousand without optimization and
// with a sanitizer's instrumentation.
inline constexpr uint32_t kMaxInlineDepth = 32;

struct Frame;

struct Awaiter;

// Holds the functions that depend on the type of the awaited object.
struct AwaiterVTable {
  // Called when the awaited object may be ready. Returns false if the object is
  // still pending, and true otherwise. After true, the frame continues, unless
  // the call has marked the frame as finished.
  bool (*ready)(Awaiter*, Context&);
  // Describes the awaited object. Null for a child, because the child's frame
  // describes the await.
  void (*trace)(const Awaiter&, AwaitTrace&);
};

// Represents the await in which a frame is suspended. Lives inside the frame.
struct Awaiter {
  Awaiter(Frame& parent, const AwaiterVTable* vtable)
      : parent(&parent), vtable(vtable) {}
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;

  Frame* const parent;
  // Null for a child whose parent simply continues when the child finishes.
  const AwaiterVTable* const vtable;
};

// Represents the await of a child, and owns the child's frame.
struct ChildAwaiterBase : Awaiter {
  using Awaiter::Awaiter;

  Frame* child = nullptr;
};

// Holds the part of a promise common to all coroutines.
struct Frame {
  Frame() {}  // NOLINT(modernize-use-equals-default): leaves out what is below
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  static void* operator new(size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* frame, size_t size) {
    FramePool::Free(frame, size);
  }

  std::coroutine_handle<> handle() {
    // Every coroutine promise derived from Frame starts with the Frame and is
    // aligned to at most the size of the two preceding pointers: see
    // `CheckLayout`.
    return std::coroutine_handle<Frame>::from_promise(*this);
  }

  template <class Promise>
  static constexpr void CheckLayout() {
    static_assert(alignof(Promise) <= 2 * sizeof(void*),
                  "a coroutine frame is aligned to 16 bytes: store a value of "
                  "larger alignment behind a pointer");
  }

  bool started() const { return root != nullptr; }
  // Returns whether the coroutine is suspended in an await.
  // REQUIRES: the frame is a root, and no poll is in progress.
  bool IsInAwait() const { return started() && leaf != nullptr; }

#ifdef ABSL_HAVE_EXCEPTIONS
  // Keeps the current exception. Must be called in a `catch`.
  void KeepException() noexcept { exception = std::current_exception(); }
  bool HasException() const { return exception != nullptr; }
#else
  void KeepException() noexcept {}
  bool HasException() const { return false; }
#endif

  // Resumes a suspended frame, until the frame suspends or finishes.
  void Resume() { handle().resume(); }

  // Returns the context of the poll that runs the frame.
  Context& context() { return *root->cx; }

  void Finish() { finished = true; }

  // Records the location of a `co_await`. Called at each `co_await`, before the
  // awaited object is polled.
  void AwaitAt(std::source_location place) { std::construct_at(&where, place); }

  void Destroy() { handle().destroy(); }

  // Few members are initialized at every call of a coroutine, because a child
  // that does not suspend lives for only about ten nanoseconds.

  // Frame that is polled for the whole chain; null before the first poll.
  Frame* root = nullptr;
  // Awaiter of the parent; null for a root. Set when the frame is started.
  ChildAwaiterBase* awaiter;

  // These three belong to a root, and are set when the root is started.
  Awaiter* leaf;
  Context* cx;                 // null except during a poll
  ChildAwaiterBase* to_start;  // the root's loop starts its child

  // Number of coroutines below this frame on the native stack, while the frame
  // runs.
  uint32_t depth;
  bool finished = false;
  // True for a coroutine of a lambda with captures.
  bool borrows_closure = false;
  // Location of the await in which the frame is suspended, if any.
  union {
    std::source_location where;
  };
#ifdef ABSL_HAVE_EXCEPTIONS
  // Exception that ended the frame or, while the frame is suspended in a leaf,
  // the exception thrown by a poll of the leaf.
  std::exception_ptr exception;
#endif
};

#ifdef ABSL_HAVE_EXCEPTIONS
// Rethrows the exception of `frame`. Out of line, because an inlined copy at a
// `co_await` costs the frame a word for the exception in flight.
[[noreturn]] void Rethrow(Frame& frame);
#endif

// Rethrows the exception that `frame` has kept, if any.
inline void RethrowFrom([[maybe_unused]] Frame& frame) {
#ifdef ABSL_HAVE_EXCEPTIONS
  if (frame.exception != nullptr) [[unlikely]] {
    Rethrow(frame);
  }
#endif
}

// Polls the chain of `root`. Returns true if the root has suspended outside any
// await: the root has finished, or is a generator that has yielded. Throws
// nothing except a panic: an exception from an awaited future goes to the frame
// that awaits the future.
bool PollChain(Frame& root, Context& cx);

// Adds to `trace` the awaits of a chain that is not being polled, and then the
// future for which the chain waits.
// REQUIRES: the chain is in an await.
void TraceChain(const Frame& root, AwaitTrace& trace);

// Destroys a chain that is not being polled, beginning with the deepest frame.
// Locals are destroyed in the reverse order of their construction, and the
// native stack stays flat.
void DestroyChain(Frame& root);

// Awaits a future that is not a coroutine. The future stays in place: a
// temporary lives in the frame until the end of the full expression.
template <Future F>
class [[nodiscard]] FutureAwaiter : public Awaiter {
 public:
  FutureAwaiter(Frame& frame, F& future)
      : Awaiter(frame, &kVTable), future_(future) {}

  bool await_ready() {
    return output_.FillBy([this] { return future_.Poll(parent->context()); });
  }

  void await_suspend(std::coroutine_handle<>) { parent->root->leaf = this; }

  FutureOutput<F> await_resume() {
    // Only a poll that threw leaves the slot empty.
    if (!output_.IsFull()) [[unlikely]]
      RethrowFrom(*parent);
    return output_.Take();
  }

 private:
  static bool PollAgain(Awaiter* awaiter, Context& cx) {
    FutureAwaiter* self = static_cast<FutureAwaiter*>(awaiter);
    ROUSE_TRY {
      return self->output_.FillBy(
          [self, &cx] { return self->future_.Poll(cx); });
    }
    ROUSE_CATCH_ALL { self->parent->KeepException(); }
    return true;
  }

  static void Trace(const Awaiter& awaiter, AwaitTrace& trace) {
    trace.Add(
        std::as_const(static_cast<const FutureAwaiter&>(awaiter).future_));
  }

  static constexpr AwaiterVTable kVTable = {&PollAgain, &Trace};

  F& future_;
  OutputSlot<FutureOutput<F>> output_;
};

// Awaits a child coroutine, and owns the child from then on.
template <class Promise>
class [[nodiscard]] ChildAwaiter : public ChildAwaiterBase {
 public:
  ChildAwaiter(Frame& frame, Promise& child)
      : ChildAwaiter(frame, child, nullptr) {}

  ~ChildAwaiter() {
    if (child != nullptr) child->Destroy();
  }

  bool await_ready() const { return false; }

  bool await_suspend(std::coroutine_handle<>) {
    Frame& root = *parent->root;
    child->root = &root;
    child->awaiter = this;
    child->depth = parent->depth + 1;
    if (child->depth > kMaxInlineDepth) [[unlikely]] {
      root.to_start = this;
      return true;
    }
    child->Resume();
    return !child->finished;
  }

  decltype(auto) await_resume() {
    // The child is destroyed as soon as its result has been taken, just as a
    // function's locals are destroyed by the time the function has returned.
    const std::unique_ptr<Frame, DestroyFrame> done(
        std::exchange(child, nullptr));
    return static_cast<Promise&>(*done).Take();
  }

 protected:
  ChildAwaiter(Frame& frame, Promise& child_promise,
               const AwaiterVTable* vtable)
      : ChildAwaiterBase(frame, vtable) {
    child = &child_promise;
  }

 private:
  struct DestroyFrame {
    void operator()(Frame* frame) const { frame->Destroy(); }
  };
};

// Ends a coroutine, whose owner then takes the result.
class FinalAwaiter {
 public:
  explicit FinalAwaiter(Frame& frame) { frame.Finish(); }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

// Holds the result of a coroutine, as a part of its promise.
template <class T>
class ResultSlot {
 public:
  template <class U = T>
    requires std::convertible_to<U&&, T>
  void return_value(U&& value) {
    result_.Emplace(std::forward<U>(value));
  }

 protected:
  OutputSlot<T> result_;
};

template <class T>
class ResultSlot<T&> {
 public:
  void return_value(T& value) { result_.Emplace(value); }

 protected:
  OutputSlot<T&> result_;
};

template <>
class ResultSlot<void> {
 public:
  void return_void() {}

 protected:
  // The only information is that the coroutine has finished.
  struct NoResult {
    void Take() const {}
  };
  [[no_unique_address]] NoResult result_;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_CO_CHAIN_H_
