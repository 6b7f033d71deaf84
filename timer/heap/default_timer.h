// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: default_timer.h
// -----------------------------------------------------------------------------
//
// The timer of a `Delay` that is made without a handle.

#ifndef ROUSE_TIMER_HEAP_DEFAULT_TIMER_H_
#define ROUSE_TIMER_HEAP_DEFAULT_TIMER_H_

#include "rouse/timer/heap/timer_handle.h"

namespace rouse::heap {

// DefaultTimer()
//
// The handle that `TimerHandle::SetAsGlobalFallback()` was called for, or else
// that of a helper thread (helper_thread.h), which the first call starts. It
// runs until the process ends.
//
// If the thread cannot start the handle is a `TimerHandle::Defunct()`: delays
// with it are `kUnavailable`. The next call tries again.
//
// Thread-safe. Two atomic operations, but for the first call.
TimerHandle DefaultTimer();

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_DEFAULT_TIMER_H_
