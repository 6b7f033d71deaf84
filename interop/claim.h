// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: claim.h
// -----------------------------------------------------------------------------
//
// Internal to interop/: decides which of several calls does something that must
// be done once.

#ifndef ROUSE_INTEROP_CLAIM_H_
#define ROUSE_INTEROP_CLAIM_H_

#include <atomic>

#include "rouse/base/atomic.h"

namespace rouse::interop::internal {

// Claim
//
// Thread-safe. Says only who is first, and orders nothing else: what the first
// call uses must reach its thread in another way.
class Claim {
 public:
  // Returns true the first time, and then false.
  bool Take() {
    // Relaxed: see the class.
    return !taken_.exchange(true, std::memory_order_relaxed);
  }

  // Returns whether `Take()` was called.
  bool IsTaken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  Atomic<bool> taken_{false};
};

}  // namespace rouse::interop::internal

#endif  // ROUSE_INTEROP_CLAIM_H_
