// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread_mutex.h
// -----------------------------------------------------------------------------
//
// Names Abseil's mutex and condition variable, or in a `*_model` target the
// model checker's: the part of Abseil's interface that both have. Both block a
// thread; for tasks there is `rouse::Mutex<T>` (sync/mutex.h).
//
//   ThreadMutex mu_;
//   int count_ ABSL_GUARDED_BY(mu_) = 0;
//   ...
//   const ThreadMutexLock lock(&mu_);

#ifndef ROUSE_BASE_THREAD_MUTEX_H_
#define ROUSE_BASE_THREAD_MUTEX_H_

#include "rouse/base/cxx20.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/mutex.h"
#elif defined(ROUSE_SCALING)
#include "rouse/testing/scaling/mutex.h"
#else
#include "absl/synchronization/mutex.h"
#endif

namespace rouse {

#if defined(ROUSE_MODEL)
using ThreadMutex = model::Mutex;
using ThreadMutexLock = model::MutexLock;
using ThreadCondVar = model::CondVar;
#elif defined(ROUSE_SCALING)
using ThreadMutex = scaling::Mutex;
using ThreadMutexLock = scaling::MutexLock;
using ThreadCondVar = scaling::CondVar;
#else
// Abseil's classes, or the model checker's classes in a model.
using ThreadMutex = absl::Mutex;
using ThreadMutexLock = absl::MutexLock;
using ThreadCondVar = absl::CondVar;
#endif

}  // namespace rouse

#endif  // ROUSE_BASE_THREAD_MUTEX_H_
