// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream.h
// -----------------------------------------------------------------------------
//
// A stream returns one item after another, each as soon as available:
//
//   while (std::optional<Message> m = co_await rouse::Next(messages)) {
//     Handle(*m);
//   }
//
// A stream is an object that can be polled for its next item:
//
//   class Countdown {
//    public:
//     explicit Countdown(int from) : left_(from) {}
//
//     rouse::PollResult<std::optional<int>> PollNext(rouse::Context& cx) {
//       if (left_ == 0) return std::nullopt;
//       return left_--;
//     }
//
//    private:
//     int left_;
//   };
//   static_assert(rouse::Stream<Countdown>);
//
// The usual way to write a stream is a `Gen`: see gen.h.
//
// # The contract
//
// The contract of a future (future.h) applies, with these differences:
//
// * `PollNext()` may be called again and again. Each ready poll returns the
//   next item, or `std::nullopt` if the stream has ended.
// * After the end, every further poll returns `std::nullopt`.
// * The waiter is the stream itself. The stream keeps the waker of the last
//   poll until the stream is polled again or destroyed, even if the poller has
//   been destroyed in the meantime.
//
// A stream that can distinguish waiters may define a type `Waiter` and declare
//
//   PollNext(Context& cx, Waiter* waiter = nullptr)
//
// `Next()` then passes a `Waiter` of its own. Destroying the `Waiter`
// deregisters it, as with any future. A `Waiter` must be default-constructible,
// and movable until its first use.
//
// # Adapters
//
// `Map`, `Filter`, `Take` and `Collect`, each in a header of its own, take a
// stream as a combinator takes a future. An rvalue is moved in. An lvalue is
// polled in place and must outlive the result. Without the stream they return
// adapters, which compose from left to right: see stream_pipe.h.

#ifndef ROUSE_FUTURE_STREAM_H_
#define ROUSE_FUTURE_STREAM_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
template <class T>
inline constexpr bool kIsPollResultOfOptional = false;
template <class T>
inline constexpr bool kIsPollResultOfOptional<PollResult<std::optional<T>>> =
    true;

struct NoNextWaiter {};
template <class S>
struct NextWaiterOf {
  using Type = NoNextWaiter;
};
template <class S>
  requires requires(S& stream, Context& cx, typename S::Waiter* waiter) {
    stream.PollNext(cx, waiter);
  }
struct NextWaiterOf<S> {
  using Type = typename S::Waiter;
};
}  // namespace internal

// Satisfied if `S`, or the type that `S` refers to, is a stream.
template <class S>
concept Stream = requires(S& stream, Context& cx) {
  requires internal::kIsPollResultOfOptional<decltype(stream.PollNext(cx))>;
};

// Names the type of a stream's items.
template <Stream S>
using StreamItem = typename decltype(std::declval<S&>().PollNext(
    std::declval<Context&>()))::value_type::value_type;

// NextFuture
//
// See `Next()`.
template <class S>
class [[nodiscard]] NextFuture {
 public:
  explicit NextFuture(S& stream) : stream_(&stream) {}

  PollResult<std::optional<StreamItem<S>>> Poll(Context& cx) {
    if (stream_ == nullptr) {
      Panic("Next was polled after it completed; call Next() again");
    }
    PollResult<std::optional<StreamItem<S>>> item = PollStream(cx);
    if (item.IsReady()) stream_ = nullptr;
    return item;
  }

  void Trace(AwaitTrace& trace) const {
    if (stream_ != nullptr) trace.Add(std::as_const(*stream_));
  }

 private:
  using Waiter = typename internal::NextWaiterOf<S>::Type;

  PollResult<std::optional<StreamItem<S>>> PollStream(Context& cx) {
    if constexpr (std::is_same_v<Waiter, internal::NoNextWaiter>) {
      return stream_->PollNext(cx);
    } else {
      return stream_->PollNext(cx, &waiter_);
    }
  }

  S* stream_;  // null once finished
  [[no_unique_address]] Waiter waiter_;
};

// Next()
//
// Returns a future of the next item of `stream`, or of `std::nullopt` at the
// end of the stream. Destroying the future before it is ready takes nothing
// from the stream. The future may be moved until its first poll or, if the
// stream has no `Waiter`, at any time.
template <Stream S>
NextFuture<S> Next(S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return NextFuture<S>(stream);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAM_H_
