// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/internal/pending_wait.h"

#include <string>
#include <string_view>

#include "rouse/base/panic.h"

namespace rouse::internal {

void PanicMovedAfterPoll(std::string_view call) {
  Panic(
      std::string(call) +
      " was moved after it was polled; move the future before its first poll");
}

void PanicPolledAfterEnd(std::string_view call) {
  Panic(std::string(call) +
        " was polled after it completed or was moved from; call it again");
}

}  // namespace rouse::internal
