// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spin_hint.h
// -----------------------------------------------------------------------------
//
// Tells the processor, the system's scheduler, and in a `*_model` target the
// model checker, that a loop only waits for another thread:
//
//   while (lock_.exchange(true, std::memory_order_acquire)) SpinHint();

#ifndef ROUSE_BASE_LOCK_SPIN_HINT_H_
#define ROUSE_BASE_LOCK_SPIN_HINT_H_

#include "rouse/base/cxx20.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/thread.h"
#elif defined(ROUSE_SCALING)
#include "rouse/testing/scaling/thread.h"
#else
#include <thread>
#endif

namespace rouse {

#if defined(ROUSE_MODEL)

using model::SpinHint;
inline void YieldHint() { SpinHint(); }

#elif defined(ROUSE_SCALING)

using scaling::SpinHint;
using scaling::YieldHint;

#else

// SpinHint()
//
// Lets the processor's other hardware thread go ahead, for about ten to a
// hundred cycles. Does not yield to the system's scheduler.
inline void SpinHint() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// YieldHint()
//
// Lets another thread have the processor, if one waits for a processor. Costs a
// system call.
inline void YieldHint() { std::this_thread::yield(); }

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_SPIN_HINT_H_
