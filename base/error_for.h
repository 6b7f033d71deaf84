// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: error_for.h
// -----------------------------------------------------------------------------
//
// Makes errors for functions that return an `absl::StatusOr` of a user's type.
// The result is an error even if the user's type is `absl::Status`, where the
// constructor of `StatusOr` would take an error for the value.

#ifndef ROUSE_BASE_ERROR_FOR_H_
#define ROUSE_BASE_ERROR_FOR_H_

#include "rouse/base/cxx20.h"

#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse::internal {

// ErrorFor()
//
// Returns an object from which a `Result` with the error `error` is made.
// REQUIRES: `error` is not OK.
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
