// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_timeout.h
// -----------------------------------------------------------------------------
//
// `StreamTimeout` gives each item of a stream some time, and tells when it has
// not come by then, in a program that has no runtime:
//
//   heap::StreamTimeout timed(absl::Seconds(30), std::move(messages));
//   while (std::optional<absl::StatusOr<Message>> m = BlockOn(Next(timed))) {
//     if (absl::IsDeadlineExceeded(m->status())) {
//       SendPing();
//       continue;
//     }
//     if (!m->ok()) return m->status();
//     Handle(**m);
//   }
//
// `StreamTimeoutAt()` is for the whole of a stream. Items become what they
// become with the `StreamTimeout` of a runtime
// ("rouse/timer/stream_timeout.h").

#ifndef ROUSE_TIMER_HEAP_STREAM_TIMEOUT_H_
#define ROUSE_TIMER_HEAP_STREAM_TIMEOUT_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/stream.h"
#include "rouse/timer/heap/delay_time.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/poll_stream_timeout.h"  // IWYU pragma: export
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::heap {

// StreamTimeout
//
// A stream. It polls `S` first: an item that is there is given, however late it
// is. If time is up before, it gives `kDeadlineExceeded`, once for that item,
// or as `AfterTimeout` says; `S` goes on, and the item comes when it comes. An
// error that is an item of `S` is one like any other. At the end of `S` it
// ends, too.
//
// If there is no timer it gives `kUnavailable`, destroys `S`, and ends.
//
// # Time
//
// It is that of a `Delay`. It starts anew for each item, when `S` is found to
// be not ready: what the caller does between two items does not count, and a
// stream that always has an item needs no timer. An `S` that always uses up the
// task's budget does not keep time from being up.
//
// # Use
//
// May be moved when `S` may. It is for one thread at a time. Destroying it
// cancels `S` and the delay; destroying a `Next()` of it loses nothing, and
// time goes on. Given an lvalue it refers to it instead, and cancels nothing
// but the delay: the stream may go on without it.
//
// One delay, which is made for the first item that is waited for, and reset for
// the others.
template <class S>
  requires Stream<std::remove_reference_t<S>>
class [[nodiscard]] StreamTimeout {
 public:
  // `absl::Status` or `absl::StatusOr<T>`.
  using Item =
      typename rouse::internal::TimedStream<S, internal::DelayTime>::Item;

  // With the `DefaultTimer()`.
  StreamTimeout(AnyDuration duration, S&& stream,
                AfterTimeout after = AfterTimeout::kWait)
      : timed_(std::forward<S>(stream),
               internal::DelayTime(std::nullopt, duration), after) {}
  // With the timer of `handle`.
  StreamTimeout(TimerHandle handle, AnyDuration duration, S&& stream,
                AfterTimeout after = AfterTimeout::kWait)
      : timed_(std::forward<S>(stream),
               internal::DelayTime(std::move(handle), duration), after) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    return timed_.PollNext(cx);
  }
  void Trace(AwaitTrace& trace) const { trace.Add(timed_); }

 private:
  template <class T>
    requires Stream<std::remove_reference_t<T>>
  friend StreamTimeout<T> StreamTimeoutAt(TimerHandle handle, Instant deadline,
                                          T&& stream);
  template <class T>
    requires Stream<std::remove_reference_t<T>>
  friend StreamTimeout<T> StreamTimeoutAt(Instant deadline, T&& stream);

  StreamTimeout(std::optional<TimerHandle> handle, Instant deadline, S&& stream)
      : timed_(std::forward<S>(stream),
               internal::DelayTime(std::move(handle), deadline)) {}

  rouse::internal::TimedStream<S, internal::DelayTime> timed_;
};

template <class S>
StreamTimeout(AnyDuration, S&&) -> StreamTimeout<S>;
template <class S>
StreamTimeout(AnyDuration, S&&, AfterTimeout) -> StreamTimeout<S>;
template <class S>
StreamTimeout(TimerHandle, AnyDuration, S&&) -> StreamTimeout<S>;
template <class S>
StreamTimeout(TimerHandle, AnyDuration, S&&, AfterTimeout) -> StreamTimeout<S>;

// StreamTimeoutAt()
//
// One end for the whole stream, an instant of the timer's clock. From then on
// no item is given, also if it is there: `kDeadlineExceeded`, once, and the
// end. `S` is destroyed then. An item takes a unit of the task's budget; where
// there is none, nobody can tell whether time is up, and it yields. Everything
// else is as above, but that the first poll needs a timer.
template <class S>
  requires Stream<std::remove_reference_t<S>>
StreamTimeout<S> StreamTimeoutAt(TimerHandle handle, Instant deadline,
                                 S&& stream) {
  return StreamTimeout<S>(std::optional<TimerHandle>(std::move(handle)),
                          deadline, std::forward<S>(stream));
}
// With the `DefaultTimer()`.
template <class S>
  requires Stream<std::remove_reference_t<S>>
StreamTimeout<S> StreamTimeoutAt(Instant deadline, S&& stream) {
  return StreamTimeout<S>(std::optional<TimerHandle>(), deadline,
                          std::forward<S>(stream));
}

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_STREAM_TIMEOUT_H_
