// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spin_hint.h
// -----------------------------------------------------------------------------
//
// Tells the processor, and in a `*_model` target the model checker, that a loop
// only waits for another thread:
//
//   while (lock_.exchange(true, std::memory_order_acquire)) SpinHint();

#ifndef ROUSE_BASE_LOCK_SPIN_HINT_H_
#define ROUSE_BASE_LOCK_SPIN_HINT_H_

#include "rouse/base/cxx20.h"

#ifdef ROUSE_MODEL
#include "rouse/testing/model/thread.h"
#endif

namespace rouse {

#ifdef ROUSE_MODEL

using model::SpinHint;

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

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_LOCK_SPIN_HINT_H_
