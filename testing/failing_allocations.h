// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: failing_allocations.h
// -----------------------------------------------------------------------------
//
// For tests of what is left when memory runs out. A program that is linked with
// this has an `operator new` that fails when it is told to.

#ifndef ROUSE_TESTING_FAILING_ALLOCATIONS_H_
#define ROUSE_TESTING_FAILING_ALLOCATIONS_H_

#include <new>
#include <optional>
#include <utility>

#include "absl/base/config.h"

// ROUSE_CAN_FAIL_ALLOCATIONS
//
// Not under ThreadSanitizer, whose runtime has its own `operator new`.
#if defined(ABSL_HAVE_EXCEPTIONS) && !defined(ABSL_HAVE_THREAD_SANITIZER)
#define ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse {

// FailingAllocation
//
// While it lives one allocation of this thread fails, with `std::bad_alloc`:
// the first one after `n` others. One at a time for each thread.
class FailingAllocation {
 public:
  explicit FailingAllocation(int n);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  bool has_failed() const;
};

// FailEachAllocation()
//
// Lets one allocation of `call` fail: the first, the second and so on, until
// there is none that would. `check` is told each time what `call` gave, or
// nothing if it threw. Gives how many have failed.
template <class Call, class Check>
int FailEachAllocation(Call call, Check check) {
  for (int n = 0;; ++n) {
    std::optional<decltype(call())> result;
    bool has_failed;
    {
      const FailingAllocation failing(n);
      try {
        result.emplace(call());
      } catch (const std::bad_alloc&) {
      }
      has_failed = failing.has_failed();
    }
    check(std::move(result));
    if (!has_failed) return n;
  }
}

}  // namespace rouse

#endif

#endif  // ROUSE_TESTING_FAILING_ALLOCATIONS_H_
