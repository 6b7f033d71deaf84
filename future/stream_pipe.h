// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_pipe.h
// -----------------------------------------------------------------------------
//
// Lets a chain of adapters read from left to right:
//
//   auto pages = rouse::Iter(std::move(urls)) | rouse::Map(&Fetch) |
//                rouse::BufferUnordered(8) | rouse::Take(10);
//
// Each function that takes a stream as its first argument, such as
// `Map(stream, f)`, has a form without the stream, `Map(f)`. This form returns
// a `StreamAdapter`, and `stream | Map(f)` is `Map(stream, f)`. Adapters are
// composed in the same way: `Map(f) | Take(3)` is an adapter, too.
//
// A function of your own takes part if it returns a `StreamAdapter`:
//
//   auto Squares() {
//     return rouse::StreamAdapter([]<class S>(S&& stream) {
//       return rouse::Map(std::forward<S>(stream),
//                         [](int x) { return x * x; });
//     });
//   }
//
// The header of each adapter includes this header.

#ifndef ROUSE_FUTURE_STREAM_PIPE_H_
#define ROUSE_FUTURE_STREAM_PIPE_H_

#include <type_traits>
#include <utility>

#include "rouse/future/stream.h"

namespace rouse {

// StreamAdapter
//
// Holds `apply`, a callable that takes a stream as a forwarding reference and
// returns another stream or a future. An rvalue stream is moved into the
// result. An lvalue is polled in place, and must outlive the result.
//
// An adapter is used up by `|`. An adapter that is a variable is copied, and
// can be used again; one that cannot be copied must be moved, as in
// `stream | std::move(adapter)`.
template <class Apply>
class [[nodiscard(
    "an adapter does nothing without a stream: write "
    "stream | adapter")]] StreamAdapter {
 public:
  explicit StreamAdapter(Apply apply) : apply_(std::move(apply)) {}

  // Applies the adapter to `stream`, as `stream | adapter` does.
  template <class S>
  auto operator()(S&& stream) && {
    return std::move(apply_)(std::forward<S>(stream));
  }

 private:
  Apply apply_;
};

namespace internal {
template <class T>
inline constexpr bool kIsStreamAdapter = false;
template <class Apply>
inline constexpr bool kIsStreamAdapter<StreamAdapter<Apply>> = true;
}  // namespace internal

// operator|()
//
// Returns the result of `adapter` for `stream`: a stream, or a future if the
// adapter is the end of a chain, such as `Collect()`.
template <class S, class Apply>
  requires(!internal::kIsStreamAdapter<std::remove_cvref_t<S>>)
auto operator|(S&& stream, StreamAdapter<Apply> adapter) {
  static_assert(Stream<S>,
                "the left side of | is not a stream: a stream has "
                "PollResult<std::optional<T>> PollNext(Context&); make a "
                "stream of a container with Iter(container)");
  if constexpr (Stream<S>) {
    return std::move(adapter)(std::forward<S>(stream));
  }
}

// Returns an adapter that applies `first` and then `second`.
template <class First, class Second>
auto operator|(StreamAdapter<First> first, StreamAdapter<Second> second) {
  return StreamAdapter(
      [first = std::move(first),
       second = std::move(second)]<class S>(S&& stream) mutable {
        return std::move(first)(std::forward<S>(stream)) | std::move(second);
      });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAM_PIPE_H_
