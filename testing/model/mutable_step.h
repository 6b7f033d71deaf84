// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutable_step.h
// -----------------------------------------------------------------------------
//
// Steps of the code under test that mutants change. Code under test uses
// base/mutable_step.h.

#ifndef ROUSE_TESTING_MODEL_MUTABLE_STEP_H_
#define ROUSE_TESTING_MODEL_MUTABLE_STEP_H_

#include "rouse/testing/model/execution.h"

namespace rouse::model {

// Returns `condition`, unless a mutant has another condition here.
inline bool MutableCondition(bool condition, Site site = Site::current()) {
  Execution* const execution = Execution::current();
  return execution == nullptr ? condition
                              : execution->ConditionAt(condition, site);
}

// Returns whether a call must be made. A mutant skips the call.
inline bool MakesCall(Site site = Site::current()) {
  Execution* const execution = Execution::current();
  return execution == nullptr || execution->MakesCall(site);
}

// Returns whether two steps must be taken in their order. A mutant swaps the
// steps.
inline bool KeepsOrder(Site site = Site::current()) {
  Execution* const execution = Execution::current();
  return execution == nullptr || execution->KeepsOrder(site);
}

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_MUTABLE_STEP_H_
