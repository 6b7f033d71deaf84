// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_timeout.h
// -----------------------------------------------------------------------------
//
// `StreamTimeout` limits the time for each item of a stream, and reports an
// error if the item has not come by then, in a program without a runtime:
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
// `StreamTimeoutAt()` limits the time of a whole stream. Items are converted as
// by the `StreamTimeout` of a runtime ("rouse/timer/stream_timeout.h").

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
// A stream. It polls `S` first: a ready item is given, however late. If time is
// up first, the stream gives `kDeadlineExceeded`, once for the item or as
// `AfterTimeout` says; `S` continues, and the item comes when ready. An error
// among the items of `S` is treated like any other item. The stream ends when
// `S` ends.
//
// If there is no timer, the stream gives `kUnavailable`, destroys `S`, and
// ends.
//
// # Time
//
// The time is measured as by a `Delay`. Time starts anew for each item, when
// `S` is found not to be ready. The time that the caller spends between two
// items therefore does not count, and a stream that always has an item needs no
// timer. An `S` that always uses up the task's budget does not keep time from
// being up.
//
// # Use
//
// A `StreamTimeout` can be moved whenever `S` can be moved. It is for a single
// thread at a time. Destroying it cancels `S` and the delay; destroying a
// `Next()` of it loses nothing, and time goes on. A `StreamTimeout` of an
// lvalue refers to the original stream instead, and cancels nothing but the
// delay: the stream can be used without the `StreamTimeout` afterwards.
//
// Costs one delay. It is made for the first item that the stream waits for, and
// reset for the others.
template <class S>
  requires Stream<std::remove_reference_t<S>>
class [[nodiscard]] StreamTimeout {
 public:
  // Either `absl::Status` or `absl::StatusOr<T>`.
  using Item =
      typename rouse::internal::TimedStream<S, internal::DelayTime>::Item;

  // Uses the `DefaultTimer()`.
  StreamTimeout(AnyDuration duration, S&& stream,
                AfterTimeout after = AfterTimeout::kWait)
      : timed_(std::forward<S>(stream),
               internal::DelayTime(std::nullopt, duration), after) {}
  // Uses the timer of `handle`.
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
// Returns a stream with one time limit for all items together: `deadline`, an
// instant of the timer's clock. From then on no item is given, not even a ready
// item. The stream gives `kDeadlineExceeded` once, destroys `S`, and ends. An
// item takes a unit of the task's budget; without budget the stream cannot tell
// whether time is up, and yields. Everything else is as for `StreamTimeout`,
// except that the first poll needs a timer.
template <class S>
  requires Stream<std::remove_reference_t<S>>
StreamTimeout<S> StreamTimeoutAt(TimerHandle handle, Instant deadline,
                                 S&& stream) {
  return StreamTimeout<S>(std::optional<TimerHandle>(std::move(handle)),
                          deadline, std::forward<S>(stream));
}
// Like `StreamTimeoutAt(handle, deadline, stream)`, but uses the
// `DefaultTimer()`.
template <class S>
  requires Stream<std::remove_reference_t<S>>
StreamTimeout<S> StreamTimeoutAt(Instant deadline, S&& stream) {
  return StreamTimeout<S>(std::optional<TimerHandle>(), deadline,
                          std::forward<S>(stream));
}

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_STREAM_TIMEOUT_H_
