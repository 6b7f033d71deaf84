// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: chain.h
// -----------------------------------------------------------------------------
//
// How coroutines are polled. Internal to `Co` and `Gen`.
//
// Coroutines that await one another form a chain of frames: the root, which is
// polled from outside, its child, and so on to the frame that awaits a future
// which is no coroutine, the leaf.
//
//   root ──awaits──▶ child ──awaits──▶ child ──awaits──▶ leaf future
//
// Polling the root polls the leaf and nothing between. When the leaf is ready
// its frame is resumed; a frame that finishes gives way to its parent, in a
// loop. So a wake costs the same at any depth.
//
// A child is started by its parent inline, as a call. One that finishes without
// suspending returns into its parent, which never suspends. Past
// `kMaxInlineDepth` calls the native stack is unwound instead and the root's
// loop starts the child. A chain that is polled by a leaf of another, as in a
// `Join`, counts for itself.
//
// # Invariants, for a chain that is not being polled
//
// * Its root's `leaf` is the awaiter that the deepest frame is suspended in. It
//   is null before the first poll, and of a generator that has yielded.
// * Each frame but the root has, as `awaiter`, the awaiter of its parent that
//   owns it.
// * Every frame is suspended. `finished` is set on none but, for the moment
//   before its owner takes the result, the root.
// * `cx` of the root is null. While it is not, the chain may be neither polled
//   nor destroyed: what runs may be part of it.

#ifndef ROUSE_FUTURE_CO_CHAIN_H_
#define ROUSE_FUTURE_CO_CHAIN_H_

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

// How many coroutines run inside one another on the native stack, at the most.
// A level is a few hundred bytes, or a few thousand where nothing is optimized
// and a sanitizer instruments.
inline constexpr uint32_t kMaxInlineDepth = 32;

struct Frame;

struct Awaiter;

// What depends on the type of what is awaited.
struct AwaiterVTable {
  // Called when what is awaited may be ready. False: still pending. True: the
  // frame goes on, unless the call has marked it as finished.
  bool (*ready)(Awaiter*, Context&);
  // Says what is awaited. Null for a child, of which its frame tells.
  void (*trace)(const Awaiter&, AwaitTrace&);
};

// What a frame is suspended in. Lives in that frame.
struct Awaiter {
  Awaiter(Frame& parent, const AwaiterVTable* vtable)
      : parent(&parent), vtable(vtable) {}
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;

  Frame* const parent;
  // For a child: null where its parent just goes on when the child finishes.
  const AwaiterVTable* const vtable;
};

// An awaiter that owns a child frame.
struct ChildAwaiterBase : Awaiter {
  using Awaiter::Awaiter;

  Frame* child = nullptr;
};

// The part of a promise that is the same for all coroutines.
struct Frame {
  Frame() {}  // NOLINT(modernize-use-equals-default): leaves out what is below
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  static void* operator new(size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* frame, size_t size) {
    FramePool::Free(frame, size);
  }

  std::coroutine_handle<> handle() {
    // The promise of every coroutine that derives from Frame starts with it and
    // is aligned to no more than the two pointers before it: see `CheckLayout`.
    return std::coroutine_handle<Frame>::from_promise(*this);
  }

  template <class Promise>
  static constexpr void CheckLayout() {
    static_assert(alignof(Promise) <= 2 * sizeof(void*),
                  "a coroutine frame is aligned to 16 bytes: hold a value of "
                  "larger alignment through a pointer");
  }

  bool started() const { return root != nullptr; }
  // Of a root that is not being polled.
  bool IsInAwait() const { return started() && leaf != nullptr; }

#ifdef ABSL_HAVE_EXCEPTIONS
  // Called in a `catch`.
  void KeepException() noexcept { exception = std::current_exception(); }
  bool HasException() const { return exception != nullptr; }
#else
  void KeepException() noexcept {}
  bool HasException() const { return false; }
#endif

  // Resumes a suspended frame until it suspends or finishes.
  void Resume() { handle().resume(); }

  // The context of the poll in which this frame runs.
  Context& context() { return *root->cx; }

  void Finish() { finished = true; }

  // Told at each `co_await`, before what is awaited is polled.
  void AwaitAt(std::source_location place) { std::construct_at(&where, place); }

  void Destroy() { handle().destroy(); }

  // What every call of a coroutine initializes is kept small: a child that does
  // not suspend lives for some ten nanoseconds.

  // The frame that is polled for the whole chain; null before the first poll.
  Frame* root = nullptr;
  // The awaiter of the parent; null for a root. Set when the frame is started.
  ChildAwaiterBase* awaiter;

  // Of a root, set when it is started:
  Awaiter* leaf;
  Context* cx;                 // null but during a poll
  ChildAwaiterBase* to_start;  // whose child the root's loop starts

  // How many coroutines are on the native stack below this one, while it runs.
  uint32_t depth;
  bool finished = false;
  // Whether it is a coroutine of a lambda with captures.
  bool borrows_closure = false;
  // While it is suspended in an await: where that is.
  union {
    std::source_location where;
  };
#ifdef ABSL_HAVE_EXCEPTIONS
  // What ended the frame; or, while it is suspended in a leaf, what that leaf
  // threw when it was polled.
  std::exception_ptr exception;
#endif
};

#ifdef ABSL_HAVE_EXCEPTIONS
// Out of line: inlined at a `co_await`, it costs the frame a word, in which the
// exception is on its way.
[[noreturn]] void Rethrow(Frame& frame);
#endif

// Rethrows what `frame` has kept, if anything.
inline void RethrowFrom([[maybe_unused]] Frame& frame) {
#ifdef ABSL_HAVE_EXCEPTIONS
  if (frame.exception != nullptr) [[unlikely]] {
    Rethrow(frame);
  }
#endif
}

// Polls the chain of `root`. True: the root has suspended outside any await (it
// has finished, or it is a generator that has yielded). Throws nothing but a
// panic: what an awaited future throws goes to the frame that awaits it.
bool PollChain(Frame& root, Context& cx);

// Adds the awaits of a chain that is not being polled, and what it waits for.
// REQUIRES: it is in an await.
void TraceChain(const Frame& root, AwaitTrace& trace);

// Destroys a chain that is not being polled, its deepest frame first: locals go
// in the reverse order of their making, and the native stack stays flat.
void DestroyChain(Frame& root);

// Awaits a future that is no coroutine. The future stays where it is: a
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

// Awaits a child coroutine, which it owns from then on.
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
    // Destroyed as soon as its result is out, as a function's locals are gone
    // when it has returned.
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

// Ends a coroutine: its owner takes the result.
class FinalAwaiter {
 public:
  explicit FinalAwaiter(Frame& frame) { frame.Finish(); }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

// The result of a coroutine, in its promise.
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
  // That the coroutine has finished is all there is to know.
  struct NoResult {
    void Take() const {}
  };
  [[no_unique_address]] NoResult result_;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_CO_CHAIN_H_
