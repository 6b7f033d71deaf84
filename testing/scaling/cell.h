// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cell.h
// -----------------------------------------------------------------------------
//
// Plain data with a price for each access. Code under test uses `rouse::Cell`
// (base/cell.h).

#ifndef ROUSE_TESTING_SCALING_CELL_H_
#define ROUSE_TESTING_SCALING_CELL_H_

#include <utility>

#include "rouse/testing/scaling/atomic.h"
#include "rouse/testing/scaling/line_model.h"
#include "rouse/testing/scaling/machine.h"

namespace rouse::scaling {

// Cell
//
// A returned reference is for a single access and must not be kept.
template <class T>
class Cell {
 public:
  constexpr Cell() = default;
  constexpr explicit Cell(T value) : value_(std::move(value)) {}

  // Returns the value, for a read or for a write. `site` names the access.
  const T& Read(Site site = Site::current()) const {
    Pay(Access::kLoad, this, site);
    return value_;
  }
  T& Write(Site site = Site::current()) {
    Pay(Access::kStore, this, site);
    return value_;
  }

 private:
  T value_{};
};

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_CELL_H_
