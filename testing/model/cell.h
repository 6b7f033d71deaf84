// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cell.h
// -----------------------------------------------------------------------------
//
// Plain data that must not race, for a model. Code under test uses
// `rouse::Cell` (base/cell.h).

#ifndef ROUSE_TESTING_MODEL_CELL_H_
#define ROUSE_TESTING_MODEL_CELL_H_

#include <concepts>
#include <type_traits>
#include <utility>

#include "rouse/testing/model/execution.h"

namespace rouse::model {

// Cell
//
// A `T` whose every access is recorded. Two accesses are a data race if at
// least one is a write, and neither happens before the other. The construction
// and the destruction of a Cell are writes, unless the Cell has static storage.
// A copy reads the source and writes the target. No access is a step.
template <class T>
class Cell {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): the default constructor
  constexpr Cell(Site site = Site::current()) { Made(site); }
  constexpr explicit Cell(T value, Site site = Site::current())
      : value_(std::move(value)) {
    Made(site);
  }
  Cell(const Cell& other, Site site = Site::current())
    requires std::copy_constructible<T>
      : value_(other.Read(site)) {
    Made(site);
  }
  Cell(Cell&& other, Site site = Site::current()) noexcept(
      std::is_nothrow_move_constructible_v<T>)
      : value_(std::move(other.Write(site))) {
    Made(site);
  }
  Cell& operator=(const Cell& other)
    requires std::is_copy_assignable_v<T>
  {
    Write() = other.Read();
    return *this;
  }
  Cell& operator=(Cell&& other) noexcept(std::is_nothrow_move_assignable_v<T>) {
    Write() = std::move(other.Write());
    return *this;
  }
  constexpr ~Cell() {
    if (!std::is_constant_evaluated()) {
      if (Execution* execution = Execution::current()) {
        execution->DestroyPlain(this, Site::current());
      }
    }
  }

  // Records a read, and returns the value. The reference is for a single
  // access, and must not be kept.
  const T& Read(Site site = Site::current()) const {
    if (Execution* execution = Execution::current()) {
      execution->ReadPlain(this, site);
    }
    return value_;
  }

  // Records a write, and returns the value. The reference is for a single
  // access, and must not be kept.
  T& Write(Site site = Site::current()) {
    if (Execution* execution = Execution::current()) {
      execution->WritePlain(this, site);
    }
    return value_;
  }

 private:
  constexpr void Made(const Site& site) {
    if (!std::is_constant_evaluated()) {
      if (Execution* execution = Execution::current()) {
        execution->ConstructPlain(this, site);
      }
    }
  }

  T value_{};
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_CELL_H_
