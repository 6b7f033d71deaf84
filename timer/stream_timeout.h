// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_timeout.h
// -----------------------------------------------------------------------------
//
// `StreamTimeout` gives each item of a stream some time, and tells when it has
// not come by then:
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
// `StreamTimeoutAt()` is for the whole of a stream:
//
//   // What comes within this second, and no more.
//   auto timed = StreamTimeoutAt(Now() + absl::Seconds(1), std::move(samples));
//
// The stream's items become statuses or `StatusOr`s, as the output of a future
// does (timeout.h).

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

// How a stream's timeout waits, see TimedStream.
class SleepTime {
 public:
  // For a duration, again and again.
  SleepTime(Sleep sleep, absl::Duration duration)
      : sleep_(std::move(sleep)), duration_(duration) {}
  // Once, for what the sleep is for.
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
// A stream. It polls `S` first: an item that is there is given, however late it
// is. If time is up before, it gives `kDeadlineExceeded`, once for that item,
// or as `AfterTimeout` says; `S` goes on, and the item comes when it comes. An
// error that is an item of `S` is one like any other. At the end of `S` it
// ends, too.
//
// If the driver has gone it gives `kUnavailable`, destroys `S`, and ends.
//
// # Time
//
// It is that of a `Sleep`: on the clock of the current driver, to its next
// tick. It starts anew for each item, when `S` is found to be not ready: what
// the caller does between two items does not count, and a stream that always
// has an item costs no look at the clock. An `S` that always uses up the task's
// budget does not keep time from being up.
//
// # Use
//
// May be moved until it is first polled. It is for one thread at a time.
// Destroying it cancels `S` and the sleep; destroying a `Next()` of it loses
// nothing, and time goes on. Given an lvalue it refers to it instead, and
// cancels nothing but the sleep: the stream may go on without it.
//
// One sleep, which is reset at most once for each item: O(1), no allocation.
template <class S>
  requires Stream<std::remove_reference_t<S>>
class [[nodiscard]] StreamTimeout {
 public:
  // `absl::Status` or `absl::StatusOr<T>`.
  using Item = typename internal::TimedStream<S, internal::SleepTime>::Item;

  StreamTimeout(AnyDuration duration, S&& stream,
                AfterTimeout after = AfterTimeout::kWait)
      : timed_(std::forward<S>(stream),
               internal::SleepTime(Sleep(duration), duration), after) {}
  // With the driver of `handle`, whichever is current.
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
// One end for the whole stream, an instant of the driver's clock. From then on
// no item is given, also if it is there: `kDeadlineExceeded`, once, and the
// end. `S` is destroyed then. An item takes a unit of the task's budget; where
// there is none, nobody can tell whether time is up, and it yields. Everything
// else is as above.
template <class S>
  requires Stream<std::remove_reference_t<S>>
StreamTimeout<S> StreamTimeoutAt(Instant deadline, S&& stream) {
  return StreamTimeout<S>(SleepUntil(deadline), std::forward<S>(stream));
}
// With the driver of `handle`.
template <class S>
  requires Stream<std::remove_reference_t<S>>
StreamTimeout<S> StreamTimeoutAt(const wheel::Handle& handle, Instant deadline,
                                 S&& stream) {
  return StreamTimeout<S>(SleepUntil(handle, deadline),
                          std::forward<S>(stream));
}

}  // namespace rouse

#endif  // ROUSE_TIMER_STREAM_TIMEOUT_H_
