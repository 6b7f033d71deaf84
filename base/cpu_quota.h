// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cpu_quota.h
// -----------------------------------------------------------------------------
//
// How much processor time the control groups of Linux leave to this process:
// what limits a container.

#ifndef ROUSE_BASE_CPU_QUOTA_H_
#define ROUSE_BASE_CPU_QUOTA_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace rouse {

// CpuQuota()
//
// Of how many processors this process may use the time, rounded up: the least
// of `cpu.max` (cgroup v2) and `cpu.cfs_quota_us` (v1) of its control group and
// of all groups around that. At least 1. Nothing if there is no limit, or none
// that can be read.
//
// The files are looked for under `root`, where a test may have a tree of its
// own: `root`/proc/self/cgroup, `root`/proc/self/mountinfo, and the mount
// points that are named there. Reads some files. Thread-safe.
std::optional<size_t> CpuQuota(std::string_view root = "");

}  // namespace rouse

#endif  // ROUSE_BASE_CPU_QUOTA_H_
