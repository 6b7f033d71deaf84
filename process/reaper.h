// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reaper.h
// -----------------------------------------------------------------------------
//
// For process/ itself: waits for the children that nobody else waits for, so
// that none stays a zombie.

#ifndef ROUSE_PROCESS_REAPER_H_
#define ROUSE_PROCESS_REAPER_H_

#include <sys/types.h>

#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// Takes over the child `pid`, whose `pidfd` becomes readable when it has ended.
// It is waited for then, on the thread that turns the reactor; if the reactor
// goes first, by the next call of this or of `ReapStrays()` that finds that it
// has ended. Thread-safe.
void ReapLater(pid_t pid, reactor::AsyncFd<OwnedFd> pidfd);

// Waits, without blocking, for those whose reactor has gone.
void ReapStrays();

}  // namespace rouse::internal

#endif  // ROUSE_PROCESS_REAPER_H_
