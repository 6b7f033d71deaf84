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
// # What a frame remembers
//
// A program can have a million suspended coroutines, so a frame has two words
// for everything that a chain needs. The first word depends on what the frame
// does:
//
//   the frame or its child runs         `run`, the poll that runs the frame
//   it is suspended in an await         `awaiter`
//   it has finished with an exception   `exception`
//   otherwise                           nothing that is read
//
// The second word, `link`, is a pointer with the state of the frame in the low
// bits. In a child, the pointer is the parent. In a root, it is one of these:
//
//   the chain waits      the frame that awaits the leaf
//   during a poll        `kPolled`
//   otherwise            null: the root is new, has finished, or is a generator
//                        that has yielded
//
// # Invariants of a chain that is not being polled
//
// * Every frame is suspended. `kFinished` is not set on any frame, except on
//   the root for the moment before the owner takes the result.
// * The root's link leads to the deepest frame, and the links of the other
//   frames lead from there to the root. The awaiter of each frame except the
//   deepest is the `ChildAwaiterBase` that owns the next deeper frame.
//
// During a poll the chain may be neither polled nor destroyed, because the code
// that is running may be part of the chain.

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
#include "absl/base/optimization.h"
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
  // Called when the object that the frame awaits may be ready. Returns false if
  // the object is still pending, and true otherwise. After true, the frame
  // continues, unless the call has marked the frame as finished.
  bool (*ready)(Awaiter*, Frame&, Context&);
  // Describes the awaited object. Null for a child, because the child's frame
  // describes the await.
  void (*trace)(const Awaiter&, AwaitTrace&);
};

// Rethrows `exception`, which becomes null. Out of line, because an inlined
// copy at a `co_await` costs the frame a word for the exception in flight.
[[noreturn]] void Rethrow(std::exception_ptr& exception);

// Represents the await in which a frame is suspended. Lives inside the frame.
struct Awaiter {
  // An awaiter of a future, which is polled before the frame suspends.
  Awaiter(Frame& frame, std::source_location where)
      : frame(&frame), where(where) {}
  // `vtable` is null for a child whose parent simply continues when the child
  // finishes.
  Awaiter(const AwaiterVTable* vtable, std::source_location where)
      : vtable(vtable), where(where) {}
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;
  ~Awaiter() {}  // NOLINT(modernize-use-equals-default): because of the union

  // Keeps the current exception, in place of the functions, until the frame is
  // resumed. Must be called in a `catch`.
  void KeepException() noexcept {
#ifdef ABSL_HAVE_EXCEPTIONS
    std::construct_at(&exception, std::current_exception());
#endif
  }
  // Rethrows the exception that the awaiter has kept.
  [[noreturn]] void RethrowKept() {
#ifdef ABSL_HAVE_EXCEPTIONS
    Rethrow(exception);
#else
    ABSL_UNREACHABLE();
#endif
  }

  union {
    Frame* frame;                 // of a future, until the frame suspends
    const AwaiterVTable* vtable;  // otherwise
#ifdef ABSL_HAVE_EXCEPTIONS
    std::exception_ptr exception;  // after `KeepException()`
#endif
  };
  // Location of the await.
  const std::source_location where;
};

// Represents the await of a child, and owns the child's frame.
struct ChildAwaiterBase : Awaiter {
  using Awaiter::Awaiter;

  Frame* child = nullptr;
};

// The part of a poll of a chain that the running frames use. Lives on the stack
// of `PollChain()`.
struct ChainRun {
  explicit ChainRun(Context& context) : cx(context) {}

  Context& cx;
  // The frame that awaits the leaf, when the chain has suspended in an await.
  Frame* waiting = nullptr;
  // The root's loop starts this frame.
  Frame* to_start = nullptr;
  // Number of coroutines below the running frame on the native stack.
  uint32_t depth = 0;
};

// Holds the part of a promise common to all coroutines.
struct Frame {
  Frame() {}  // NOLINT(modernize-use-equals-default): leaves out the first word
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() {
#ifdef ABSL_HAVE_EXCEPTIONS
    if (HasException()) [[unlikely]]
      std::destroy_at(&exception);
#endif
  }

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
  // Returns the frame of `handle`, which is a coroutine of Rouse.
  static Frame& Of(std::coroutine_handle<> handle) {
    return std::coroutine_handle<Frame>::from_address(handle.address())
        .promise();
  }

  template <class Promise>
  static constexpr void CheckLayout() {
    static_assert(alignof(Promise) <= 2 * sizeof(void*),
                  "a coroutine frame is aligned to 16 bytes: store a value of "
                  "larger alignment behind a pointer");
  }

  bool started() const { return (link & kPointer) != 0; }
  bool finished() const { return (link & kFinished) != 0; }
  // Returns whether this is a coroutine of a lambda with captures.
  bool borrows_closure() const { return (link & kBorrowsClosure) != 0; }
  // Returns whether the coroutine is suspended in an await.
  // REQUIRES: the frame is a root.
  bool IsInAwait() const { return (link & kPointer) > kPolled; }

  // Returns the pointer in `link`.
  Frame* linked() const { return reinterpret_cast<Frame*>(link & kPointer); }
  // Changes the pointer in `link`.
  void LinkTo(Frame* frame) {
    link = (link & ~kPointer) | reinterpret_cast<uintptr_t>(frame);
  }

#ifdef ABSL_HAVE_EXCEPTIONS
  // Keeps the current exception, which has ended the frame. Must be called in a
  // `catch`.
  void KeepException() noexcept {
    std::construct_at(&exception, std::current_exception());
    link |= kThrew;
  }
  bool HasException() const { return (link & kThrew) != 0; }
#else
  void KeepException() noexcept {}
  bool HasException() const { return false; }
#endif

  // Resumes a suspended frame, until the frame suspends or finishes.
  void Resume() { handle().resume(); }

  // Returns the context of the poll that runs the frame.
  Context& context() const { return run->cx; }

  // Notes that the frame is suspended in `place`, which awaits a future.
  void WaitIn(Awaiter& place, const AwaiterVTable& vtable) {
    place.vtable = &vtable;
    run->waiting = this;
    awaiter = &place;
  }

  void Finish() { link |= kFinished; }

  void Destroy() { handle().destroy(); }

  // Bits of `link`. They must fit into the alignment of a `Frame` and no more:
  // clang 20 can put a child's frame into the parent's, and then aligns the
  // child's frame only as its members need.
  static constexpr uintptr_t kFinished = 1;
  static constexpr uintptr_t kThrew = 2;
  static constexpr uintptr_t kBorrowsClosure = 4;
  static constexpr uintptr_t kPointer = ~uintptr_t{7};
  // A pointer that is not the address of a frame.
  static constexpr uintptr_t kPolled = 8;

  // See the top of the file. Only `link` is initialized at every call of a
  // coroutine, because a child that does not suspend lives for only about ten
  // nanoseconds.
  union {
    ChainRun* run;
    Awaiter* awaiter;
#ifdef ABSL_HAVE_EXCEPTIONS
    std::exception_ptr exception;
#endif
  };
  uintptr_t link = 0;
};
static_assert(sizeof(Frame) == 2 * sizeof(void*));
static_assert(alignof(Frame) > ~Frame::kPointer,
              "the bits of `link` must not overlap the address of a frame");

// Rethrows the exception that has ended `frame`, if any.
inline void RethrowFrom([[maybe_unused]] Frame& frame) {
#ifdef ABSL_HAVE_EXCEPTIONS
  if (frame.HasException()) [[unlikely]] {
    Rethrow(frame.exception);
  }
#endif
}

// Polls the chain of `root`. Returns true if the root has suspended outside any
// await: the root has finished, or is a generator that has yielded. Throws
// nothing except a panic: an exception from an awaited future goes to the frame
// that awaits the future.
bool PollChain(Frame& root, Context& cx);

// Continues the first poll of a chain when the root has returned without having
// finished.
bool ContinueStart(Frame& root, ChainRun& run);

// Does the first poll of a chain, like `PollChain()`, for a caller that has
// checked that the stack has room and destroys the root next if the root has
// finished. Inlined, because children of forks begin here.
inline bool StartChain(Frame& root, Context& cx) {
  // Like `LinkTo()`, because there is no pointer yet.
  root.link |= Frame::kPolled;
  ChainRun run(cx);
  root.run = &run;
  root.Resume();
  if (root.finished()) [[likely]]
    return true;
  return ContinueStart(root, run);
}

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
  FutureAwaiter(Frame& frame, F& future, std::source_location where)
      : Awaiter(frame, where), future_(future) {}

  bool await_ready() {
    return output_.FillBy([this] { return future_.Poll(frame->context()); });
  }

  void await_suspend(std::coroutine_handle<>) { frame->WaitIn(*this, kVTable); }

  FutureOutput<F> await_resume() {
    // The frame was resumed, but not because the future is ready.
    if (!output_.IsFull()) [[unlikely]]
      RethrowKept();
    return output_.Take();
  }

 private:
  static bool PollAgain(Awaiter* awaiter, Frame&, Context& cx) {
    FutureAwaiter* self = static_cast<FutureAwaiter*>(awaiter);
    ROUSE_TRY {
      return self->output_.FillBy(
          [self, &cx] { return self->future_.Poll(cx); });
    }
    ROUSE_CATCH_ALL { self->KeepException(); }
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
  ChildAwaiter(Promise& child, std::source_location where)
      : ChildAwaiter(child, where, nullptr) {}

  ~ChildAwaiter() {
    if (child != nullptr) child->Destroy();
  }

  bool await_ready() const { return false; }

  bool await_suspend(std::coroutine_handle<> handle) {
    Frame& parent = Frame::Of(handle);
    ChainRun& run = *parent.run;
    child->run = &run;
    child->link = reinterpret_cast<uintptr_t>(&parent);
    if (++run.depth > kMaxInlineDepth) [[unlikely]] {
      run.to_start = child;
    } else {
      child->Resume();
      --run.depth;
      if (child->finished()) return false;
    }
    parent.awaiter = this;
    return true;
  }

  decltype(auto) await_resume() {
    // The child is destroyed as soon as its result has been taken, just as a
    // function's locals are destroyed by the time the function has returned.
    const std::unique_ptr<Frame, DestroyFrame> done(
        std::exchange(child, nullptr));
    return static_cast<Promise&>(*done).Take();
  }

 protected:
  ChildAwaiter(Promise& child_promise, std::source_location where,
               const AwaiterVTable* vtable)
      : ChildAwaiterBase(vtable, where) {
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
