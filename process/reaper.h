// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reaper.h
// -----------------------------------------------------------------------------
//
// Internal to process/: waits for children for which no other code waits, so
// that no child stays a zombie.

#ifndef ROUSE_PROCESS_REAPER_H_
#define ROUSE_PROCESS_REAPER_H_

#include <sys/types.h>

#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// Takes over the child `pid`, whose `pidfd` becomes readable when the child has
// ended. The thread that turns the reactor then waits for the child. If the
// reactor is shut down first, the next call of `ReapLater()` or `ReapStrays()`
// that finds the child's end waits for the child. Thread-safe.
void ReapLater(pid_t pid, reactor::AsyncFd<OwnedFd> pidfd);

// Waits, without blocking, for children whose reactor was shut down.
void ReapStrays();

}  // namespace rouse::internal

#endif  // ROUSE_PROCESS_REAPER_H_
