// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/single/abortable.h"

#include <atomic>

#include "rouse/base/mutable_step.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

void AbortState::Unref() {
  // Release pairs with the acquire of the last drop: use comes before delete.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void AbortState::Abort() {
  // Release pairs with the acquire of IsAborted.
  ROUSE_MUTABLE_ORDER(is_aborted_.store(true, std::memory_order_release),
                      waker_.Wake());
}

bool AbortState::Register(const Waker& waker) {
  ROUSE_MUTABLE_CALL(waker_.Register(waker));
  // An abort that this check misses finds the waker.
  return MutableCondition(IsAborted());
}

}  // namespace rouse::internal
