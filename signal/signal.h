// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: signal.h
// -----------------------------------------------------------------------------
//
// A `Signal` lets tasks wait for a signal of the operating system:
//
//   absl::StatusOr<Signal> hangup = Signal::Create(SignalKind::Hangup());
//   if (!hangup.ok()) co_return hangup.status();
//   for (;;) {
//     co_await OrReturn(hangup->Recv());
//     ReloadConfiguration();
//   }
//
// To wait for the user to end the program, use `CtrlC()` (ctrl_c.h).

#ifndef ROUSE_SIGNAL_SIGNAL_H_
#define ROUSE_SIGNAL_SIGNAL_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/signal/signal_kind.h"  // IWYU pragma: export
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// Signal
//
// Listens for a signal number. Any number of listeners can listen for the same
// number, even on several reactors: each listener is notified. Signals that
// arrive while no task waits are kept, but several signals may become one.
//
// The first listener of a number installs a handler, which stays as long as the
// process lives. The default action (such as terminating the program) stays
// disabled, even after the last listener is destroyed. A handler that the
// program had installed before is still called, in the same way as before: with
// the same signals blocked, interrupting system calls or not, and only once if
// it was to be called once (SA_RESETHAND). If the program later installs a
// handler that does not call the listeners' handler, the notifications end. A
// signal that is blocked in every thread is not delivered to any thread.
//
// Movable, except while a future of the `Signal` exists. Must be used by a
// single task at a time. Each `Signal` has a descriptor of its own.
class Signal {
 public:
  class RecvFuture;
  using Waiter = reactor::Waiter;

  // Return a `Signal` that listens from now on. Notifications come from
  // `handle`'s reactor or, if `handle` is unbound, from the reactor found by
  // `reactor::BindHandle()`.
  //
  //   InvalidArgument     The signal does not exist, or cannot be waited for:
  //                       SIGKILL, SIGSTOP, and the faults SIGSEGV, SIGBUS,
  //                       SIGILL, SIGFPE.
  //   ResourceExhausted   Descriptors ran out.
  //
  // The errors of `reactor::Registration::Create()` are also possible. On
  // failure no handler has been installed, and the signal's action is
  // unchanged.
  static absl::StatusOr<Signal> Create(
      int number, const reactor::Handle& handle = reactor::Handle());
  static absl::StatusOr<Signal> Create(
      SignalKind kind, const reactor::Handle& handle = reactor::Handle()) {
    return Create(kind.number(), handle);
  }

  Signal(Signal&&) noexcept = default;
  Signal& operator=(Signal&&) noexcept = default;
  ~Signal() = default;

  // Waits until a signal has arrived since the last result, or since
  // `Create()`. Returns a future of `absl::Status`. Takes a unit of the task's
  // budget.
  //
  // Cancellation: destroying the future loses no signal.
  //
  // Errors: Unavailable if the reactor has been shut down.
  RecvFuture Recv() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Waits like `Recv()`, for use in your own futures. Without a `waiter`, the
  // task that polled last is woken.
  PollResult<absl::Status> PollRecv(Context& cx,
                                    reactor::Waiter* waiter = nullptr);

  // Makes the listener a `Stream` of the number of the signal, with an item
  // when `Recv()` would be ready. Streams of several signals can thus be
  // merged. The stream ends when the reactor is shut down.
  PollResult<std::optional<int>> PollNext(Context& cx,
                                          Waiter* waiter = nullptr) {
    const PollResult<absl::Status> received = PollRecv(cx, waiter);
    if (received.IsPending()) return kPending;
    if (!received->ok()) return std::nullopt;
    return number_;
  }

  // Return the signal, such as SIGTERM.
  int number() const { return number_; }
  SignalKind kind() const { return SignalKind(number_); }

  // Formats the kind, for logs, such as "SIGTERM" or "signal 34".
  template <class Sink>
  friend void AbslStringify(Sink& sink, const Signal& signal) {
    sink.Append(signal.kind().ToString());
  }

 private:
  Signal(int number, uint64_t seen, reactor::AsyncFd<OwnedFd> event_fd)
      : number_(number), seen_(seen), event_fd_(std::move(event_fd)) {}

  int number_;
  uint64_t seen_;  // the count at the last result
  reactor::AsyncFd<OwnedFd> event_fd_;
};

// The type of `Recv()`'s future, for code that must name the type. Polling the
// future after it was ready is a `Panic()`. Can be moved until its first poll.
class [[nodiscard]] Signal::RecvFuture {
 public:
  PollResult<absl::Status> Poll(Context& cx);

 private:
  friend class Signal;
  explicit RecvFuture(Signal& signal) : signal_(&signal) {}

  Signal* signal_;  // null when finished
  reactor::Waiter waiter_;
};

}  // namespace rouse

#endif  // ROUSE_SIGNAL_SIGNAL_H_
