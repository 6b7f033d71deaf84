// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// operator new and delete for a program with models. While a model runs, the
// checker knows every block, and keeps freed blocks until the execution ends,
// so that no address is used twice. Always linked, except under
// ThreadSanitizer, whose runtime has its own operators.

#include <cstddef>
#include <cstdlib>
#include <new>

#include "absl/base/config.h"
#include "rouse/testing/model/execution.h"

#ifndef ABSL_HAVE_THREAD_SANITIZER

namespace {

using rouse::model::Execution;

void* Allocate(size_t size, size_t alignment) {
  void* block = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
                    ? std::malloc(size)
                    : std::aligned_alloc(
                          alignment, (size + alignment - 1) & ~(alignment - 1));
  if (block != nullptr && Execution::tracks_memory()) {
    Execution::current()->Allocated(block, size);
  }
  return block;
}

void* AllocateOrThrow(size_t size, size_t alignment) {
  // The size is not 0 because malloc(0) can return null.
  void* block = Allocate(size == 0 ? 1 : size, alignment);
  if (block != nullptr) return block;
#ifdef ABSL_HAVE_EXCEPTIONS
  throw std::bad_alloc();
#else
  std::abort();
#endif
}

void Free(void* block) {
  if (block == nullptr) return;
  if (Execution::tracks_memory() && Execution::current()->Freed(block)) return;
  std::free(block);
}

}  // namespace

void* operator new(size_t size) { return AllocateOrThrow(size, 1); }
void* operator new[](size_t size) { return AllocateOrThrow(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size == 0 ? 1 : size, 1);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size == 0 ? 1 : size, 1);
}
void* operator new(size_t size, std::align_val_t alignment,
                   const std::nothrow_t&) noexcept {
  return Allocate(size == 0 ? 1 : size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
  return Allocate(size == 0 ? 1 : size, static_cast<size_t>(alignment));
}
void operator delete(void* block) noexcept { Free(block); }
void operator delete[](void* block) noexcept { Free(block); }
void operator delete(void* block, size_t) noexcept { Free(block); }
void operator delete[](void* block, size_t) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  Free(block);
}
void operator delete[](void* block, size_t, std::align_val_t) noexcept {
  Free(block);
}

#endif  // ABSL_HAVE_THREAD_SANITIZER
