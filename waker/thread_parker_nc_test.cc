// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {

// Compiles.
bool HasBudget(const ThreadParker& parker) {
  const ThreadParker::Unparker unparker = parker.unparker();
  Context cx(unparker.waker());
  return cx.HasBudget();
}

#ifdef ROUSE_NC_WAKER_OF_A_TEMPORARY
bool Dangle(const ThreadParker& parker) {
  Context cx(parker.unparker().waker());
  return cx.HasBudget();
}
#endif

}  // namespace rouse
