// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/interop/error_code.h"

#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rouse::interop {
namespace {

bool IsErrno(const std::error_category& category) {
  return category == std::generic_category() ||
         category == std::system_category();
}

absl::StatusCode CodeOf(const std::error_code& code) {
  if (IsErrno(code.category())) {
    return absl::ErrnoToStatusCode(code.value());
  }
  const std::error_condition condition = code.default_error_condition();
  return IsErrno(condition.category())
             ? absl::ErrnoToStatusCode(condition.value())
             : absl::StatusCode::kUnknown;
}

}  // namespace

absl::Status ToStatus(const std::error_code& code) {
  if (!code) return absl::OkStatus();
  return absl::Status(CodeOf(code),
                      absl::StrCat(code.message(), " (", code.category().name(),
                                   ":", code.value(), ")"));
}

}  // namespace rouse::interop
