// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_evented.h
// -----------------------------------------------------------------------------
//
// `PollEvented<T>` owns a `T` that has a descriptor, or is a `Source`, together
// with its registration. The registration ends before the `T` is destroyed:
//
//   absl::StatusOr<PollEvented<OwnedFd>> evented =
//       PollEvented<OwnedFd>::Create(std::move(fd), Interest::kReadable);

#ifndef ROUSE_REACTOR_POLL_EVENTED_H_
#define ROUSE_REACTOR_POLL_EVENTED_H_

#include <concepts>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/registration.h"

namespace rouse::reactor {

// Requires that a `T` has a descriptor, and closes the descriptor on
// destruction.
template <class T>
concept HasFd = std::movable<T> && requires(const T& io) {
  { io.fd() } -> std::convertible_to<int>;
};

// Requires that `PollEvented` can hold a `T`. A `T` with both a descriptor and
// the functions of a `Source` is registered as a `Source`. When a `Source` is
// moved, its registration belongs to the new object.
template <class T>
concept Evented = HasFd<T> || (std::movable<T> && Source<T>);

// PollEvented
//
// As thread-safe as `Registration` and `T` are. Movable.
template <Evented T>
class PollEvented {
 public:
  // Registers `io`. Errors are those of `Registration::Create()`; `io` is
  // destroyed on failure.
  static absl::StatusOr<PollEvented> Create(T io, Interest interest,
                                            const Handle& handle = Handle()) {
    return TryCreate(std::move(io), interest, handle);
  }

  // Like `Create()`, but leaves `io` unchanged on failure, for callers that can
  // use an unregistered `io`.
  static absl::StatusOr<PollEvented> TryCreate(
      T&& io, Interest interest, const Handle& handle = Handle()) {
    absl::StatusOr<Registration> registration = Register(io, interest, handle);
    if (!registration.ok()) return std::move(registration).status();
    return PollEvented(std::move(io), *std::move(registration));
  }

  PollEvented(PollEvented&&) noexcept = default;
  PollEvented& operator=(PollEvented&& other) noexcept {
    if (this == &other) return *this;
    // The order matters: the old `T` is deregistered before its descriptor is
    // closed.
    DeregisterSource();
    registration_ = std::move(other.registration_);
    io_ = std::move(other.io_);
    return *this;
  }
  ~PollEvented() { DeregisterSource(); }

  // Returns the `T`. The caller must not close or replace its descriptor.
  T& io() ABSL_ATTRIBUTE_LIFETIME_BOUND { return io_; }
  const T& io() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return io_; }

  // Returns the registration, through which the descriptor is awaited.
  const Registration& registration() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return registration_;
  }

  // Changes the kinds of reported events: see
  // `Registration::Reregister()`. Tasks can wait meanwhile. Not thread-safe.
  absl::Status Reregister(Interest interest) {
    if constexpr (Source<T>) {
      return registration_.Reregister(io_, interest);
    } else {
      return registration_.Reregister(interest);
    }
  }

  // Ends the registration and returns the `T`.
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

  // Only a `Source` needs this: for a single descriptor, `Registration` itself
  // ends the registration.
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
