// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cpu_quota.h
// -----------------------------------------------------------------------------
//
// Reports how much processor time the control groups of Linux grant to this
// process, such as the limit of a container.

#ifndef ROUSE_BASE_CPU_QUOTA_H_
#define ROUSE_BASE_CPU_QUOTA_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace rouse {

// CpuQuota()
//
// Returns the number of processors whose time this process may use, rounded up.
// The result is the minimum of `cpu.max` (cgroup v2) and `cpu.cfs_quota_us`
// (v1) over the process's control group and all enclosing groups, and at least
// 1. Returns `std::nullopt` if no limit exists or can be read.
//
// Searches for the files under `root`, where a test can put a tree of its own:
// `root`/proc/self/cgroup, `root`/proc/self/mountinfo, and the mount points
// named there. Reads some files. Thread-safe.
std::optional<size_t> CpuQuota(std::string_view root = "");

}  // namespace rouse

#endif  // ROUSE_BASE_CPU_QUOTA_H_
