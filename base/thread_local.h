// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread_local.h
// -----------------------------------------------------------------------------
//
// Thread-local objects that a model checker can give to each of its threads.
//
//   Heap*& CurrentHeap() {
//     return ThreadLocal<Heap*, class CurrentHeapTag>::Get();
//   }
//
// Code that a coroutine may inline must not call `Get()`: the compiler may keep
// the address over a suspension, after which the coroutine is on another
// thread.

#ifndef ROUSE_BASE_THREAD_LOCAL_H_
#define ROUSE_BASE_THREAD_LOCAL_H_

#ifdef ROUSE_MODEL
#include "rouse/testing/model/thread_local.h"
#endif

namespace rouse {

#ifdef ROUSE_MODEL

template <class T, class Tag>
using ThreadLocal = model::ThreadLocal<T, Tag>;

#else

// ThreadLocal
//
// One `T` for each thread and `Tag`. `T()` is a constant. Where it has a
// destructor, that runs when a thread that has called `Get()` ends.
template <class T, class Tag>
class ThreadLocal {
 public:
  ThreadLocal() = delete;

  static T& Get() { return value_; }

 private:
  static constinit inline thread_local T value_{};
};

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_THREAD_LOCAL_H_
