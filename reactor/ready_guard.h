// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ready_guard.h
// -----------------------------------------------------------------------------
//
// A `ReadyGuard` is the result of waiting for a descriptor (see async_fd.h). A
// guard says that an attempt is worthwhile, and obliges its owner to report a
// refused attempt.

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

namespace internal {
class AsyncIoBase;
}  // namespace internal

// ReadyGuard
//
// Represents one direction, or both, found ready. A direction stays ready until
// a refusal is reported: waiting again without a report spins. `TryIo()`
// reports a refusal itself. When other code makes the attempt, such as a
// library with its own reads and writes, and reports that the attempt would
// block, call `ClearReady()`.
//
// A report does not undo an event that came after the guard was made. Copyable;
// must not outlive the object that was waited for. Thread-safe.
class ReadyGuard {
 public:
  // Returns the states reported for the ready directions.
  Ready ready() const;

  // Report that an attempt was refused with EAGAIN, in all directions found
  // ready, or in one of them. The direction is not ready until the next event.
  void ClearReady() const;
  void ClearReady(Direction direction) const;

  // Does nothing. Documents in the calling code that no attempt was refused.
  void RetainReady() const {}

  // Makes one system call: `attempt()` makes the call and returns the result,
  // or -1 with `errno` if the call failed. An interrupted call is repeated.
  // Returns the result, or an error whose message begins with `call`. If the
  // call would block, calls `ClearReady()` and returns `std::nullopt`: wait
  // again.
  //
  // For a guard of both directions, pass the direction of the call. Otherwise a
  // refusal in one direction would also clear the other, which might get no
  // further event.
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
  friend std::optional<absl::StatusOr<ReadyGuard>> TryReady(
      const Registration& registration, Interest interest);

  explicit ReadyGuard(const Registration& registration)
      : registration_(&registration) {}

  const Registration* registration_;
  std::optional<ReadyEvent> events_[2];  // by direction; at least one is set
};

// TryReady()
//
// Returns a guard of the directions that `interest` names and that are ready,
// or `std::nullopt` if none is. Never waits. Errors are those of
// `Registration`.
std::optional<absl::StatusOr<ReadyGuard>> TryReady(
    const Registration& registration, Interest interest);

// ReadyFuture
//
// Waits until a direction that `interest` names is ready; out-of-band data
// counts as reading. Returns `absl::StatusOr<ReadyGuard>`, with the errors of
// `Registration`. Any number of tasks can wait for the same direction.
//
// Destroying the future takes nothing from other waiters. The future borrows
// the registration, allocates nothing, takes a unit of the task's budget, and
// can be moved until it is polled. Polling a finished future is a `Panic()`.
class [[nodiscard]] ReadyFuture {
 public:
  ReadyFuture(const Registration& registration, Interest interest)
      : registration_(&registration), interest_(interest) {}

  PollResult<absl::StatusOr<ReadyGuard>> Poll(Context& cx);

 private:
  friend class internal::AsyncIoBase;

  // Like `Poll()`, but can be polled again after it was ready.
  PollResult<absl::StatusOr<ReadyGuard>> PollGuard(Context& cx);

  const Registration* registration_;  // null when finished
  Interest interest_;
  Waiter waiters_[2];  // by direction
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_READY_GUARD_H_
