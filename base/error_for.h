// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: error_for.h
// -----------------------------------------------------------------------------
//
// For functions that give an `absl::StatusOr` of a type of the user's: an error
// that is an error also where that type is `absl::Status`, of which a
// `StatusOr` would take it for the value.

#ifndef ROUSE_BASE_ERROR_FOR_H_
#define ROUSE_BASE_ERROR_FOR_H_

#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse::internal {

// ErrorFor()
//
// What to make a `Result` of that is to be `error`. REQUIRES: it is an error.
//
//   return ErrorFor<absl::StatusOr<T>>(absl::UnavailableError("nothing yet"));
template <class Result>
auto ErrorFor(absl::Status error) {
  if constexpr (std::is_same_v<Result, absl::StatusOr<absl::Status>>) {
    Result result;
    result.AssignStatus(std::move(error));
    return result;
  } else {
    return error;
  }
}

}  // namespace rouse::internal

#endif  // ROUSE_BASE_ERROR_FOR_H_
