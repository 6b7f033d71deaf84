// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutable_step.h
// -----------------------------------------------------------------------------
//
// Marks the steps that the model checker's mutants change: a condition that
// matters, a call that must be made, two steps whose order matters. At least
// one model must fail for each mutant (docs/guide/model.md, "Mutants"). In a
// product, a mark has no effect on the marked step.
//
//   if (MutableCondition(Room() < kHalf)) return nullptr;
//   ROUSE_MUTABLE_CALL(EndSearching());
//   ROUSE_MUTABLE_ORDER(Publish(), Wake());

#ifndef ROUSE_BASE_MUTABLE_STEP_H_
#define ROUSE_BASE_MUTABLE_STEP_H_

#include "rouse/base/cxx20.h"

#ifdef ROUSE_MODEL
#include "rouse/testing/model/mutable_step.h"
#endif

#ifdef ROUSE_MODEL

#define ROUSE_MUTABLE_CALL(...)        \
  do {                                 \
    if (::rouse::model::MakesCall()) { \
      __VA_ARGS__;                     \
    }                                  \
  } while (false)

#define ROUSE_MUTABLE_ORDER(first, second) \
  do {                                     \
    if (::rouse::model::KeepsOrder()) {    \
      first;                               \
      second;                              \
    } else {                               \
      second;                              \
      first;                               \
    }                                      \
  } while (false)

#else

// ROUSE_MUTABLE_CALL(call)
//
// Makes `call`, an expression whose value is not used. The mutant skips the
// call.
#define ROUSE_MUTABLE_CALL(...) __VA_ARGS__

// ROUSE_MUTABLE_ORDER(first, second)
//
// Evaluates `first` and then `second`, whose values are not used. The mutant
// swaps the two.
#define ROUSE_MUTABLE_ORDER(first, second) \
  do {                                     \
    first;                                 \
    second;                                \
  } while (false)

#endif  // ROUSE_MODEL

namespace rouse {

#ifdef ROUSE_MODEL

using model::MutableCondition;

#else

// MutableCondition()
//
// Returns `condition`. The mutants are: always true, always false, negated.
// (The condition is evaluated in each mutant.)
constexpr bool MutableCondition(bool condition) { return condition; }

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_MUTABLE_STEP_H_
