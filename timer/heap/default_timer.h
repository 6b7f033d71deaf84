// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: default_timer.h
// -----------------------------------------------------------------------------
//
// The timer of a `Delay` without a handle.

#ifndef ROUSE_TIMER_HEAP_DEFAULT_TIMER_H_
#define ROUSE_TIMER_HEAP_DEFAULT_TIMER_H_

#include "rouse/timer/heap/timer_handle.h"

namespace rouse::heap {

// DefaultTimer()
//
// Returns the handle on which `TimerHandle::SetAsGlobalFallback()` was called,
// or else the handle of a helper thread (helper_thread.h). The first call
// starts the helper thread, which runs until the process ends.
//
// If the thread cannot be started, returns a `TimerHandle::Defunct()`, with
// which delays are `kUnavailable`. The next call tries again.
//
// Thread-safe. Costs two atomic operations, except for the first call.
TimerHandle DefaultTimer();

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_DEFAULT_TIMER_H_
