// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cell.h
// -----------------------------------------------------------------------------
//
// Holds plain data that lock-free code hands from thread to thread. In a
// product, a cell is just the data. In a `*_model` target, the model checker
// sees every access and finds data races.
//
//   Cell<Waker> waker_;   // of the thread that holds the lock bit
//
//   waker_.Write() = std::move(waker);
//   if (waker_.Read().WillWake(other)) ...

#ifndef ROUSE_BASE_CELL_H_
#define ROUSE_BASE_CELL_H_

#include "rouse/base/cxx20.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/cell.h"
#elif defined(ROUSE_SCALING)
#include "rouse/testing/scaling/cell.h"
#else
#include <utility>
#endif

namespace rouse {

#if defined(ROUSE_MODEL)

template <class T>
using Cell = model::Cell<T>;

#elif defined(ROUSE_SCALING)

template <class T>
using Cell = scaling::Cell<T>;

#else

// Cell
//
// Not thread-safe: the surrounding code must prevent concurrent accesses. A
// returned reference is for a single access and must not be kept.
template <class T>
class Cell {
 public:
  constexpr Cell() = default;
  constexpr explicit Cell(T value) : value_(std::move(value)) {}

  // Returns the value, for a read or for a write. The thread must have been
  // handed the data.
  const T& Read() const { return value_; }
  T& Write() { return value_; }

 private:
  T value_{};
};

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_CELL_H_
