// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: for_each_concurrent.h
// -----------------------------------------------------------------------------
//
// Calls a function for each item of a stream, and runs the resulting futures, a
// limited number at once:
//
//   co_await rouse::ForEachConcurrent(listener_stream, 100, &Serve);
//
//   absl::Status status = co_await rouse::TryForEachConcurrent(
//       rouse::Iter(std::move(files)), 8,
//       [&](File file) { return Upload(store, std::move(file)); });

#ifndef ROUSE_FUTURE_MANY_FOR_EACH_CONCURRENT_H_
#define ROUSE_FUTURE_MANY_FOR_EACH_CONCURRENT_H_

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/buffered.h"
#include "rouse/future/many/futures_unordered.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

template <class S, class F>
using ForEachCall =
    std::remove_cvref_t<std::invoke_result_t<std::decay_t<F>&, StreamItem<S>>>;

template <class S, class F>
using ForEachOutputs = BufferedStream<MapStream<S, std::decay_t<F>>,
                                      FuturesUnordered<ForEachCall<S, F>>>;

}  // namespace internal

// ForEachConcurrentFuture
//
// See `ForEachConcurrent()` and `TryForEachConcurrent()`. `Outputs` is a stream
// of the outputs of the calls. The output `T` is void or `absl::Status`.
template <class Outputs, class T>
class [[nodiscard]] ForEachConcurrentFuture {
 public:
  ForEachConcurrentFuture(Outputs outputs, const char* name)
      : outputs_(std::move(outputs)), name_(name) {}

  PollResult<T> Poll(Context& cx) {
    if (!outputs_.has_value()) {
      Panic(
          absl::StrCat(name_, " was polled after it completed; call it again"));
    }
    for (;;) {
      PollResult<std::optional<typename Outputs::Item>> output =
          outputs_->PollNext(cx);
      if (output.IsPending()) return kPending;
      if constexpr (std::is_void_v<T>) {
        if (output->has_value()) continue;
        outputs_.reset();
        return {};
      } else {
        if (output->has_value() && (*output)->ok()) continue;
        // Cancels the other calls.
        outputs_.reset();
        return output->has_value() ? **std::move(output) : absl::OkStatus();
      }
    }
  }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, name_);
    if (outputs_.has_value()) branches.Add(*outputs_);
  }

 private:
  std::optional<Outputs> outputs_;  // empty once finished
  const char* const name_;
};

// ForEachConcurrent()
//
// Calls `call(item)`, which returns a future, for each item of `stream`, and
// runs at most `limit` of these futures at once. Returns a future that is ready
// when the stream has ended and all futures are ready. Outputs are dropped.
// Panics if `limit` is 0.
//
// The futures run in one task. Destroying the result destroys them. An
// exception from a future or the stream propagates out of the poll, and the
// next poll continues with the other futures.
template <Stream S, class F>
  requires Future<internal::ForEachCall<S, F>>
ForEachConcurrentFuture<internal::ForEachOutputs<S, F>, void> ForEachConcurrent(
    S&& stream, size_t limit, F&& call) {
  return ForEachConcurrentFuture<internal::ForEachOutputs<S, F>, void>(
      internal::ForEachOutputs<S, F>(
          Map(std::forward<S>(stream), std::forward<F>(call)),
          internal::CheckedLimit(limit, "ForEachConcurrent"), "calls"),
      "ForEachConcurrent");
}

// Returns an adapter: `stream | ForEachConcurrent(limit, call)` is
// `ForEachConcurrent(stream, limit, call)`.
template <class F>
auto ForEachConcurrent(size_t limit, F&& call) {
  return StreamAdapter([limit, call = std::decay_t<F>(std::forward<F>(
                                   call))]<Stream S>(S&& stream) mutable {
    return ForEachConcurrent(std::forward<S>(stream), limit, std::move(call));
  });
}

// TryForEachConcurrent()
//
// Like `ForEachConcurrent()`, for futures of `absl::Status`. The output is the
// first error, which cancels the other futures by destroying them, or
// `absl::OkStatus()`.
template <Stream S, class F>
  requires std::same_as<FutureOutput<internal::ForEachCall<S, F>>, absl::Status>
ForEachConcurrentFuture<internal::ForEachOutputs<S, F>, absl::Status>
TryForEachConcurrent(S&& stream, size_t limit, F&& call) {
  return ForEachConcurrentFuture<internal::ForEachOutputs<S, F>, absl::Status>(
      internal::ForEachOutputs<S, F>(
          Map(std::forward<S>(stream), std::forward<F>(call)),
          internal::CheckedLimit(limit, "TryForEachConcurrent"), "calls"),
      "TryForEachConcurrent");
}

// Returns an adapter: `stream | TryForEachConcurrent(limit, call)` is
// `TryForEachConcurrent(stream, limit, call)`.
template <class F>
auto TryForEachConcurrent(size_t limit, F&& call) {
  return StreamAdapter([limit, call = std::decay_t<F>(std::forward<F>(
                                   call))]<Stream S>(S&& stream) mutable {
    return TryForEachConcurrent(std::forward<S>(stream), limit,
                                std::move(call));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_MANY_FOR_EACH_CONCURRENT_H_
