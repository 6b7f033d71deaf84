// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pidfd.h
// -----------------------------------------------------------------------------
//
// Internal to process/: signals and waits by a descriptor of the process
// (pidfd_open(2)). A process id would not be safe, because it may belong to
// another process after other code has waited for the child.

#ifndef ROUSE_PROCESS_PIDFD_H_
#define ROUSE_PROCESS_PIDFD_H_

#include "rouse/base/cxx20.h"

#include <sys/types.h>

namespace rouse::internal {

// Sends a signal to the process of `pidfd`. Returns 0; or -1 and sets `errno`,
// to ESRCH if other code has waited for the process.
int SendSignalTo(int pidfd, int number);

// Waits for the child `pid`, whose descriptor is `pidfd`, without blocking, and
// sets `raw` to the status of waitpid(2). Returns 0; or -1 and sets `errno`, to
// EAGAIN if the child has not ended, and to ECHILD if other code has waited for
// the child. Before Linux 5.4, which cannot wait for a descriptor, the function
// waits for the process id.
int TryWaitFor(pid_t pid, int pidfd, int& raw);

}  // namespace rouse::internal

#endif  // ROUSE_PROCESS_PIDFD_H_
