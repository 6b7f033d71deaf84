// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/fd/io_future.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse::internal {

void PanicFinished(std::string_view name) {
  Panic(absl::StrCat(name,
                     " was polled after it completed; create a new future"));
}

}  // namespace rouse::internal
