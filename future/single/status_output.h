// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: status_output.h
// -----------------------------------------------------------------------------
//
// Names and makes the output of a future that adds errors of its own to the
// output of another future. Internal to this project.

#ifndef ROUSE_FUTURE_SINGLE_STATUS_OUTPUT_H_
#define ROUSE_FUTURE_SINGLE_STATUS_OUTPUT_H_

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/error_for.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// StatusOutput
//
// Names `absl::Status` for void and for a status, and otherwise a `StatusOr` of
// `T`. A `StatusOr` is not nested. A reference is a `std::reference_wrapper`.
template <class T>
struct StatusOutputOf {
  using type = absl::StatusOr<T>;
};
template <class T>
  requires(std::is_void_v<T> || std::same_as<std::decay_t<T>, absl::Status>)
struct StatusOutputOf<T> {
  using type = absl::Status;
};
template <class T>
  requires(!std::same_as<std::decay_t<T>, absl::Status>)
struct StatusOutputOf<T&> {
  using type = absl::StatusOr<std::reference_wrapper<T>>;
};
template <class T>
struct StatusOutputOf<absl::StatusOr<T>> {
  using type = absl::StatusOr<T>;
};
template <class T>
using StatusOutput = typename StatusOutputOf<T>::type;

// ToStatusOutput()
//
// Returns the output of a result that is ready.
template <class T>
StatusOutput<T> ToStatusOutput(PollResult<T>&& result) {
  if constexpr (std::is_void_v<T>) {
    return absl::OkStatus();
  } else if constexpr (std::is_reference_v<T> &&
                       !std::same_as<StatusOutput<T>, absl::Status>) {
    return StatusOutput<T>(std::ref(*result));
  } else {
    return StatusOutput<T>(*std::move(result));
  }
}

// StatusOutputError()
//
// Returns an output with the error `error`.
// REQUIRES: `error` is not OK.
template <class T>
StatusOutput<T> StatusOutputError(absl::Status error) {
  return StatusOutput<T>(ErrorFor<StatusOutput<T>>(std::move(error)));
}

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_SINGLE_STATUS_OUTPUT_H_
