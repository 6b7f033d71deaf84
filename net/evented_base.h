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

#include <utility>

#include "absl/status/statusor.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll_evented.h"
#include "rouse/reactor/waiter.h"

namespace rouse::internal {

// EventedBase
//
// The base class of an `S` that owns an `Io`, which is a `Socket` or a
// `PipeEnd`. `S` has a constructor that takes an `Evented`, and lets the
// `EventedBase` call the constructor.
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

 protected:
  using Evented = reactor::PollEvented<Io>;

  explicit EventedBase(Evented evented) : evented_(std::move(evented)) {}
  EventedBase(EventedBase&&) = default;
  EventedBase& operator=(EventedBase&&) = default;
  ~EventedBase() = default;

  // Makes an `S` of an `Io` that was just opened. Returns the error if `io` is
  // an error, and those of `reactor::Registration::Create()`.
  static absl::StatusOr<S> Register(absl::StatusOr<Io> io,
                                    reactor::Interest interest,
                                    const reactor::Handle& handle) {
    if (!io.ok()) return std::move(io).status();
    absl::StatusOr<Evented> evented =
        Evented::Create(*std::move(io), interest, handle);
    if (!evented.ok()) return std::move(evented).status();
    return S(*std::move(evented));
  }

  // Like `Register()`, for both ends of a connection.
  static absl::StatusOr<std::pair<S, S>> RegisterPair(
      absl::StatusOr<std::pair<Io, Io>> ios, reactor::Interest interest,
      const reactor::Handle& handle) {
    if (!ios.ok()) return std::move(ios).status();
    absl::StatusOr<S> first = Register(std::move(ios->first), interest, handle);
    if (!first.ok()) return std::move(first).status();
    absl::StatusOr<S> second =
        Register(std::move(ios->second), interest, handle);
    if (!second.ok()) return std::move(second).status();
    return std::pair(*std::move(first), *std::move(second));
  }

  const S& self() const { return static_cast<const S&>(*this); }
  const Evented& evented() const { return evented_; }
  const Io& io() const { return evented_.io(); }

  // Ends the registration.
  Io IntoIo() && { return std::move(evented_).IntoInner(); }

 private:
  Evented evented_;
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_EVENTED_BASE_H_
