// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: failing_allocations.h
// -----------------------------------------------------------------------------
//
// For tests of the state after memory runs out. A program linked with this
// library has an `operator new` that fails on request.

#ifndef ROUSE_TESTING_FAILING_ALLOCATIONS_H_
#define ROUSE_TESTING_FAILING_ALLOCATIONS_H_

#include "rouse/base/cxx20.h"

#include <new>
#include <optional>
#include <utility>

#include "absl/base/config.h"

// ROUSE_CAN_FAIL_ALLOCATIONS
//
// Defined if allocations can fail. Not defined without exceptions, and not
// under ThreadSanitizer, whose runtime has its own `operator new`.
#if defined(ABSL_HAVE_EXCEPTIONS) && !defined(ABSL_HAVE_THREAD_SANITIZER)
#define ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse {

// FailingAllocation
//
// While this object exists, one allocation of this thread fails with
// `std::bad_alloc`: the first allocation after `n` others.
//
// REQUIRES: the thread has no other such object.
class FailingAllocation {
 public:
  explicit FailingAllocation(int n);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  // Returns whether the allocation has failed.
  bool has_failed() const;
};

// FailEachAllocation()
//
// Calls `call` repeatedly, and lets one allocation fail each time: the first,
// the second and so on, until no allocation fails. Each time, the last
// included, passes the result of `call` to `check`, or `std::nullopt` if `call`
// threw `std::bad_alloc`. Returns the number of failed allocations.
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
