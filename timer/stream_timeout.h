// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_timeout.h
// -----------------------------------------------------------------------------
//
// `StreamTimeout` limits the time for each item of a stream, and reports an
// error if the item has not come by then:
//
//   StreamTimeout timed(absl::Seconds(30), std::move(messages));
//   while (std::optional<absl::StatusOr<Message>> m = co_await Next(timed)) {
//     if (absl::IsDeadlineExceeded(m->status())) {
//       SendPing();
//       continue;
//     }
//     if (!m->ok()) co_return m->status();
//     Handle(**m);
//   }
//
// `StreamTimeoutAt()` limits the time of a whole stream:
//
//   // What comes within this second, and no more.
//   auto timed = StreamTimeoutAt(Now() + absl::Seconds(1), std::move(samples));
//
// The stream's items become statuses or `StatusOr`s, as a future's output does
// (timeout.h).

#ifndef ROUSE_TIMER_STREAM_TIMEOUT_H_
#define ROUSE_TIMER_STREAM_TIMEOUT_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/stream.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/poll_stream_timeout.h"  // IWYU pragma: export
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Waits for the timeout of a stream, see TimedStream.
class SleepTime {
 public:
  // Waits for `duration`, again and again.
  SleepTime(Sleep sleep, absl::Duration duration)
      : sleep_(std::move(sleep)), duration_(duration) {}
  // Waits once, as long as `sleep` does.
  explicit SleepTime(Sleep sleep) : sleep_(std::move(sleep)) {}

  void Start() {
    if (duration_.has_value()) sleep_->Reset(*duration_);
  }
  PollResult<absl::Status> Poll(Context& cx) {
    return sleep_->Poll(cx).Transform(
        [](SleepResult up) { return up.status(); });
  }
  void Stop() { sleep_.reset(); }

 private:
  std::optional<Sleep> sleep_;
  std::optional<absl::Duration> duration_;
};

}  // namespace internal

// StreamTimeout
//
// A stream. It polls `S` first: a ready item is given, however late. If time is
// up first, the stream gives `kDeadlineExceeded`, once for the item or as
// `AfterTimeout` says; `S` continues, and the item comes when ready. An error
// among the items of `S` is treated like any other item. The stream ends when
// `S` ends.
//
// If the driver has shut down, the stream gives `kUnavailable`, destroys `S`,
// and ends.
//
// # Time
//
// The time is measured as by a `Sleep`: on the clock of the current driver, and
// up to the driver's next tick. Time starts anew for each item, when `S` is
// found not to be ready. The time that the caller spends between two items
// therefore does not count, and a stream that always has an item never reads
// the clock. An `S` that always uses up the task's budget does not keep time
// from being up.
//
// # Use
//
// A `StreamTimeout` can be moved until it is first polled. It is for a single
// thread at a time. Destroying it cancels `S` and the sleep; destroying a
// `Next()` of it loses nothing, and time goes on. A `StreamTimeout` of an
// lvalue refers to the original stream instead, and cancels nothing but the
// sleep: the stream can be used without the `StreamTimeout` afterwards.
//
// Costs one sleep and at most one reset for each item: O(1), without
// allocations.
template <class S>
  requires Stream<std::remove_reference_t<S>>
class [[nodiscard]] StreamTimeout {
 public:
  // Either `absl::Status` or `absl::StatusOr<T>`.
  using Item = typename internal::TimedStream<S, internal::SleepTime>::Item;

  StreamTimeout(AnyDuration duration, S&& stream,
                AfterTimeout after = AfterTimeout::kWait)
      : timed_(std::forward<S>(stream),
               internal::SleepTime(Sleep(duration), duration), after) {}
  // Uses the driver of `handle`, regardless of the current driver.
  StreamTimeout(const wheel::Handle& handle, AnyDuration duration, S&& stream,
                AfterTimeout after = AfterTimeout::kWait)
      : timed_(std::forward<S>(stream),
               internal::SleepTime(Sleep(handle, duration), duration), after) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    return timed_.PollNext(cx);
  }
  void Trace(AwaitTrace& trace) const { trace.Add(timed_); }

 private:
  template <class T>
    requires Stream<std::remove_reference_t<T>>
  friend StreamTimeout<T> StreamTimeoutAt(Instant deadline, T&& stream);
  template <class T>
    requires Stream<std::remove_reference_t<T>>
  friend StreamTimeout<T> StreamTimeoutAt(const wheel::Handle& handle,
                                          Instant deadline, T&& stream);

  StreamTimeout(Sleep sleep, S&& stream)
      : timed_(std::forward<S>(stream), internal::SleepTime(std::move(sleep))) {
  }

  internal::TimedStream<S, internal::SleepTime> timed_;
};

template <class S>
StreamTimeout(AnyDuration, S&&) -> StreamTimeout<S>;
template <class S>
StreamTimeout(AnyDuration, S&&, AfterTimeout) -> StreamTimeout<S>;
template <class S>
StreamTimeout(wheel::Handle, AnyDuration, S&&) -> StreamTimeout<S>;
template <class S>
StreamTimeout(wheel::Handle, AnyDuration, S&&, AfterTimeout)
    -> StreamTimeout<S>;

// StreamTimeoutAt()
//
// Returns a stream with one time limit for all items together: `deadline`, an
// instant of the driver's clock. From then on no item is given, not even a
// ready item. The stream gives `kDeadlineExceeded` once, destroys `S`, and
// ends. An item takes a unit of the task's budget; without budget the stream
// cannot tell whether time is up, and yields. Everything else is as for
// `StreamTimeout`.
template <class S>
  requires Stream<std::remove_reference_t<S>>
StreamTimeout<S> StreamTimeoutAt(Instant deadline, S&& stream) {
  return StreamTimeout<S>(SleepUntil(deadline), std::forward<S>(stream));
}
// Like `StreamTimeoutAt(deadline, stream)`, but uses the driver of `handle`.
template <class S>
  requires Stream<std::remove_reference_t<S>>
StreamTimeout<S> StreamTimeoutAt(const wheel::Handle& handle, Instant deadline,
                                 S&& stream) {
  return StreamTimeout<S>(SleepUntil(handle, deadline),
                          std::forward<S>(stream));
}

}  // namespace rouse

#endif  // ROUSE_TIMER_STREAM_TIMEOUT_H_
