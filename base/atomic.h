// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: atomic.h
// -----------------------------------------------------------------------------
//
// The atomics that Rouse's lock-free code is written on. In a product they are
// std's. With `ROUSE_MODEL` defined, as the build's `*_model` targets do, they
// are the model checker's, and the same source is explored over every
// interleaving and every value that the C++ memory model lets a load return.
//
// Code that is to be checked names `rouse::Atomic<T>` and no other atomic.

#ifndef ROUSE_BASE_ATOMIC_H_
#define ROUSE_BASE_ATOMIC_H_

#ifdef ROUSE_MODEL
#include "rouse/testing/model/atomic.h"
#else
#include <atomic>
#endif

namespace rouse {

#ifdef ROUSE_MODEL
template <class T>
using Atomic = model::Atomic<T>;
#else
template <class T>
using Atomic = std::atomic<T>;
#endif

}  // namespace rouse

#endif  // ROUSE_BASE_ATOMIC_H_
