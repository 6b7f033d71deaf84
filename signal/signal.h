// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: signal.h
// -----------------------------------------------------------------------------
//
// A `Signal` lets tasks wait for a signal of the operating system:
//
//   absl::StatusOr<Signal> hangup = Signal::Create(SIGHUP);
//   if (!hangup.ok()) co_return hangup.status();
//   for (;;) {
//     co_await OrReturn(hangup->Recv());
//     ReloadConfiguration();
//   }
//
// For the end of a program there is `CtrlC()` (ctrl_c.h).

#ifndef ROUSE_SIGNAL_SIGNAL_H_
#define ROUSE_SIGNAL_SIGNAL_H_

#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// Signal
//
// Listens to one number. Any number of listeners may listen to the same, on
// several reactors too: each is told. What comes while nobody waits is kept,
// but several signals may become one.
//
// The first listener of a number installs a handler for it, which stays for as
// long as the process lives: what the system does by default, such as ending
// the program, it does not do any more, also after the last listener has gone.
// A handler that the program had installed before is still called, and as it
// was: with the signals that it blocked, interrupting system calls or not, and
// if it was to be called once (SA_RESETHAND), once. One that the program
// installs later, and that does not call this one, ends the reports. A signal
// that is blocked in every thread is not delivered to any.
//
// Movable, but not while a future of it lives. For one task at a time. Each has
// a descriptor of its own.
class Signal {
 public:
  class RecvFuture;

  // Listens from now on. The signals are told by `handle`'s reactor or, if
  // unbound, the one that `reactor::BindHandle()` finds.
  //
  //   InvalidArgument     there is no such signal, or it is one that cannot be
  //                       waited for: SIGKILL, SIGSTOP, and the faults SIGSEGV,
  //                       SIGBUS, SIGILL, SIGFPE
  //   ResourceExhausted   out of descriptors
  //
  // and what is documented at `reactor::Registration::Create()`. On failure no
  // handler has been installed: the signal does what it did.
  static absl::StatusOr<Signal> Create(
      int number, const reactor::Handle& handle = reactor::Handle());

  Signal(Signal&&) noexcept = default;
  Signal& operator=(Signal&&) noexcept = default;
  ~Signal() = default;

  // Waits until a signal has come since the last time, or since `Create()`.
  // Gives `absl::Status`: Unavailable when the reactor has been shut down.
  // Destroying the future loses no signal. Takes a unit of the task's budget.
  RecvFuture Recv() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // The same for futures of your own. Without a `waiter` the task that polled
  // last is woken.
  PollResult<absl::Status> PollRecv(Context& cx,
                                    reactor::Waiter* waiter = nullptr);

  int number() const { return number_; }

 private:
  Signal(int number, uint64_t seen, reactor::AsyncFd<OwnedFd> doorbell)
      : number_(number), seen_(seen), doorbell_(std::move(doorbell)) {}

  int number_;
  uint64_t seen_;  // how many signals have been told
  reactor::AsyncFd<OwnedFd> doorbell_;
};

// For those who have to name it. Polling it when it is finished is a `Panic()`.
// May be moved until it is polled.
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
