// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: gen.h
// -----------------------------------------------------------------------------
//
// `Gen<T>` is a coroutine that yields many values. It is the usual way to write
// a stream:
//
//   rouse::Gen<std::string> Lines(TcpStream& stream) {
//     LineBuffer buffer;
//     for (;;) {
//       const absl::Status read = co_await buffer.ReadSome(stream);
//       if (!read.ok()) co_return;
//       while (std::optional<std::string> line = buffer.Next()) {
//         co_yield *std::move(line);
//       }
//     }
//   }
//
//   rouse::Gen<std::string> lines = Lines(stream);
//   while (std::optional<std::string> line = co_await rouse::Next(lines)) ...
//
// Inside a `Gen`, `co_await` takes the same operands as in a `Co`.
//
// # Errors
//
// A generator that can fail is a `Gen<absl::StatusOr<T>>`, with the error as
// the last item. `OrReturn(x)` (or_return.h) yields the error in `x` as the
// last item, and ends the generator:
//
//   rouse::Gen<absl::StatusOr<Row>> Rows(Cursor& cursor) {
//     while (!cursor.AtEnd()) {
//       co_yield co_await rouse::OrReturn(cursor.Fetch());
//     }
//   }
//
// The rules of co.h for lambdas, references and g++ 12 also apply here.

#ifndef ROUSE_FUTURE_CO_GEN_H_
#define ROUSE_FUTURE_CO_GEN_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/chain.h"
#include "rouse/future/co/co.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
template <class T>
class GenPromise;
}  // namespace internal

// Gen
//
// Owns a coroutine that is a `Stream`. A `Gen` is lazy: the body runs when the
// stream is polled, and pauses at a `co_yield` until the next poll. `T` must
// not be a reference, and may be move-only.
//
// Destroying a `Gen` at any point cancels it, as with a `Co`. The locals are
// destroyed as soon as the body has ended, or otherwise with the `Gen`.
//
// An exception that leaves the body propagates out of `PollNext()` and ends the
// stream. After the end, `PollNext()` continues to return `std::nullopt`.
//
// A `Gen` may be moved at any time, even between polls, but not inside its own
// poll. Polling a `Gen` that was moved from is a `Panic()`.
template <class T>
class [[nodiscard("a generator does nothing until it is polled")]]
ROUSE_CORO_RETURN_TYPE Gen {
  static_assert(std::is_object_v<T>,
                "Gen yields objects: yield pointers instead of references");

 public:
  using promise_type = internal::GenPromise<T>;

  Gen(Gen&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Gen& operator=(Gen&& other) noexcept {
    // The replaced coroutine is destroyed now, not when `other` is.
    Gen replaced(std::move(other));
    std::swap(frame_, replaced.frame_);
    return *this;
  }
  ~Gen() {
    if (frame_ != nullptr && frame_ != Ended()) {
      internal::DestroyChain(*frame_);
    }
  }

  // Runs the coroutine until it yields, ends or must wait.
  PollResult<std::optional<T>> PollNext(Context& cx) {
    if (frame_ == Ended()) return std::nullopt;
    if (frame_ == nullptr) [[unlikely]]
      PanicMovedFrom();
    if (!internal::PollChain(*frame_, cx)) return kPending;
    if (!frame_->finished()) return frame_->TakeYielded();
    const std::unique_ptr<promise_type, Destroy> done(
        std::exchange(frame_, Ended()));
    internal::RethrowFrom(*done);
    // The error of an `OrReturn()`, or the end.
    return done->TakeYielded();
  }

  // Adds to `trace` where the coroutine waits: see await_trace.h. A coroutine
  // that is paused at a `co_yield`, has not begun or has ended is a leaf.
  void Trace(AwaitTrace& trace) const {
    if (frame_ != nullptr && frame_ != Ended() && frame_->IsInAwait()) {
      internal::TraceChain(*frame_, trace);
    } else {
      trace.AddLeaf(internal::TypeName<Gen>());
    }
  }

 private:
  friend promise_type;

  struct Destroy {
    void operator()(promise_type* frame) const { frame->Destroy(); }
  };

  explicit Gen(promise_type& frame) : frame_(&frame) {}

  // Stands for a frame that finished and was destroyed.
  static promise_type* Ended() {
    return reinterpret_cast<promise_type*>(uintptr_t{1});
  }

  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMovedFrom() {
    Panic(
        "a Gen was polled after it was moved from; use the Gen that it was "
        "moved to");
  }

  promise_type* frame_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

namespace internal {

template <class T>
class GenPromise final : public CoAwaits<GenPromise<T>> {
 public:
  using Item = T;

  Gen<T> get_return_object() {
    Frame::CheckLayout<GenPromise>();
    return Gen<T>(*this);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() noexcept { return FinalAwaiter(*this); }

  void unhandled_exception() noexcept { this->KeepException(); }

  template <class U = T>
    requires std::convertible_to<U&&, T>
  std::suspend_always yield_value(U&& value) {
    yielded_.emplace(std::forward<U>(value));
    return {};
  }
  void return_void() {}

  // Makes the error of an `OrReturn()` the last item. Only before `Finish()`.
  template <class E>
    requires std::convertible_to<E&&, T>
  void YieldLast(E&& error) {
    yielded_.emplace(std::forward<E>(error));
  }

  // Returns what was yielded, or `std::nullopt` if nothing was.
  PollResult<std::optional<T>> TakeYielded() {
    PollResult<std::optional<T>> item(std::in_place, std::move(yielded_));
    yielded_.reset();
    return item;
  }

 private:
  std::optional<T> yielded_;
};

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_CO_GEN_H_
