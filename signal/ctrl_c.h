// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ctrl_c.h
// -----------------------------------------------------------------------------
//
// `CtrlC()` waits until the user wants the program to end:
//
//   co_await Race(Serve(listener), CtrlC());

#ifndef ROUSE_SIGNAL_CTRL_C_H_
#define ROUSE_SIGNAL_CTRL_C_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/waiter.h"
#include "rouse/signal/signal.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// CtrlCFuture
//
// A future of `absl::Status`: an error of `Signal::Create()`, or Unavailable if
// the reactor has been shut down. Polling the future after it was ready is a
// `Panic()`. Can be moved until its first poll.
class [[nodiscard]] CtrlCFuture {
 public:
  PollResult<absl::Status> Poll(Context& cx);

 private:
  friend CtrlCFuture CtrlC(const reactor::Handle& handle);
  explicit CtrlCFuture(absl::StatusOr<Signal> interrupt)
      : interrupt_(std::move(interrupt)) {}

  absl::StatusOr<Signal> interrupt_;
  bool finished_ = false;
  reactor::Waiter waiter_;  // destroyed before the signal
};

// CtrlC()
//
// Waits for SIGINT, from the time of the call. As with every `Signal`, SIGINT
// no longer ends the program, now and later. A loop that should end at the
// second Ctrl-C must therefore wait a second time.
CtrlCFuture CtrlC(const reactor::Handle& handle = reactor::Handle());

}  // namespace rouse

#endif  // ROUSE_SIGNAL_CTRL_C_H_
