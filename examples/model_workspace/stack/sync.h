// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef STACK_SYNC_H_
#define STACK_SYNC_H_

// The types that the stack uses: std's atomics and plain data, or the model
// checker's. ROUSE_MODEL is defined in every target that depends on the
// checker.

#ifdef ROUSE_MODEL
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#else
#include <atomic>
#endif

namespace consumer {

#ifdef ROUSE_MODEL

template <class T>
using Atomic = rouse::model::Atomic<T>;
template <class T>
using Cell = rouse::model::Cell<T>;

#else

template <class T>
using Atomic = std::atomic<T>;

template <class T>
class Cell {
 public:
  const T& Read() const { return value_; }
  T& Write() { return value_; }

 private:
  T value_{};
};

#endif  // ROUSE_MODEL

}  // namespace consumer

#endif  // STACK_SYNC_H_
