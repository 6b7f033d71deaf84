// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: parallel_for.h
// -----------------------------------------------------------------------------
//
// A loop whose iterations run in parallel:
//
//   co_await rouse::ParallelFor(size_t{0}, rows.size(), 64, [&](size_t i) {
//     Normalize(rows[i]);
//   });
//
// (With g++ 12, name the lambda before the `co_await`: see co.h.)

#ifndef ROUSE_SCHEDULER_FORK_PARALLEL_FOR_H_
#define ROUSE_SCHEDULER_FORK_PARALLEL_FOR_H_

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>

#include "rouse/base/panic.h"
#include "rouse/future/co.h"
#include "rouse/future/consume_budget.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/fork/fork.h"

namespace rouse {

namespace internal {

// Returns the number of steps from `begin` to `end`, or 0 if `end` is before
// `begin`.
template <std::integral Index>
size_t StepsBetween(Index begin, Index end) {
  if (end <= begin) return 0;
  // Even if the difference is too large for a signed `Index`.
  return static_cast<size_t>(end) - static_cast<size_t>(begin);
}

inline size_t CheckedGrain(size_t grain) {
  if (grain == 0) {
    Panic("ParallelFor or ParallelReduce: the grain is 0; choose at least 1");
  }
  return grain;
}

template <class Index, class F>
Co<> ParallelForPart(Index begin, Index end, size_t grain, F& f) {
  if (const size_t steps = StepsBetween(begin, end); steps > grain) {
    const Index middle =
        static_cast<Index>(begin + static_cast<Index>(steps / 2));
    co_await Fork(ParallelForPart(begin, middle, grain, f),
                  ParallelForPart(middle, end, grain, f));
    co_return;
  }
  co_await ConsumeBudget();
  for (Index i = begin; i < end; ++i) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Index>>) {
      std::invoke(f, i);
    } else {
      co_await std::invoke(f, i);
    }
  }
}

}  // namespace internal

// ParallelFor()
//
// Calls `f(i)` for each integer `i` from `begin` to `end`, without `end`.
// Returns when all calls have returned. `f` returns nothing, or a future, which
// is then awaited. Calls run in parallel, in any order, so `f` must be able to
// run on several threads at once. There is one `f`, which is moved into the
// loop and destroyed with it.
//
// `grain` is the number of calls that run one after another. Choose it so that
// they take ten microseconds or more: a part costs less than 0.1 microseconds,
// but other tasks of the worker, and other workers, wait for the end of a part
// that does not await. A `grain` of 0 is a `Panic()`.
//
// The range is halved until its parts have `grain` calls or fewer, with a
// `Fork()`. Each part takes a unit of the budget, of which a poll has
// `kBudgetPerPoll`, so that a loop lets other tasks run. What `Fork()` says
// about data races, waiting, cancellation and exceptions applies: an exception
// of `f` ends the loop. Parts that have not begun then do not begin, and a part
// that runs on another worker is first polled to its next suspension.
template <std::integral Index, std::invocable<Index> F>
Co<> ParallelFor(Index begin, std::type_identity_t<Index> end, size_t grain,
                 F f) {
  co_await internal::ParallelForPart(begin, end, internal::CheckedGrain(grain),
                                     f);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_FORK_PARALLEL_FOR_H_
