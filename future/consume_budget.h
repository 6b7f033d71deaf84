// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: consume_budget.h
// -----------------------------------------------------------------------------
//
// Makes a loop that computes give way to other tasks now and then, at almost no
// cost otherwise:
//
//   for (const Row& row : table) {
//     Digest(row);
//     co_await rouse::ConsumeBudget();
//   }

#ifndef ROUSE_FUTURE_CONSUME_BUDGET_H_
#define ROUSE_FUTURE_CONSUME_BUDGET_H_

#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ConsumeBudgetFuture
//
// See `ConsumeBudget()`.
class [[nodiscard]] ConsumeBudgetFuture {
 public:
  ConsumeBudgetFuture() = default;

  PollResult<void> Poll(Context& cx) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return {};
  }
};

// ConsumeBudget()
//
// Returns a future that takes a unit of the task's budget, of `kBudgetPerPoll`
// units for each poll, and is ready at once. If no unit is left, the future is
// first pending: as with `Yield()`, other tasks run, and the task is polled
// again with a full budget. Within `Unconstrained()` the future is always ready
// and takes nothing.
inline ConsumeBudgetFuture ConsumeBudget() { return {}; }

}  // namespace rouse

#endif  // ROUSE_FUTURE_CONSUME_BUDGET_H_
