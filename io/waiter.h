// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: waiter.h
// -----------------------------------------------------------------------------
//
// For implementers of byte streams, and of futures on byte streams: how a
// future names its place to wait.
//
// If only a single task at a time waits for a stream, the stream keeps the
// task's waker itself, and needs nothing from here. Other streams let several
// futures wait for the same direction, and let each future stop waiting when
// the future is destroyed. Such a stream names a type `Waiter` and takes a
// pointer to a `Waiter` after the other parameters:
//
//   class TcpStream {
//    public:
//     using Waiter = reactor::Waiter;
//     PollResult<absl::StatusOr<size_t>> PollRead(
//         Context& cx, absl::Span<char> buffer,
//         Waiter* waiter = nullptr) const;
//
// The futures in io/ have an `IoWaiter<S>` as a member, and pass it on with the
// functions `PollRead(stream, cx, buffer, &waiter)` and so on of async_read.h
// and async_write.h.

#ifndef ROUSE_IO_WAITER_H_
#define ROUSE_IO_WAITER_H_

#include "rouse/base/cxx20.h"

#include <type_traits>

namespace rouse {

namespace internal {

class NoWaiter {};

template <class S>
struct WaiterOf {
  using Type = NoWaiter;
};

template <class S>
  requires requires { typename std::remove_cvref_t<S>::Waiter; }
struct WaiterOf<S> {
  using Type = typename std::remove_cvref_t<S>::Waiter;
};

}  // namespace internal

// IoWaiter
//
// The place to wait of a future on an `S`: `S::Waiter`, or an empty class. An
// `IoWaiter` is default-constructible, can be moved until used, and must not
// outlive the stream.
template <class S>
using IoWaiter = typename internal::WaiterOf<S>::Type;

}  // namespace rouse

#endif  // ROUSE_IO_WAITER_H_
