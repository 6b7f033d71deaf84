// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: programs.h
// -----------------------------------------------------------------------------
//
// What the tests of random programs share: the memory orders from which their
// generators choose, and a run of a program's threads.

#ifndef ROUSE_TESTING_MODEL_PROGRAMS_H_
#define ROUSE_TESTING_MODEL_PROGRAMS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {

// The orders of each kind of operation. The last order is seq_cst, so that a
// generator can leave it out.
inline constexpr std::array kLoadOrders = {std::memory_order_relaxed,
                                           std::memory_order_acquire,
                                           std::memory_order_seq_cst};
inline constexpr std::array kStoreOrders = {std::memory_order_relaxed,
                                            std::memory_order_release,
                                            std::memory_order_seq_cst};
inline constexpr std::array kModifyOrders = {
    std::memory_order_relaxed, std::memory_order_acquire,
    std::memory_order_release, std::memory_order_acq_rel,
    std::memory_order_seq_cst};
// A fence is sequentially consistent more often than anything else.
inline constexpr std::array kFenceOrders = {
    std::memory_order_acquire, std::memory_order_release,
    std::memory_order_acq_rel, std::memory_order_seq_cst,
    std::memory_order_seq_cst};

// Calls `run(t, results)` on thread `t` of `threads`, concurrently. Each call
// has a vector of its own. Returns the vectors' elements in the order of the
// threads.
//
// REQUIRES: the call is in a model.
inline std::vector<int> RunThreads(
    size_t threads, absl::FunctionRef<void(size_t, std::vector<int>&)> run) {
  std::vector<std::vector<int>> results(threads);
  {
    std::vector<Thread> running;
    for (size_t t = 0; t < threads; ++t) {
      running.emplace_back([&, t] { run(t, results[t]); });
    }
  }
  std::vector<int> all;
  for (const std::vector<int>& one : results) {
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_PROGRAMS_H_
