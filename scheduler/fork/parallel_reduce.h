// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: parallel_reduce.h
// -----------------------------------------------------------------------------
//
// Combines the results of calls that run in parallel:
//
//   auto square = [&](size_t i) { return v[i] * v[i]; };
//   const double sum = co_await rouse::ParallelReduce(
//       size_t{0}, v.size(), 1024, 0.0, square, std::plus<>());

#ifndef ROUSE_SCHEDULER_FORK_PARALLEL_REDUCE_H_
#define ROUSE_SCHEDULER_FORK_PARALLEL_REDUCE_H_

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/future/co.h"
#include "rouse/future/consume_budget.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/fork/fork.h"
#include "rouse/scheduler/fork/parallel_for.h"

namespace rouse {

namespace internal {

template <class Index, class T, class F, class Combine>
Co<T> ParallelReducePart(Index begin, Index end, size_t grain,
                         const T& identity, F& f, Combine& combine) {
  if (const size_t steps = StepsBetween(begin, end); steps > grain) {
    const Index middle =
        static_cast<Index>(begin + static_cast<Index>(steps / 2));
    std::tuple<T, T> halves = co_await Fork(
        ParallelReducePart(begin, middle, grain, identity, f, combine),
        ParallelReducePart(middle, end, grain, identity, f, combine));
    auto& [left, right] = halves;
    co_return std::invoke(combine, std::move(left), std::move(right));
  }
  co_await ConsumeBudget();
  T result = identity;
  for (Index i = begin; i < end; ++i) {
    result = std::invoke(combine, std::move(result), std::invoke(f, i));
  }
  co_return result;
}

}  // namespace internal

// ParallelReduce()
//
// Calls `f(i)` for each integer `i` from `begin` to `end`, without `end`, and
// returns all results combined into one by `combine(T, T)`, in the order of the
// integers. Returns `identity` if there is no integer.
//
// `combine` must be associative, and `combine(identity, x)` must be `x`:
// `identity` is the start of each part of the range. The parts depend only on
// the arguments, so the result does, too, even for floating-point numbers.
// `f` and `combine` can be called on several threads at once. `T` must be
// copyable.
//
// `grain`, and everything else, is as for `ParallelFor()`.
template <std::integral Index, class T, std::invocable<Index> F, class Combine>
Co<T> ParallelReduce(Index begin, std::type_identity_t<Index> end, size_t grain,
                     T identity, F f, Combine combine) {
  static_assert(!Future<std::invoke_result_t<F&, Index>>,
                "ParallelReduce combines the values that the function returns; "
                "for a function that returns a future, use ForkAll");
  co_return co_await internal::ParallelReducePart(
      begin, end, internal::CheckedGrain(grain), std::as_const(identity), f,
      combine);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_FORK_PARALLEL_REDUCE_H_
