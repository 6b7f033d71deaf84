// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: futex.h
// -----------------------------------------------------------------------------
//
// Wraps Linux's futex, with which a thread sleeps while a word has a given
// value. The word's own protocol decides which thread must be woken; the kernel
// only parks threads.

#ifndef ROUSE_BASE_FUTEX_H_
#define ROUSE_BASE_FUTEX_H_

#include <cstdint>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/futex.h"
#elif defined(ROUSE_SCALING)
#include "rouse/testing/scaling/futex.h"
#endif

namespace rouse {

#if defined(ROUSE_MODEL)

using model::FutexWait;
using model::FutexWakeOne;

#elif defined(ROUSE_SCALING)

using scaling::FutexWait;
using scaling::FutexWakeOne;

#else

// FutexWait()
//
// Blocks while `word` has the value `expected`, for at most `timeout`. The
// timeout is measured on the monotonic clock and rounded up to a nanosecond.
// `absl::InfiniteDuration()` waits without limit; zero or less does not block.
// Returns at once if the value differs. May return early for no reason, so
// callers must read `word` again. Orders no memory by itself.
void FutexWait(Atomic<uint32_t>& word, uint32_t expected,
               absl::Duration timeout = absl::InfiniteDuration());

// FutexWakeOne()
//
// Wakes one thread that waits on `word`, if any. The waiting thread may have
// left, and `word` may have been destroyed: the address is not read.
void FutexWakeOne(Atomic<uint32_t>& word);

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_FUTEX_H_
