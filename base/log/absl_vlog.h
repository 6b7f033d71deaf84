// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: absl_vlog.h
// -----------------------------------------------------------------------------
//
// `VlogToAbsl()` sends Rouse's messages to absl/log:
//
//   int main(int argc, char** argv) {
//     absl::ParseCommandLine(argc, argv);
//     absl::InitializeLog();
//     rouse::VlogToAbsl();  // with --v=2, or --vmodule=absl_vlog=2
//     ...
//   }
//
// This is a target of its own, because no other part of Rouse depends on
// absl/log.

#ifndef ROUSE_BASE_LOG_ABSL_VLOG_H_
#define ROUSE_BASE_LOG_ABSL_VLOG_H_

#include "rouse/base/cxx20.h"

namespace rouse {

// VlogToAbsl()
//
// Logs Rouse's messages up to `level` with absl/log: as INFO, with the place in
// Rouse's sources, and with the level as their verbosity. The levels are those
// of `VlogMessage` (vlog.h). Without an argument, takes the level that the
// flags --v and --vmodule, or `absl::SetVLogLevel("absl_vlog", level)`, have
// set by the time of the call. Replaces an earlier `SetVlog()`. Thread-safe.
void VlogToAbsl(int level);
void VlogToAbsl();

}  // namespace rouse

#endif  // ROUSE_BASE_LOG_ABSL_VLOG_H_
