// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fresh_stack.h
// -----------------------------------------------------------------------------
//
// `RunOnFreshStack()` lets a function that has nearly used up its thread's
// stack call deeper functions:
//
//   void Destroy(Node* node) {
//     auto destroy = [node] { delete node; };  // calls Destroy()
//     if (HasAmpleStackRoom() || !RunOnFreshStack(destroy)) destroy();
//   }

#ifndef ROUSE_BASE_FRESH_STACK_H_
#define ROUSE_BASE_FRESH_STACK_H_

#include "rouse/base/cxx20.h"

#include <cstddef>

#include "absl/functional/function_ref.h"

namespace rouse {

// Size of a stack of `RunOnFreshStack()`, in bytes. A worker's thread usually
// has as much.
inline constexpr size_t kFreshStackSize = size_t{2} << 20;

// RunOnFreshStack()
//
// Calls `f()` on the calling thread, with an empty stack of `kFreshStackSize`
// bytes. Returns true when `f()` has returned, and then frees the stack. An
// exception of `f()` propagates. Calls nest: `f()` can call `RunOnFreshStack()`
// again. `HasStackRoom()` knows the new stack.
//
// If no memory for a stack is available, returns false without calling `f()`.
//
// The thread remains the same, with its thread-local variables and its locks.
// `f()` must return, and must not leave the stack in any other way, such as
// with `longjmp()`.
//
// Costs six system calls or fewer, about ten microseconds. An overflow of the
// new stack ends the process.
bool RunOnFreshStack(absl::FunctionRef<void()> f);

}  // namespace rouse

#endif  // ROUSE_BASE_FRESH_STACK_H_
