// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/run_main.h"

#include <errno.h>

#include <cstdio>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse::internal {

int ExitStatus(const absl::Status& result) {
  if (result.ok()) return EXIT_SUCCESS;
  // Payloads are for programs, not for a person who reads the line.
  fprintf(stderr, "%s: %s\n", program_invocation_short_name,
          result.ToString(absl::StatusToStringMode::kWithNoExtraData).c_str());
  return EXIT_FAILURE;
}

int ExitStatus(const absl::StatusOr<int>& result) {
  return result.ok() ? *result : ExitStatus(result.status());
}

}  // namespace rouse::internal
