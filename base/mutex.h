// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex.h
// -----------------------------------------------------------------------------
//
// Abseil's mutex and condition variable, or the model checker's in a `*_model`
// target: the part of Abseil's interface that both have.
//
//   Mutex mu_;
//   int count_ ABSL_GUARDED_BY(mu_) = 0;
//   ...
//   const MutexLock lock(&mu_);

#ifndef ROUSE_BASE_MUTEX_H_
#define ROUSE_BASE_MUTEX_H_

#ifdef ROUSE_MODEL
#include "rouse/testing/model/mutex.h"
#else
#include "absl/synchronization/mutex.h"
#endif

namespace rouse {

#ifdef ROUSE_MODEL
using Mutex = model::Mutex;
using MutexLock = model::MutexLock;
using CondVar = model::CondVar;
#else
using Mutex = absl::Mutex;
using MutexLock = absl::MutexLock;
using CondVar = absl::CondVar;
#endif

}  // namespace rouse

#endif  // ROUSE_BASE_MUTEX_H_
