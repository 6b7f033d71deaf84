// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cell.h
// -----------------------------------------------------------------------------
//
// Plain data that must not race, for a model. Code under test names
// `rouse::Cell` (base/cell.h).

#ifndef ROUSE_TESTING_MODEL_CELL_H_
#define ROUSE_TESTING_MODEL_CELL_H_

#include <utility>

#include "rouse/testing/model/execution.h"

namespace rouse::model {

// Cell
//
// A `T` whose every access is noted: two of which one writes, and neither
// happens before the other, are a data race. No access is a step.
template <class T>
class Cell {
 public:
  constexpr Cell() = default;
  constexpr explicit Cell(T value) : value_(std::move(value)) {}

  const T& Read(Site site = Site::current()) const {
    if (Execution* execution = Execution::current()) {
      execution->ReadPlain(this, site);
    }
    return value_;
  }

  T& Write(Site site = Site::current()) {
    if (Execution* execution = Execution::current()) {
      execution->WritePlain(this, site);
    }
    return value_;
  }

 private:
  T value_{};
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_CELL_H_
