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
// loop starts the child.
//
// # Invariants, for a chain that is not being polled
//
// * Its root's `leaf` is null until the first poll, and from then on the
// awaiter
//   that the deepest frame is suspended in.
// * Each frame but the root has, as `awaiter`, the awaiter of its parent that
//   owns it.
// * Every frame is suspended. `finished` is set on none but, for the moment
//   before its owner takes the result, the root.

#ifndef ROUSE_FUTURE_CHAIN_H_
#define ROUSE_FUTURE_CHAIN_H_

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/frame_pool.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// How many coroutines run inside one another on the native stack, at the most.
// A level is a few hundred bytes, or a few thousand where nothing is optimized
// and a sanitizer instruments.
inline constexpr uint32_t kMaxInlineDepth = 32;

struct Frame;

// What a frame is suspended in. Lives in that frame.
struct Awaiter {
  // Called when what is awaited may be ready. False: still pending. True: the
  // frame goes on, unless the call has marked it as finished.
  using Ready = bool (*)(Awaiter*, Context&);

  Awaiter(Frame& parent, Ready ready) : parent(&parent), ready(ready) {}
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;

  Frame* const parent;
  // For a child: null where its parent just goes on when the child finishes.
  const Ready ready;
};

// An awaiter that owns a child frame.
struct ChildAwaiterBase : Awaiter {
  using Awaiter::Awaiter;

  Frame* child = nullptr;
};

// The part of a promise that is the same for all coroutines.
struct Frame {
  Frame() = default;
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

  // Resumes a suspended frame until it suspends or finishes.
  void Resume() { handle().resume(); }

  void Finish() { finished = true; }

  void Destroy() { handle().destroy(); }

  // The frame that is polled for the whole chain; null before the first poll.
  Frame* root = nullptr;
  // The awaiter of the parent; null for a root.
  ChildAwaiterBase* awaiter = nullptr;

  // Of a root:
  Awaiter* leaf = nullptr;
  Context* cx = nullptr;                 // during a poll
  ChildAwaiterBase* to_start = nullptr;  // whose child the root's loop starts

#ifdef ABSL_HAVE_EXCEPTIONS
  // What ended the frame; or, while it is suspended in a leaf, what that leaf
  // threw when it was polled.
  std::exception_ptr exception;
#endif
  bool finished = false;
};

// Rethrows what `frame` has kept, if anything.
inline void RethrowFrom([[maybe_unused]] Frame& frame) {
#ifdef ABSL_HAVE_EXCEPTIONS
  if (frame.exception != nullptr) [[unlikely]] {
    std::rethrow_exception(std::exchange(frame.exception, nullptr));
  }
#endif
}

// Polls the chain of `root`. True: the root has suspended outside any await
// (it has finished, or it is a generator that has yielded).
inline bool PollChain(Frame& root, Context& cx) {
  root.cx = &cx;
  root.root = &root;
  Frame* frame = &root;
  if (root.leaf != nullptr) {
    if (!root.leaf->ready(root.leaf, cx)) return false;
    frame = std::exchange(root.leaf, nullptr)->parent;
  }
  for (;;) {
    if (!frame->finished) frame->Resume();
    if (frame->finished) {
      ChildAwaiterBase* awaiter = frame->awaiter;
      if (awaiter == nullptr) return true;
      if (awaiter->ready != nullptr) awaiter->ready(awaiter, cx);
      frame = awaiter->parent;
      continue;
    }
    if (root.leaf != nullptr) return false;
    if (root.to_start == nullptr) return true;  // a generator's yield
    frame = std::exchange(root.to_start, nullptr)->child;
  }
}

// Destroys a chain that is not being polled, its deepest frame first: locals go
// in the reverse order of their making, and the native stack stays flat.
inline void DestroyChain(Frame& root) {
  if (root.leaf != nullptr) {
    Frame* frame = root.leaf->parent;
    while (frame != &root) {
      ChildAwaiterBase* awaiter = frame->awaiter;
      awaiter->child = nullptr;
      frame->Destroy();
      frame = awaiter->parent;
    }
  }
  root.Destroy();
}

// Awaits a future that is no coroutine. The future stays where it is: a
// temporary lives in the frame until the end of the full expression.
template <Future F>
class [[nodiscard]] FutureAwaiter : public Awaiter {
 public:
  FutureAwaiter(Frame& frame, F& future)
      : Awaiter(frame, &FutureAwaiter::PollAgain), future_(future) {}

  bool await_ready() {
    result_ = future_.Poll(*parent->root->cx);
    return result_.IsReady();
  }

  void await_suspend(std::coroutine_handle<>) { parent->root->leaf = this; }

  FutureOutput<F> await_resume() {
    if (result_.IsPending()) RethrowFrom(*parent);
    return std::move(result_).value();
  }

 private:
  static bool PollAgain(Awaiter* awaiter, Context& cx) {
    FutureAwaiter* self = static_cast<FutureAwaiter*>(awaiter);
    ROUSE_TRY { self->result_ = self->future_.Poll(cx); }
    ROUSE_CATCH_ALL {
#ifdef ABSL_HAVE_EXCEPTIONS
      self->parent->exception = std::current_exception();
#endif
      return true;
    }
    return self->result_.IsReady();
  }

  F& future_;
  PollResult<FutureOutput<F>> result_ = kPending;
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
    uint32_t& depth = root.cx->inline_depth();
    if (depth >= kMaxInlineDepth) [[unlikely]] {
      root.to_start = this;
      return true;
    }
    ++depth;
    child->Resume();
    --depth;
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
  ChildAwaiter(Frame& frame, Promise& child_promise, Ready ready)
      : ChildAwaiterBase(frame, ready) {
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
    value_.emplace(std::forward<U>(value));
  }

 protected:
  T TakeValue() { return *std::move(value_); }
  T* PeekValue() { return value_.has_value() ? &*value_ : nullptr; }

 private:
  std::optional<T> value_;
};

template <class T>
class ResultSlot<T&> {
 public:
  void return_value(T& value) { value_ = std::addressof(value); }

 protected:
  T& TakeValue() { return *value_; }
  T* PeekValue() { return value_; }

 private:
  T* value_ = nullptr;
};

template <>
class ResultSlot<void> {
 public:
  void return_void() {}

 protected:
  void TakeValue() {}
  void* PeekValue() { return nullptr; }
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_CHAIN_H_
