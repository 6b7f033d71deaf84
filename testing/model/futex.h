// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: futex.h
// -----------------------------------------------------------------------------
//
// The futex calls of base/futex.h, for a model.

#ifndef ROUSE_TESTING_MODEL_FUTEX_H_
#define ROUSE_TESTING_MODEL_FUTEX_H_

#include <cstdint>

#include "absl/time/time.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/execution.h"

namespace rouse::model {

// Waits like the kernel's futex: returns at once if the word is not `expected`;
// otherwise when woken, when the time is up (at any moment, unless `timeout` is
// infinite), or for no reason.
inline void FutexWait(Atomic<uint32_t>& word, uint32_t expected,
                      absl::Duration timeout = absl::InfiniteDuration(),
                      Site site = Site::current()) {
  if (Execution* execution = Execution::current()) {
    execution->FutexWait(word.handle(), &word, word.initial(), expected,
                         timeout != absl::InfiniteDuration(), site);
  }
}

// Wakes a thread that waits for the word at this address. Does not access the
// word, which may have been destroyed.
inline void FutexWakeOne(Atomic<uint32_t>& word, Site site = Site::current()) {
  if (Execution* execution = Execution::current()) {
    execution->FutexWake(&word, 1, site);
  }
}

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_FUTEX_H_
