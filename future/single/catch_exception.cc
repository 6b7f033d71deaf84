// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/single/catch_exception.h"

#include <exception>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rouse::internal {

absl::Status ExceptionToStatus(const std::exception_ptr& exception) {
#ifdef ABSL_HAVE_EXCEPTIONS
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return absl::InternalError(
        absl::StrCat("a future ended with an exception: ", e.what()));
  } catch (...) {
  }
#else
  static_cast<void>(exception);
#endif
  return absl::InternalError("a future ended with an exception");
}

}  // namespace rouse::internal
