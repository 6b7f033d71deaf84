// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread_local.h
// -----------------------------------------------------------------------------
//
// Defines thread-local objects that a model checker can provide for each of its
// threads.
//
//   Heap*& CurrentHeap() {
//     return ThreadLocal<Heap*, class CurrentHeapTag>::Get();
//   }
//
// Code that can be inlined into a coroutine must not call `Get()`: the compiler
// may keep the address across a suspension, after which the coroutine runs on
// another thread.

#ifndef ROUSE_BASE_THREAD_LOCAL_H_
#define ROUSE_BASE_THREAD_LOCAL_H_

#include "rouse/base/cxx20.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/thread_local.h"
#elif defined(ROUSE_SCALING)
#include "rouse/testing/scaling/thread_local.h"
#endif

namespace rouse {

#if defined(ROUSE_MODEL)

template <class T, class Tag>
using ThreadLocal = model::ThreadLocal<T, Tag>;

#elif defined(ROUSE_SCALING)

template <class T, class Tag>
using ThreadLocal = scaling::ThreadLocal<T, Tag>;

#else

// ThreadLocal
//
// Holds one `T` for each thread and `Tag`. `T()` must be a constant. The
// destructor, if any, runs when a thread that has called `Get()` ends.
template <class T, class Tag>
class ThreadLocal {
 public:
  ThreadLocal() = delete;

  // Returns the calling thread's object.
  static T& Get() { return value_; }

 private:
  static constinit inline thread_local T value_{};
};

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_THREAD_LOCAL_H_
