// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sink.h
// -----------------------------------------------------------------------------
//
// A sink takes one item after another. The senders of channels are sinks, and
// so is a `Framed`. `Forward()` (forward.h) sends a stream's items to a sink.
//
//   class Log {
//    public:
//     rouse::Co<absl::Status> Send(std::string line);
//   };
//   static_assert(rouse::Sink<Log, std::string>);

#ifndef ROUSE_FUTURE_STREAMS_SINK_H_
#define ROUSE_FUTURE_STREAMS_SINK_H_

#include <concepts>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "rouse/future/future.h"

namespace rouse {

namespace internal {

// Satisfied by the result of a send: an `absl::Status`, or an `absl::StatusOr`
// such as the number of receivers.
template <class T>
concept SendOutcome = requires(const std::remove_cvref_t<T>& outcome) {
  { outcome.ok() } -> std::same_as<bool>;
} && (std::convertible_to<T, absl::Status> || requires(const T& outcome) {
                        {
                          outcome.status()
                        } -> std::convertible_to<absl::Status>;
                      });

template <class T>
inline constexpr bool kSends = SendOutcome<T>;
template <Future T>
inline constexpr bool kSends<T> = SendOutcome<FutureOutput<T>>;

}  // namespace internal

// Sink
//
// Satisfied if `K`, or the type that `K` refers to, has a function `Send(item)`
// for an rvalue of type `T`. The function returns the outcome, an
// `absl::Status` or an `absl::StatusOr`, or a future of the outcome. If the
// outcome is an error, the sink takes no further items.
//
// A sink that returns an error at once should leave the item unchanged. The
// future of a sink should have a function `TakeValue()`, which stops the send
// and returns an item that was not sent. `Forward()` can then give the item
// back.
template <class K, class T>
concept Sink = requires(K& sink, T&& item) {
  sink.Send(std::forward<T>(item));
  requires internal::kSends<
      std::remove_cvref_t<decltype(sink.Send(std::forward<T>(item)))>>;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_SINK_H_
