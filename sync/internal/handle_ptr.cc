// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/internal/handle_ptr.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse::internal {

void PanicMovedFrom(std::string_view handle) {
  Panic(absl::StrCat(handle,
                     " was used after it was moved from; use the object that "
                     "it was moved to, or a copy made before the move"));
}

}  // namespace rouse::internal
