// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: futex.h
// -----------------------------------------------------------------------------
//
// The futex of the virtual machine. Code under test uses base/futex.h.

#ifndef ROUSE_TESTING_SCALING_FUTEX_H_
#define ROUSE_TESTING_SCALING_FUTEX_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "rouse/testing/scaling/atomic.h"

namespace rouse::scaling {

// Like the functions of these names in base/futex.h.
inline void FutexWait(Atomic<uint32_t>& word, uint32_t expected,
                      absl::Duration timeout = absl::InfiniteDuration()) {
  Machine::current()->FutexWait(
      &word, [&] { return word.load(std::memory_order_relaxed) == expected; },
      timeout == absl::InfiniteDuration() ? Machine::kNever
                                          : absl::ToDoubleNanoseconds(timeout));
}

inline void FutexWakeOne(Atomic<uint32_t>& word) {
  Machine::current()->FutexWakeOne(&word);
}

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_FUTEX_H_
