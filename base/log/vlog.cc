// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/log/vlog.h"

#include <atomic>
#include <cstdio>

#include "absl/base/attributes.h"

namespace rouse {
namespace internal {
namespace {

void WriteToStderr(const VlogMessage& message) {
  std::fprintf(stderr, "rouse: %.*s\n", static_cast<int>(message.text.size()),
               message.text.data());
}

ABSL_CONST_INIT std::atomic<VlogSink> sink{&WriteToStderr};

}  // namespace

ABSL_CONST_INIT std::atomic<int> vlog_level{0};

void Vlog(const VlogMessage& message) {
  // Acquire pairs with the release in `SetVlog()`: the sink's data is visible.
  sink.load(std::memory_order_acquire)(message);
}

}  // namespace internal

void SetVlog(int level, VlogSink sink) {
  // The previous sink stays for the messages that are under way when logging is
  // turned off. Release pairs with the acquire in `Vlog()`.
  if (level > 0 || sink != nullptr) {
    internal::sink.store(sink != nullptr ? sink : &internal::WriteToStderr,
                         std::memory_order_release);
  }
  // Relaxed: see `vlog_level`.
  internal::vlog_level.store(level, std::memory_order_relaxed);
}

}  // namespace rouse
