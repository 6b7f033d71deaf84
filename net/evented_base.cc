// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/evented_base.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse::internal {

void PanicDoesNotWork(std::string_view call, bool reads) {
  Panic(absl::StrCat(
      call, reads ? ": a listener and a PipeReader only read; pass "
                    "Interest::kReadable"
                  : ": a PipeWriter only writes; pass Interest::kWritable"));
}

}  // namespace rouse::internal
