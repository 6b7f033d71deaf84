// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: atomic.h
// -----------------------------------------------------------------------------
//
// Defines the atomics for Rouse's lock-free code. In a product, they are the
// atomics of `std`. With `ROUSE_MODEL` defined, as in the build's `*_model`
// targets, they are the model checker's atomics. The checker then explores the
// same source over every interleaving and every value that the C++ memory model
// lets a load return. With `ROUSE_SCALING` defined, as in the build's
// `*_scaling` targets, each access has a price on a machine with many cores.
//
// Code for the model checker must use `rouse::Atomic<T>` and no other atomic.

#ifndef ROUSE_BASE_ATOMIC_H_
#define ROUSE_BASE_ATOMIC_H_

#include "rouse/base/cxx20.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/atomic.h"
#elif defined(ROUSE_SCALING)
#include "rouse/testing/scaling/atomic.h"
#else
#include <atomic>
#endif

namespace rouse {

#if defined(ROUSE_MODEL)
template <class T>
using Atomic = model::Atomic<T>;
#elif defined(ROUSE_SCALING)
template <class T>
using Atomic = scaling::Atomic<T>;
#else
// `std::atomic<T>`, or the model checker's atomic in a model.
template <class T>
using Atomic = std::atomic<T>;
#endif

}  // namespace rouse

#endif  // ROUSE_BASE_ATOMIC_H_
