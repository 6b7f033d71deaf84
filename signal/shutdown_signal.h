// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shutdown_signal.h
// -----------------------------------------------------------------------------
//
// `ShutdownSignal()` waits until a server is asked to end, by Ctrl-C or by
// `kill`, as container and service managers do:
//
//   co_await OrReturn(Race(Accept(listener), ShutdownSignal()));
//   co_await FinishRequests();

#ifndef ROUSE_SIGNAL_SHUTDOWN_SIGNAL_H_
#define ROUSE_SIGNAL_SHUTDOWN_SIGNAL_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/waiter.h"
#include "rouse/signal/signal.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ShutdownSignalFuture
//
// A future of `absl::Status`: an error of `Signal::Create()`, or Unavailable if
// the reactor has been shut down. Polling the future after it was ready is a
// `Panic()`. Can be moved until its first poll.
class [[nodiscard]] ShutdownSignalFuture {
 public:
  PollResult<absl::Status> Poll(Context& cx);

 private:
  friend ShutdownSignalFuture ShutdownSignal(const reactor::Handle& handle);

  // A signal with the place of the task that waits for the signal.
  struct Awaited {
    explicit Awaited(absl::StatusOr<Signal> signal)
        : signal(std::move(signal)) {}

    PollResult<absl::Status> Poll(Context& cx);

    absl::StatusOr<Signal> signal;
    reactor::Waiter waiter;  // destroyed before the signal
  };

  ShutdownSignalFuture(absl::StatusOr<Signal> interrupt,
                       absl::StatusOr<Signal> terminate)
      : interrupt_(std::move(interrupt)), terminate_(std::move(terminate)) {}

  Awaited interrupt_;
  Awaited terminate_;
  bool finished_ = false;
};

// ShutdownSignal()
//
// Waits for SIGINT or SIGTERM, from the time of the call. As with every
// `Signal`, both signals no longer end the program, now and later. A program
// that should end at the second Ctrl-C must therefore wait a second time. Costs
// two descriptors while the future exists.
ShutdownSignalFuture ShutdownSignal(
    const reactor::Handle& handle = reactor::Handle());

}  // namespace rouse

#endif  // ROUSE_SIGNAL_SHUTDOWN_SIGNAL_H_
