// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: registration.h
// -----------------------------------------------------------------------------
//
// A `Registration` connects a descriptor, or any `Source`, with a reactor. The
// registration knows whether an attempt is worthwhile, and wakes the waiting
// task when an attempt becomes worthwhile. Sockets are built on `Registration`;
// `PollEvented` adds ownership of the descriptor.
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
// Each direction is ready or not ready. An event makes a direction ready. The
// caller makes the direction not ready again when an attempt finds nothing more
// to do (`WouldBlock()`, `ClearReady()`; `PollIo()` calls both). Neither
// function undoes an event that came after the attempt. An error, and the end
// of the connection, make both directions ready.

#ifndef ROUSE_REACTOR_REGISTRATION_H_
#define ROUSE_REACTOR_REGISTRATION_H_

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/core.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/io_outcome.h"
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
// Says that a direction was found ready, and as of when.
class ReadyEvent {
 public:
  // Returns the direction that was found ready.
  Direction direction() const { return direction_; }

  // Returns the states reported for the direction.
  Ready ready() const {
    return Concerning(direction_, internal::ReadinessWord::ReadyOf(word_));
  }

  // Formats the event, for logs, such as "read: readable".
  template <class Sink>
  friend void AbslStringify(Sink& sink, const ReadyEvent& event) {
    AbslStringify(sink, event.direction_);
    sink.Append(": ");
    AbslStringify(sink, event.ready());
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
// Movable, but not while a task waits. Const members are thread-safe: one task
// can read while another task writes, and any number of tasks can wait for the
// same direction, each with its own `Waiter`.
//
// The registration does not own the descriptor, which must be closed after the
// registration has ended, not before: see `Registry::Deregister()`.
//
// # Errors
//
// All operations return Unavailable after the reactor has been shut down; the
// shutdown wakes pending waiters so that they return this error. Operations
// return FailedPrecondition if the registration was deregistered or moved from.
class Registration {
 public:
  // Registers `fd`, which should be non-blocking, with `handle`'s reactor or,
  // if `handle` is unbound, with the reactor that `BindHandle()` finds
  // (fallback.h).
  //
  //   FailedPrecondition   no reactor can be used here: see `BindHandle()`
  //   Unavailable          the reactor has been shut down
  //   ResourceExhausted    the reactor's limit of sources; or see `Registry`
  //
  // On failure nothing is left registered.
  static absl::StatusOr<Registration> Create(int fd, Interest interest,
                                             const Handle& handle = Handle());

  // Registers a `source` that consists of several descriptors, or whose
  // registration needs additional work (see source.h). An event of any of the
  // descriptors makes the directions that it concerns ready. Errors are those
  // of `Create(fd)`, and those of `source.Register()`.
  //
  // The registration does not refer to `source`. It must be ended by
  // `Deregister(source)`, with this source or the object to which the source
  // was moved.
  template <Source S>
  static absl::StatusOr<Registration> Create(S& source, Interest interest,
                                             const Handle& handle = Handle());

  Registration(Registration&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)),
        slot_(other.slot_),
        index_(other.index_),
        fd_(other.fd_) {}
  Registration& operator=(Registration&& other) noexcept;

  // Ends the registration, like `Deregister()`.
  ~Registration() {
    // This check is inlined for moved-from objects; it also avoids making an
    // error that would be ignored.
    if (core_ != nullptr) Deregister().IgnoreError();
  }

  // Ends the registration. Waiters are woken. Not thread-safe. Returns the
  // errors of `Registry::Deregister()`; the registration has ended even then.
  //
  // For a `Source` returns FailedPrecondition: only `Deregister(source)` can
  // reach the source, which therefore stays in the event queue until its
  // descriptors are closed. Its events reach nobody.
  absl::Status Deregister();

  // Ends the registration of `source`, like `Deregister()`.
  template <Source S>
  absl::Status Deregister(S& source);

  // Changes the kinds of reported events. A state that holds already is
  // reported again. Tasks continue to wait: a wait for a direction outside
  // `interest` ends when a later call adds the direction, or by an error or the
  // end of both directions. A ready direction stays ready until an attempt is
  // refused.
  //
  // Thread-safe. For a `Source` returns FailedPrecondition: only
  // `Reregister(source, interest)` can reach the source. Also returns the
  // errors of `Registry`. Costs a system call.
  absl::Status Reregister(Interest interest) const;

  // Changes the kinds of events of `source`, like `Reregister(interest)`. As
  // thread-safe as `source.Reregister()`.
  template <Source S>
  absl::Status Reregister(S& source, Interest interest) const;

  // Returns false if deregistered or moved from.
  bool IsRegistered() const { return core_ != nullptr; }

  // Returns the reactor's handle, or an unbound handle if deregistered.
  Handle handle() const;

  // Returns an event if `direction` is ready. Otherwise returns `kPending`, and
  // the direction's next event wakes the task.
  //
  // With a `waiter`, the task is woken as long as the waiter lives and is not
  // used for another wait. Without a `waiter`, each direction wakes one task,
  // the task of the latest call.
  PollResult<absl::StatusOr<ReadyEvent>> PollReady(
      Direction direction, Context& cx, Waiter* waiter = nullptr) const;

  // Returns an event if `direction` is ready, and `std::nullopt` otherwise.
  // Never waits, and changes no wait.
  std::optional<absl::StatusOr<ReadyEvent>> TryReady(Direction direction) const;

  // Reports that an attempt made after `event` was refused with EAGAIN: the
  // direction is not ready until its next event. Has no effect if the next
  // event has come since `event`.
  void WouldBlock(const ReadyEvent& event) const {
    slot_->Lower(event.direction_, event.word_, Ready());
  }

  // Reports that an attempt made after `event` did less than requested, so that
  // another attempt would most likely be refused. Like `WouldBlock()`, but has
  // no effect on a source that is closed, has had an error or has out-of-band
  // data, because no further event might come for such a source.
  void ClearReady(const ReadyEvent& event) const {
    slot_->Lower(
        event.direction_, event.word_,
        Concerning(event.direction_, Ready::kReadClosed | Ready::kWriteClosed |
                                         Ready::kPriority | Ready::kError));
  }

  // Makes one system call as soon as the call can be made without blocking.
  //
  // `attempt()` makes the call and returns the result, or -1 with `errno` if
  // the call failed. An interrupted call is repeated, and a call that would
  // block waits for readiness. Returns a non-negative result unchanged;
  // converts any other error with `on_error(errno)`.
  //
  // A result of at least 1 and less than `full` means that nothing more is
  // available for now, which saves the call that would find out; with 0 as
  // `full` no result has this meaning. A non-zero `full` is right for the bytes
  // of a TCP stream. It is wrong for calls that can return less than is
  // available, such as receiving a datagram, a read of a Unix socket, which
  // ends after bytes that came with descriptors, or a read of a pipe, whose
  // writer may have chosen packets.
  //
  // Takes a unit of the task's budget (see context.h) and, for a write whose
  // `full` is not 0, the units for as many bytes as the result says. Allocates
  // nothing, and takes no lock unless the call has to wait.
  template <class Attempt, class OnError>
  PollResult<absl::StatusOr<size_t>> PollIo(Direction direction, Context& cx,
                                            Waiter* waiter, size_t full,
                                            Attempt&& attempt,
                                            OnError&& on_error) const {
    const IoOutcome outcome = PollOutcome(direction, cx, waiter, full,
                                          [&attempt] { return attempt(); });
    if (outcome.IsCount()) return absl::StatusOr<size_t>(outcome.count());
    if (outcome.IsPending()) return kPending;
    return absl::StatusOr<size_t>(
        ErrorOf(outcome, std::forward<OnError>(on_error)));
  }

  // Like `PollIo()`, for sockets and pipes, which pass the outcome on through
  // several functions. `attempt` is copied, and should capture by value: the
  // usual case, which is inlined, then keeps everything in registers.
  template <class Attempt>
  IoOutcome PollOutcome(Direction direction, Context& cx, Waiter* waiter,
                        size_t full, Attempt attempt) const;

  // Returns the error of an outcome that is neither pending nor a count.
  template <class OnError>
  absl::Status ErrorOf(IoOutcome outcome, OnError&& on_error) const {
    const int error = outcome.error();
    return error != 0 ? std::forward<OnError>(on_error)(error)
                      : CannotBecomeReady();
  }

 private:
  Registration(internal::Core* core, internal::Slot* slot, uint32_t index,
               int fd)
      : core_(core), slot_(slot), index_(index), fd_(fd) {}

  // The value of `fd_` if the source is not a single descriptor.
  static constexpr int kNoFd = -1;

  using Attach =
      absl::FunctionRef<absl::Status(const Registry& registry, Token token)>;
  using Detach = absl::FunctionRef<absl::Status(const Registry& registry)>;

  static absl::StatusOr<Registration> CreateBy(Attach attach, int fd,
                                               const Handle& handle);
  absl::Status DeregisterBy(Detach detach);
  absl::Status ReregisterBy(Attach change) const;

  static bool IsReady(Direction direction, uint64_t word) {
    const uint64_t edge = internal::ReadinessWord::EdgeOf(direction);
    return (word & (edge | internal::ReadinessWord::kShutdown)) == edge;
  }
  // Does the rest of a `PollOutcome()` whose attempt, made after `event`, has
  // failed with `error`. EINTR means that the attempt must be made (again).
  template <class Attempt>
  ABSL_ATTRIBUTE_NOINLINE IoOutcome PollAfterError(Direction direction,
                                                   Context& cx, Waiter* waiter,
                                                   size_t full, Attempt attempt,
                                                   ReadyEvent event,
                                                   int error) const;
  // Ends a poll whose attempt, made after `event`, has returned `done`.
  IoOutcome Finish(Context& cx, const ReadyEvent& event, size_t full,
                   size_t done) const;

  static IoOutcome WithoutBudget(Context& cx);
  // Returns the readiness word, or 0 if `direction` is not ready and the task
  // now waits.
  uint64_t LoadOrWait(Direction direction, Context& cx, Waiter* waiter) const;

  // Takes a unit of the budget, because otherwise a task that retries in a loop
  // would never yield.
  static IoOutcome Unready(Context& cx);
  // Returns the reason why a wait is impossible.
  ABSL_ATTRIBUTE_COLD absl::Status CannotBecomeReady() const;

  internal::Core* core_;  // one reference, or null
  internal::Slot* slot_;
  uint32_t index_;  // index of the slot
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

template <Source S>
absl::Status Registration::Reregister(S& source, Interest interest) const {
  return ReregisterBy([&](const Registry& registry, Token token) {
    return source.Reregister(registry, token, interest);
  });
}

template <class Attempt>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline IoOutcome Registration::PollOutcome(
    Direction direction, Context& cx, Waiter* waiter, size_t full,
    Attempt attempt) const {
  if (ABSL_PREDICT_FALSE(!cx.HasBudget())) return WithoutBudget(cx);
  if (ABSL_PREDICT_FALSE(core_ == nullptr)) return Unready(cx);
  uint64_t word = slot_->Load();
  if (!IsReady(direction, word)) {
    word = slot_->Wait(direction, cx.waker(), waiter);
    if (ABSL_PREDICT_TRUE(word == 0)) return IoOutcome::Pending();
    if (!IsReady(direction, word)) return Unready(cx);
    return PollAfterError(direction, cx, waiter, full, attempt,
                          ReadyEvent(direction, word), EINTR);
  }
  const ReadyEvent event(direction, word);
  const ssize_t result = attempt();
  if (ABSL_PREDICT_FALSE(result < 0)) {
    return PollAfterError(direction, cx, waiter, full, attempt, event, errno);
  }
  return Finish(cx, event, full, static_cast<size_t>(result));
}

inline IoOutcome Registration::Finish(Context& cx, const ReadyEvent& event,
                                      size_t full, size_t done) const {
  // Shorter turns make writers over many sockets faster, but readers slower.
  const bool writes = event.direction_ == Direction::kWrite && full > 0;
  TakeUnitIfAny(cx, writes ? done : 0);
  if (done > 0 && done < full) ClearReady(event);
  return IoOutcome::Count(done);
}

template <class Attempt>
IoOutcome Registration::PollAfterError(Direction direction, Context& cx,
                                       Waiter* waiter, size_t full,
                                       Attempt attempt, ReadyEvent event,
                                       int error) const {
  for (;;) {
    if (error == EAGAIN || error == EWOULDBLOCK) {
      WouldBlock(event);
      if (core_ == nullptr) return Unready(cx);
      const uint64_t word = LoadOrWait(direction, cx, waiter);
      if (word == 0) return IoOutcome::Pending();
      if (!IsReady(direction, word)) return Unready(cx);
      event = ReadyEvent(direction, word);
    } else if (error != EINTR) {
      TakeUnitIfAny(cx);
      return IoOutcome::Failed(error);
    }
    const ssize_t result = attempt();
    if (result >= 0) {
      return Finish(cx, event, full, static_cast<size_t>(result));
    }
    error = errno;
  }
}

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_REGISTRATION_H_
