// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: evented_base.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: the members that all sockets and pipes have.

#ifndef ROUSE_NET_EVENTED_BASE_H_
#define ROUSE_NET_EVENTED_BASE_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/async_io.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll_evented.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

// Panics for a `call` with an interest in the wrong direction. `reads` says
// which direction is the right one.
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicDoesNotWork(std::string_view call,
                                                       bool reads);

// EventedBase
//
// The base class of an `S` that owns an `Io`, which is a `Socket` or a
// `PipeEnd`. `S` has a constructor that takes an `Evented`, and lets the
// `EventedBase` call the constructor. `S::kInterest` says which kinds of events
// an `S` is registered for.
//
// # Readiness
//
// `Readable()`, `Writable()` and `Ready()` wait without a buffer, so that many
// idle connections need no memory to read into:
//
//   for (;;) {
//     co_await rouse::OrReturn(stream.Readable());
//     std::string buffer(4096, '\0');
//     std::optional<absl::StatusOr<size_t>> size =
//         stream.TryRead(absl::MakeSpan(buffer));
//     if (!size.has_value()) continue;
//     ...
//   }
//
// The members whose names begin with `Try` do the same as the members without
// `Try`, but do not wait. They return `std::nullopt` if the operation would
// have to wait; `absl::StatusCode::kUnavailable` would not say so, because an
// error of the network has the same code. They make no system call unless the
// reactor has reported that the direction is ready. An object that has just
// been made is not ready yet, so wait first.
//
// Readiness is a hint. An object can be found ready although the operation
// would have to wait, for example because another task was faster. The object
// then ceases to be ready until the next event. Any number of tasks can wait
// for a direction: all are woken, and one of them gets the available data.
template <class S, class Io>
class EventedBase {
 public:
  // Represents a waiting future in the list of waiters; see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // Returns the descriptor, which this object continues to own.
  int fd() const { return io().fd(); }

  // Releases the descriptor, which stays non-blocking. A listening socket
  // continues to listen.
  OwnedFd IntoFd() && { return std::move(*this).IntoIo().IntoFd(); }

  // Wait until an attempt to read or accept, to write, or to do either, is
  // worthwhile. The futures return `absl::StatusOr<reactor::ReadyGuard>`; the
  // guard says what was reported, such as the end of the stream. The object
  // stays ready until an attempt of the object, of `TryIo()` or of the guard is
  // refused: waiting again without an attempt spins.
  //
  // `Ready()` panics if `interest` names no direction in which the object
  // works: a listener and a `PipeReader` only read, and a `PipeWriter` only
  // writes.
  //
  // Cancellation: destroying a future loses nothing. Errors are those of
  // `reactor::Registration`. A future allocates nothing, and takes a unit of
  // the task's budget.
  reactor::ReadyFuture Readable() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires(S::kInterest.IsReadable())
  {
    return reactor::ReadyFuture(evented_.registration(),
                                reactor::Interest::kReadable);
  }
  reactor::ReadyFuture Writable() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires(S::kInterest.IsWritable())
  {
    return reactor::ReadyFuture(evented_.registration(),
                                reactor::Interest::kWritable);
  }
  reactor::ReadyFuture Ready(reactor::Interest interest) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    CheckWorks(interest, "Ready()");
    return reactor::ReadyFuture(evented_.registration(), interest);
  }

  // Makes a system call of the caller's own, such as recvmsg(2), now. Returns
  // `std::optional<absl::StatusOr<size_t>>`, as described at
  // `reactor::TryIo()`: `std::nullopt` if the direction is not ready, without a
  // call of `attempt()`, or if the call would block.
  //
  // `attempt()` makes the call on `fd()`, and returns the result, or -1 with
  // `errno`. `call` begins the message of an error. Panics like `Ready()`.
  template <class Attempt>
  std::optional<absl::StatusOr<size_t>> TryIo(reactor::Interest interest,
                                              std::string_view call,
                                              Attempt&& attempt) const {
    CheckWorks(interest, "TryIo()");
    return reactor::TryIo(evented_.registration(), interest, call,
                          std::forward<Attempt>(attempt));
  }

  // Like `TryIo()`, but waits until the call can be made without blocking.
  // Returns a future of `absl::StatusOr<size_t>`, see `AsyncIoFuture`. `call`
  // must outlive the future.
  template <class Attempt>
  reactor::AsyncIoFuture<Attempt> AsyncIo(
      reactor::Interest interest, std::string_view call,
      Attempt attempt) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    CheckWorks(interest, "AsyncIo()");
    return reactor::AsyncIoFuture<Attempt>(evented_.registration(), interest,
                                           call, std::move(attempt));
  }

  // Returns the error that is pending on a socket, such as an ICMP error on a
  // `UdpSocket`, and clears it (SO_ERROR). Returns OK if none is pending. A
  // call that would have returned the error then no longer does. The message
  // begins with "pending error of" and the socket's address.
  absl::Status TakeError() const
    requires requires(const Io& io) { io.TakeError(); }
  {
    const int error = io().TakeError();
    if (error == 0) return absl::OkStatus();
    return io().ErrorAtLocal(error, "pending error of");
  }

 protected:
  using Evented = reactor::PollEvented<Io>;

  explicit EventedBase(Evented evented) : evented_(std::move(evented)) {}
  EventedBase(EventedBase&&) = default;
  EventedBase& operator=(EventedBase&&) = default;
  ~EventedBase() = default;

  // Makes an `S` of an `Io` that was just opened. Returns the error if `io` is
  // an error, and those of `reactor::Registration::Create()`.
  static absl::StatusOr<S> Register(absl::StatusOr<Io> io,
                                    const reactor::Handle& handle) {
    if (!io.ok()) return std::move(io).status();
    absl::StatusOr<Evented> evented =
        Evented::Create(*std::move(io), S::kInterest, handle);
    if (!evented.ok()) return std::move(evented).status();
    return S(*std::move(evented));
  }

  // Like `Register()`, for both ends of a connection.
  static absl::StatusOr<std::pair<S, S>> RegisterPair(
      absl::StatusOr<std::pair<Io, Io>> ios, const reactor::Handle& handle) {
    if (!ios.ok()) return std::move(ios).status();
    absl::StatusOr<S> first = Register(std::move(ios->first), handle);
    if (!first.ok()) return std::move(first).status();
    absl::StatusOr<S> second = Register(std::move(ios->second), handle);
    if (!second.ok()) return std::move(second).status();
    return std::pair(*std::move(first), *std::move(second));
  }

  const S& self() const { return static_cast<const S&>(*this); }
  const Evented& evented() const { return evented_; }
  const Io& io() const { return evented_.io(); }

  // Makes an attempt now: returns the result of `poll(cx, waiter)`, or
  // `std::nullopt` if the poll is pending. The wait of the poll ends here, so
  // the poll leaves the waits of tasks unchanged.
  template <class Poll>
  static auto TryNow(Poll poll) {
    using Result = std::remove_cvref_t<decltype(*poll(
        std::declval<Context&>(), std::declval<Waiter*>()))>;
    const Waker noop = Waker::Noop();
    Waiter waiter;
    Context cx(noop);
    auto result = poll(cx, &waiter);
    if (result.IsPending()) return std::optional<Result>();
    return std::optional<Result>(*std::move(result));
  }

  // Ends the registration.
  Io IntoIo() && { return std::move(evented_).IntoInner(); }

 private:
  static void CheckWorks(reactor::Interest interest, std::string_view call) {
    constexpr reactor::Interest kWorksIn = S::kInterest;
    if (kWorksIn.IsReadable() &&
        (interest.IsReadable() || interest.IsPriority())) {
      return;
    }
    if (kWorksIn.IsWritable() && interest.IsWritable()) return;
    PanicDoesNotWork(call, kWorksIn.IsReadable());
  }

  Evented evented_;
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_EVENTED_BASE_H_
