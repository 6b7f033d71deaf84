// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: error_code.h
// -----------------------------------------------------------------------------
//
// Makes a status of the `std::error_code` of another library:
//
//   absl::Status status = rouse::interop::ToStatus(code);

#ifndef ROUSE_INTEROP_ERROR_CODE_H_
#define ROUSE_INTEROP_ERROR_CODE_H_

#include "rouse/base/cxx20.h"

#include <system_error>

#include "absl/status/status.h"

namespace rouse::interop {

// ToStatus()
//
// Returns OK for a code without an error. Otherwise the code of the status is
// the one of `absl::ErrnoToStatus()` if `code` is an errno, or is equivalent to
// one, such as kUnavailable for `std::errc::connection_refused` and kCancelled
// for `std::errc::operation_canceled`; and kUnknown for any other error. The
// message has the text, the category and the number of `code`, such as
// "Connection refused (system:111)".
absl::Status ToStatus(const std::error_code& code);

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_ERROR_CODE_H_
