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
// Gives `absl::Status`: an error is that of `Signal::Create()`, or Unavailable
// when the reactor has been shut down. Polling it when it is finished is a
// `Panic()`. May be moved until it is polled.
class [[nodiscard]] CtrlCFuture {
 public:
  PollResult<absl::Status> Poll(Context& cx);

 private:
  friend CtrlCFuture CtrlC(const reactor::Handle& handle);
  explicit CtrlCFuture(absl::StatusOr<Signal> interrupt)
      : interrupt_(std::move(interrupt)) {}

  absl::StatusOr<Signal> interrupt_;
  bool finished_ = false;
  reactor::Waiter waiter_;  // gone before the signal is
};

// CtrlC()
//
// Waits for SIGINT, from this call on. As with every `Signal`, the program is
// not ended by it any more, now and later: a loop that wants to end at the
// second Ctrl-C waits a second time.
CtrlCFuture CtrlC(const reactor::Handle& handle = reactor::Handle());

}  // namespace rouse

#endif  // ROUSE_SIGNAL_CTRL_C_H_
