// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_evented.h
// -----------------------------------------------------------------------------
//
// `PollEvented<T>` owns a `T` that has a descriptor, together with the
// descriptor's registration, and sees to it that the latter ends first:
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
#include "rouse/reactor/interest.h"
#include "rouse/reactor/registration.h"

namespace rouse::reactor {

// Whether a `T` has a descriptor, which it closes when it is destroyed.
template <class T>
concept HasFd = std::movable<T> && requires(const T& io) {
  { io.fd() } -> std::convertible_to<int>;
};

// PollEvented
//
// Thread-safe as `Registration` is, as far as `T` is. Movable.
template <HasFd T>
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
    absl::StatusOr<Registration> registration =
        Registration::Create(io.fd(), interest, handle);
    if (!registration.ok()) return std::move(registration).status();
    return PollEvented(std::move(io), *std::move(registration));
  }

  PollEvented(PollEvented&&) noexcept = default;
  PollEvented& operator=(PollEvented&& other) noexcept {
    // In this order: what was here is deregistered before it is closed.
    registration_ = std::move(other.registration_);
    io_ = std::move(other.io_);
    return *this;
  }
  ~PollEvented() = default;

  T& io() ABSL_ATTRIBUTE_LIFETIME_BOUND { return io_; }
  const T& io() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return io_; }

  const Registration& registration() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return registration_;
  }

  // Ends the registration and gives back what was registered.
  T IntoInner() && {
    registration_.Deregister().IgnoreError();
    return std::move(io_);
  }

 private:
  PollEvented(T io, Registration registration)
      : io_(std::move(io)), registration_(std::move(registration)) {}

  T io_;
  // Destroyed first.
  Registration registration_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_EVENTED_H_
