// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pidfd.h
// -----------------------------------------------------------------------------
//
// For process/ itself: signals and waits that go by a descriptor of the process
// (pidfd_open(2)) and not by its number, which may be another's by the time
// that somebody else has waited for it.

#ifndef ROUSE_PROCESS_PIDFD_H_
#define ROUSE_PROCESS_PIDFD_H_

#include <sys/types.h>

namespace rouse::internal {

// Sends a signal to the process of `pidfd`. 0; or -1 and `errno`, ESRCH if
// somebody has waited for it.
int SendSignalTo(int pidfd, int number);

// Waits for the child `pid`, whose descriptor is `pidfd`, without blocking, and
// sets `raw` to what waitpid(2) would. 0; or -1 and `errno`: EAGAIN if it has
// not ended, ECHILD if somebody else has waited for it. Before Linux 5.4, which
// cannot wait for a descriptor, goes by the number.
int TryWaitFor(pid_t pid, int pidfd, int& raw);

}  // namespace rouse::internal

#endif  // ROUSE_PROCESS_PIDFD_H_
