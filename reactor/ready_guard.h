// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ready_guard.h
// -----------------------------------------------------------------------------
//
// A `ReadyGuard` is what waiting for a descriptor gives (see async_fd.h): that
// an attempt is worth making, and the duty to say how it went.

#ifndef ROUSE_REACTOR_READY_GUARD_H_
#define ROUSE_REACTOR_READY_GUARD_H_

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {

// ReadyGuard
//
// One direction, or both, were found ready. They stay so until it is said that
// they are not: whoever waits again without that spins. `TryIo()` says it by
// itself; who makes the attempt otherwise, such as a library that reads and
// writes on its own, calls `ClearReady()` when it was told to wait.
//
// An event that comes after the guard was made is not undone by it. Copyable;
// must not outlive what was waited for. Thread-safe.
class ReadyGuard {
 public:
  // What was reported of the directions that were found ready.
  Ready ready() const;

  // To say that an attempt was refused with EAGAIN, in all directions that were
  // found ready, or in one of them: not ready until the next event.
  void ClearReady() const;
  void ClearReady(Direction direction) const;

  // To say that there was no such refusal, where the code reads better so. Does
  // nothing.
  void RetainReady() const {}

  // Makes one system call: `attempt()` makes it and returns what it returns, -1
  // with `errno` if it failed. It is repeated if it was interrupted. Gives its
  // result, or its error, of which the message begins with `call`; or nothing
  // if it would block, after `ClearReady()`: wait again.
  //
  // A guard of both directions is to be told which of them the call is in: else
  // what refuses the one would clear the other, of which there may be no event.
  template <class Attempt>
  std::optional<absl::StatusOr<size_t>> TryIo(std::string_view call,
                                              Attempt&& attempt) const {
    return TryIo(std::nullopt, call, std::forward<Attempt>(attempt));
  }
  template <class Attempt>
  std::optional<absl::StatusOr<size_t>> TryIo(
      std::optional<Direction> direction, std::string_view call,
      Attempt&& attempt) const {
    ssize_t result;
    do {
      result = attempt();
    } while (result < 0 && errno == EINTR);
    if (result >= 0) return static_cast<size_t>(result);
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) {
      direction.has_value() ? ClearReady(*direction) : ClearReady();
      return std::nullopt;
    }
    return absl::ErrnoToStatus(error, call);
  }

 private:
  friend class ReadyFuture;

  explicit ReadyGuard(const Registration& registration)
      : registration_(&registration) {}

  const Registration* registration_;
  std::optional<ReadyEvent> events_[2];  // by direction; at least one
};

// ReadyFuture
//
// Waits until a direction that `interest` names is ready; out-of-band data
// counts as reading. Gives `absl::StatusOr<ReadyGuard>`, with the errors of
// `Registration`. Any number of tasks may wait for the same.
//
// Destroying it takes nothing from others who wait. It borrows the
// registration, allocates nothing, takes a unit of the task's budget, and may
// be moved until it is polled. Polling it when it has been ready is a
// `Panic()`.
class [[nodiscard]] ReadyFuture {
 public:
  ReadyFuture(const Registration& registration, Interest interest)
      : registration_(&registration), interest_(interest) {}

  PollResult<absl::StatusOr<ReadyGuard>> Poll(Context& cx);

 private:
  const Registration* registration_;  // null when finished
  Interest interest_;
  Waiter waiters_[2];  // by direction
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_READY_GUARD_H_
