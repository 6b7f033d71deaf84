// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/internal/pending_wait.h"

#include <string>
#include <string_view>

#include "rouse/base/panic.h"

namespace rouse::internal {

void PanicMovedAfterPoll(std::string_view call) {
  Panic(std::string(call) +
        ": moved after it was polled; move it before, or leave it where it is");
}

void PanicPolledAfterEnd(std::string_view call) {
  Panic(std::string(call) + ": polled after it has finished; call it again");
}

}  // namespace rouse::internal
