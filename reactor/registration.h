// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: registration.h
// -----------------------------------------------------------------------------
//
// A `Registration` connects a descriptor, or any `Source`, with a reactor: it
// knows whether it is worth an attempt, and wakes the task that waits for it to
// be.
// It is what sockets are made of; `PollEvented` adds the ownership of the
// descriptor.
//
//   PollResult<absl::StatusOr<size_t>> PollReceive(Context& cx,
//                                                  absl::Span<char> buffer) {
//     return registration_.PollIo(
//         Direction::kRead, cx, &waiter_, buffer.size(),
//         [&] { return recv(fd_, buffer.data(), buffer.size(), 0); },
//         [&](int error) { return absl::ErrnoToStatus(error, "recv"); });
//   }
//
// # Readiness is edge-triggered
//
// Each direction is ready or not. An event makes it ready; what makes it not
// ready again is the caller, who finds out by attempting (`WouldBlock()`,
// `ClearReady()`; `PollIo()` does both). Neither undoes an event that came
// after the attempt. An error, and the end of the connection, make both
// directions ready.

#ifndef ROUSE_REACTOR_REGISTRATION_H_
#define ROUSE_REACTOR_REGISTRATION_H_

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/core.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/readiness_word.h"
#include "rouse/reactor/slot/slot.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {

// ReadyEvent
//
// That a direction was found ready, and as of when.
class ReadyEvent {
 public:
  Direction direction() const { return direction_; }

  // What has been reported of the direction.
  Ready ready() const {
    return Concerning(direction_, internal::ReadinessWord::ReadyOf(word_));
  }

 private:
  friend class Registration;

  ReadyEvent(Direction direction, uint64_t word)
      : word_(word), direction_(direction) {}

  uint64_t word_;
  Direction direction_;
};

// Registration
//
// Movable; moving it is not for while somebody waits. Its const members are
// thread-safe: one task may read while another writes, and any number of tasks
// may wait for the same direction, each with its own `Waiter`.
//
// The descriptor is somebody else's. It is closed after the registration has
// ended, not before: see `Registry::Deregister()`.
//
// # Errors
//
// Everything answers Unavailable once the reactor has been shut down, and those
// that wait then are woken to hear it. FailedPrecondition: deregistered, or
// moved from.
class Registration {
 public:
  // Registers `fd`, which should be non-blocking, with `handle`'s reactor or,
  // if unbound, the one that `BindHandle()` finds (fallback.h).
  //
  //   FailedPrecondition   there is to be none here
  //   Unavailable          the reactor has been shut down
  //   ResourceExhausted    it has its limit of sources; or see `Registry`
  //
  // On failure nothing is left registered.
  static absl::StatusOr<Registration> Create(int fd, Interest interest,
                                             const Handle& handle = Handle());

  // Registers a `source` that is made of several descriptors, or needs work of
  // its own to be registered (see source.h). An event of any of its descriptors
  // makes the direction that it concerns ready. Errors as above, and those of
  // `source.Register()`.
  //
  // The registration does not refer to `source`: it is ended by
  // `Deregister(source)`, with this source or what it was moved to.
  template <Source S>
  static absl::StatusOr<Registration> Create(S& source, Interest interest,
                                             const Handle& handle = Handle());

  Registration(Registration&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)),
        slot_(other.slot_),
        index_(other.index_),
        fd_(other.fd_) {}
  Registration& operator=(Registration&& other) noexcept;

  // As `Deregister()`.
  ~Registration() {
    // Inlined for one that was moved from, which has no error to make either.
    if (core_ != nullptr) Deregister().IgnoreError();
  }

  // Ends the registration. Whoever still waits is woken. Not thread-safe.
  // Answers the errors of `Registry::Deregister()`, after which the
  // registration has ended all the same.
  //
  // One of a `Source` answers FailedPrecondition: the source, which only
  // `Deregister(source)` can reach, stays in the event queue until its
  // descriptors are closed. Its events reach nobody.
  absl::Status Deregister();

  // Ends the registration of `source`, as above.
  template <Source S>
  absl::Status Deregister(S& source);

  // False if deregistered or moved from.
  bool IsRegistered() const { return core_ != nullptr; }

  // The reactor's handle. Unbound if deregistered.
  Handle handle() const;

  // Whether `direction` is ready; if not, its next event wakes the task.
  //
  // With a `waiter`, the task is woken as long as the waiter lives and is not
  // used for something else. Without one, each direction wakes one task, that
  // of the latest call.
  PollResult<absl::StatusOr<ReadyEvent>> PollReady(
      Direction direction, Context& cx, Waiter* waiter = nullptr) const;

  // To say that an attempt made after `event` was refused with EAGAIN: the
  // direction is not ready until its next event. No effect if that has come
  // since `event`.
  void WouldBlock(const ReadyEvent& event) const {
    slot_->Lower(event.direction_, event.word_, Ready());
  }

  // To say that an attempt made after `event` did less than it was asked to, so
  // that another would most likely be refused. As `WouldBlock()`, but no effect
  // on a source that is closed, has had an error or has out-of-band data, of
  // which there might be no other event.
  void ClearReady(const ReadyEvent& event) const {
    slot_->Lower(
        event.direction_, event.word_,
        Concerning(event.direction_, Ready::kReadClosed | Ready::kWriteClosed |
                                         Ready::kPriority | Ready::kError));
  }

  // Makes one system call as soon as it can be made without blocking.
  //
  // `attempt()` makes the call and returns what it returns, -1 with `errno` if
  // it failed. It is repeated if it was interrupted, and waits for readiness if
  // it would block. Its result is passed on if it is 0 or more; any other error
  // is, as what `on_error(errno)` makes of it.
  //
  // A result of at least 1 and less than `full` says that there is no more for
  // now, which saves the call that would find out; 0 as `full` never says it.
  // Right for the bytes of a TCP stream; wrong for calls that return less than
  // there is, such as receiving a datagram, a read of a Unix socket, which ends
  // behind bytes that came with descriptors, or of a pipe, whose writer may
  // have chosen packets.
  //
  // Takes a unit of the task's budget (see context.h) and, for a write whose
  // `full` is not 0, those for as many bytes as the result says. No allocation,
  // and no lock unless it has to wait.
  template <class Attempt, class OnError>
  PollResult<absl::StatusOr<size_t>> PollIo(Direction direction, Context& cx,
                                            Waiter* waiter, size_t full,
                                            Attempt&& attempt,
                                            OnError&& on_error) const;

 private:
  Registration(internal::Core* core, internal::Slot* slot, uint32_t index,
               int fd)
      : core_(core), slot_(slot), index_(index), fd_(fd) {}

  // What `fd_` is where the source is not one descriptor.
  static constexpr int kNoFd = -1;

  using Attach =
      absl::FunctionRef<absl::Status(const Registry& registry, Token token)>;
  using Detach = absl::FunctionRef<absl::Status(const Registry& registry)>;

  static absl::StatusOr<Registration> CreateBy(Attach attach, int fd,
                                               const Handle& handle);
  absl::Status DeregisterBy(Detach detach);

  static bool IsReady(Direction direction, uint64_t word) {
    const uint64_t edge = internal::ReadinessWord::EdgeOf(direction);
    return (word & (edge | internal::ReadinessWord::kShutdown)) == edge;
  }
  // The readiness word if `direction` is ready, else 0.
  uint64_t WordIfReady(Direction direction) const {
    if (core_ == nullptr) return 0;
    const uint64_t word = slot_->Load();
    return IsReady(direction, word) ? word : 0;
  }
  // As `Slot::Wait()`; false also if there is nothing to wait for.
  bool Wait(Direction direction, Context& cx, Waiter* waiter,
            uint64_t& word) const {
    return core_ != nullptr && slot_->Wait(direction, cx.waker(), waiter, word);
  }
  // Why there is nothing to wait for.
  absl::Status CannotBecomeReady() const;

  internal::Core* core_;  // one reference, or null
  internal::Slot* slot_;
  uint32_t index_;  // of the slot
  int fd_;          // or kNoFd
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <Source S>
absl::StatusOr<Registration> Registration::Create(S& source, Interest interest,
                                                  const Handle& handle) {
  return CreateBy(
      [&](const Registry& registry, Token token) {
        return source.Register(registry, token, interest);
      },
      kNoFd, handle);
}

template <Source S>
absl::Status Registration::Deregister(S& source) {
  return DeregisterBy([&source](const Registry& registry) {
    return source.Deregister(registry);
  });
}

template <class Attempt, class OnError>
PollResult<absl::StatusOr<size_t>> Registration::PollIo(
    Direction direction, Context& cx, Waiter* waiter, size_t full,
    Attempt&& attempt, OnError&& on_error) const {
  using Result = absl::StatusOr<size_t>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  for (;;) {
    uint64_t word = WordIfReady(direction);
    if (word == 0) {
      if (Wait(direction, cx, waiter, word)) return kPending;
      if (!IsReady(direction, word)) {
        // Else whoever tries again and again would never yield.
        unit->MadeProgress();
        return Result(CannotBecomeReady());
      }
    }
    const ReadyEvent event(direction, word);
    ssize_t result;
    do {
      result = attempt();
    } while (result < 0 && errno == EINTR);
    if (result >= 0) {
      const auto done = static_cast<size_t>(result);
      if (done > 0 && done < full) ClearReady(event);
      // Shorter turns make writers over many sockets faster, readers slower.
      const bool writes = direction == Direction::kWrite && full > 0;
      unit->MadeProgress(writes ? done : 0);
      return Result(done);
    }
    const int error = errno;
    if (error != EAGAIN && error != EWOULDBLOCK) {
      unit->MadeProgress();
      return Result(std::forward<OnError>(on_error)(error));
    }
    WouldBlock(event);
  }
}

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_REGISTRATION_H_
