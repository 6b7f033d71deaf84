// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: scan.h
// -----------------------------------------------------------------------------
//
// Makes a stream that changes the items of another stream with a state that is
// carried from item to item:
//
//   auto sums = std::move(numbers) | rouse::Scan(0, [](int& sum, int x) {
//     return std::optional<int>(sum += x);
//   });

#ifndef ROUSE_FUTURE_ADAPTERS_SCAN_H_
#define ROUSE_FUTURE_ADAPTERS_SCAN_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/adapters/optional_result.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ScanStream
//
// See `Scan()`.
template <class S, class T, class F>
class [[nodiscard]] ScanStream : public internal::EndingStream<S> {
 public:
  using Item =
      typename internal::OptionalResult<F&, T&, StreamItem<S>>::value_type;

  ScanStream(S&& stream, T state, F scan)
      : internal::EndingStream<S>(std::forward<S>(stream)),
        state_(std::move(state)),
        scan_(std::move(scan)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
    if (item.IsPending()) return kPending;
    if (!item->has_value()) return std::nullopt;
    std::optional<Item> result = std::invoke(scan_, state_, **std::move(item));
    if (!result.has_value()) this->End();
    return result;
  }

 private:
  T state_;
  F scan_;
};

// Scan()
//
// Returns a stream of the values in `scan(state, item)`, a `std::optional`, for
// each item of `stream`. `state` is `initial` for the first item, and is passed
// by reference, so that `scan` can change it. The stream ends when `scan`
// returns `std::nullopt`. The item is lost then. `scan` must not wait. An
// exception from `scan` propagates out of the poll. The item is lost, and the
// state stays as `scan` has left it.
template <Stream S, class T, class F>
  requires internal::ReturnsOptional<std::decay_t<F>&, std::decay_t<T>&,
                                     StreamItem<S>>
ScanStream<S, std::decay_t<T>, std::decay_t<F>> Scan(S&& stream, T&& initial,
                                                     F&& scan) {
  return ScanStream<S, std::decay_t<T>, std::decay_t<F>>(
      std::forward<S>(stream), std::forward<T>(initial), std::forward<F>(scan));
}

// Returns an adapter: `stream | Scan(initial, scan)` is
// `Scan(stream, initial, scan)`.
template <class T, class F>
auto Scan(T&& initial, F&& scan) {
  return StreamAdapter([initial = std::decay_t<T>(std::forward<T>(initial)),
                        scan = std::decay_t<F>(std::forward<F>(
                            scan))]<Stream S>(S&& stream) mutable {
    static_assert(
        internal::ReturnsOptional<std::decay_t<F>&, std::decay_t<T>&,
                                  StreamItem<S>>,
        "stream | Scan(initial, f): f must take a reference to the state "
        "and an item of the stream, and return a std::optional");
    return Scan(std::forward<S>(stream), std::move(initial), std::move(scan));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_SCAN_H_
