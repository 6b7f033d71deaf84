// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_evented.h
// -----------------------------------------------------------------------------
//
// `PollEvented<T>` owns a `T` that has a descriptor, or is a `Source`, together
// with its registration, and ends the registration before the `T`:
//
//   absl::StatusOr<PollEvented<OwnedFd>> evented =
//       PollEvented<OwnedFd>::Create(std::move(fd), Interest::kReadable);

#ifndef ROUSE_REACTOR_POLL_EVENTED_H_
#define ROUSE_REACTOR_POLL_EVENTED_H_

#include <concepts>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/registration.h"

namespace rouse::reactor {

// Whether a `T` has a descriptor, which it closes when it is destroyed.
template <class T>
concept HasFd = std::movable<T> && requires(const T& io) {
  { io.fd() } -> std::convertible_to<int>;
};

// Whether `PollEvented` takes a `T`. One that has a descriptor and is a
// `Source` is registered as a `Source`. The registration of a `Source` goes
// with what it was moved to.
template <class T>
concept Evented = HasFd<T> || (std::movable<T> && Source<T>);

// PollEvented
//
// Thread-safe as `Registration` is, as far as `T` is. Movable.
template <Evented T>
class PollEvented {
 public:
  // Registers `io`. Errors as at `Registration::Create()`; `io` is destroyed
  // then.
  static absl::StatusOr<PollEvented> Create(T io, Interest interest,
                                            const Handle& handle = Handle()) {
    return TryCreate(std::move(io), interest, handle);
  }

  // The same, for who wants to go on with `io` where it cannot be registered:
  // on failure it is left as it was.
  static absl::StatusOr<PollEvented> TryCreate(
      T&& io, Interest interest, const Handle& handle = Handle()) {
    absl::StatusOr<Registration> registration = Register(io, interest, handle);
    if (!registration.ok()) return std::move(registration).status();
    return PollEvented(std::move(io), *std::move(registration));
  }

  PollEvented(PollEvented&&) noexcept = default;
  PollEvented& operator=(PollEvented&& other) noexcept {
    if (this == &other) return *this;
    // In this order: what was here is deregistered before it is closed.
    DeregisterSource();
    registration_ = std::move(other.registration_);
    io_ = std::move(other.io_);
    return *this;
  }
  ~PollEvented() { DeregisterSource(); }

  T& io() ABSL_ATTRIBUTE_LIFETIME_BOUND { return io_; }
  const T& io() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return io_; }

  const Registration& registration() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return registration_;
  }

  // Ends the registration and gives back what was registered.
  T IntoInner() && {
    DeregisterSource();
    registration_.Deregister().IgnoreError();
    return std::move(io_);
  }

 private:
  PollEvented(T io, Registration registration)
      : io_(std::move(io)), registration_(std::move(registration)) {}

  static absl::StatusOr<Registration> Register(T& io, Interest interest,
                                               const Handle& handle) {
    if constexpr (Source<T>) {
      return Registration::Create(io, interest, handle);
    } else {
      return Registration::Create(io.fd(), interest, handle);
    }
  }

  // The registration of one descriptor ends by itself.
  void DeregisterSource() {
    if constexpr (Source<T>) {
      if (!registration_.IsRegistered()) return;
      registration_.Deregister(io_).IgnoreError();
    }
  }

  T io_;
  // Destroyed first.
  Registration registration_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_EVENTED_H_
