// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/failing_allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace {

// Number of this thread's allocations that succeed before an allocation fails.
// Below 0, no allocation fails.
thread_local int allocations_left = -1;

}  // namespace

void* operator new(size_t size) {
  const bool fails = allocations_left == 0;
  if (allocations_left >= 0) --allocations_left;
  if (fails) throw std::bad_alloc();
  void* const block = malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
// Replaced too, because a sanitizer's operator would not fit the delete below.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return malloc(size == 0 ? 1 : size);
}
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, size_t) noexcept { free(block); }

namespace rouse {

FailingAllocation::FailingAllocation(int n) { allocations_left = n; }
FailingAllocation::~FailingAllocation() { allocations_left = -1; }

// NOLINTNEXTLINE(readability-convert-member-functions-to-static)
bool FailingAllocation::has_failed() const { return allocations_left < 0; }

}  // namespace rouse

#endif
