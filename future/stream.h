// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream.h
// -----------------------------------------------------------------------------
//
// A stream gives one item after another, each when it is there:
//
//   while (std::optional<Message> m = co_await rouse::Next(messages)) {
//     Handle(*m);
//   }
//
// A stream is anything that can be polled for its next item:
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
// The usual way to write one is a `Gen`, see gen.h.
//
// # The contract
//
// That of a future (future.h), with these differences:
//
// * `PollNext()` may be called again and again. It answers the next item, or
//   `std::nullopt` if the stream has ended.
// * From then on it answers `std::nullopt`, however often it is asked.
// * What waits is the stream. It keeps the waker of the last poll until it is
//   polled again or destroyed, also if who polled it has gone meanwhile.
//
// A stream that can tell who waits may take a place to wait, and name its type:
// `PollNext(Context& cx, Waiter* waiter = nullptr)`. Then `Next()` passes its
// own, and destroying that deregisters, as with any future. A `Waiter` can be
// made without arguments, and moved until it is used.
//
// # Adapters
//
// `Map`, `Filter`, `Take` and `Collect`, each in a header of its own, take a
// stream as a combinator takes a future: an rvalue is moved in, an lvalue is
// polled where it is and outlives the result.

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

// Whether `S`, or what `S` refers to, is a stream.
template <class S>
concept Stream = requires(S& stream, Context& cx) {
  requires internal::kIsPollResultOfOptional<decltype(stream.PollNext(cx))>;
};

// What a stream gives.
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
      Panic("Next: polled after it has finished; make a new one");
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
// A future of the next item of `stream`, or of `std::nullopt` at its end.
// Destroying it before it is ready takes nothing from the stream. May be moved
// until its first poll and, if the stream has no `Waiter`, at any time.
template <Stream S>
NextFuture<S> Next(S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return NextFuture<S>(stream);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAM_H_
