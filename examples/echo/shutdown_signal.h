// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting for the operator to end a server, by Ctrl-C or `kill`.

#ifndef ROUSE_EXAMPLES_ECHO_SHUTDOWN_SIGNAL_H_
#define ROUSE_EXAMPLES_ECHO_SHUTDOWN_SIGNAL_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::echo {

// SIGINT and SIGTERM, as something that can be read. Part 4 puts `Signal` into
// net/, which replaces this.
class ShutdownSignal {
 public:
  // Keeps both signals from ending the process: they are blocked in this thread
  // and those that it starts from now on. To be called first in `main()`.
  static absl::StatusOr<ShutdownSignal> Block();

  // Waits for one of them, on the current reactor. Once.
  Co<absl::Status> Wait() &&;

 private:
  explicit ShutdownSignal(OwnedFd fd) : fd_(std::move(fd)) {}

  OwnedFd fd_;
};

}  // namespace rouse::echo

#endif  // ROUSE_EXAMPLES_ECHO_SHUTDOWN_SIGNAL_H_
