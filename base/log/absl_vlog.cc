// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/log/absl_vlog.h"

#include "absl/log/log.h"
#include "absl/log/vlog_is_on.h"
#include "rouse/base/log/vlog.h"

namespace rouse {
namespace {

void LogToAbsl(const VlogMessage& message) {
  LOG(INFO).AtLocation(message.file, message.line).WithVerbosity(message.level)
      << message.text;
}

}  // namespace

void VlogToAbsl(int level) { SetVlog(level, &LogToAbsl); }

void VlogToAbsl() { VlogToAbsl(VLOG_IS_ON(2) ? 2 : VLOG_IS_ON(1) ? 1 : 0); }

}  // namespace rouse
