// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: waiter.h
// -----------------------------------------------------------------------------
//
// For those who write streams of bytes, and futures on them: how a future says
// where it waits.
//
// A stream that only one task at a time waits for keeps that task's waker
// itself, and needs nothing of this. One that lets several futures wait for the
// same direction, and lets each stop waiting when it is destroyed, names a type
// `Waiter` and takes a pointer to one behind the other parameters:
//
//   class TcpStream {
//    public:
//     using Waiter = reactor::Waiter;
//     PollResult<absl::StatusOr<size_t>> PollRead(
//         Context& cx, absl::Span<char> buffer,
//         Waiter* waiter = nullptr) const;
//
// The futures of this folder have an `IoWaiter<S>` as a member, and pass it on
// by the functions `PollRead(stream, cx, buffer, &waiter)` and so on of
// async_read.h and async_write.h.

#ifndef ROUSE_IO_WAITER_H_
#define ROUSE_IO_WAITER_H_

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
// What a future on an `S` waits with: `S::Waiter`, or an empty class. Can be
// made without arguments, and moved until it is used. It must not outlive the
// stream.
template <class S>
using IoWaiter = typename internal::WaiterOf<S>::Type;

}  // namespace rouse

#endif  // ROUSE_IO_WAITER_H_
