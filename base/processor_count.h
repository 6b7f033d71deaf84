// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: processor_count.h
// -----------------------------------------------------------------------------

#ifndef ROUSE_BASE_PROCESSOR_COUNT_H_
#define ROUSE_BASE_PROCESSOR_COUNT_H_

#include <cstddef>

namespace rouse {

// ProcessorCount()
//
// How many processors the calling thread, and thus each that it starts, may run
// on: `taskset` and cpusets are heeded, unlike by
// `std::thread::hardware_concurrency()`. If the process may use less time than
// that of so many processors, by the quota of its control group or one around
// it (a container's limit, as a rule), as many as that time is, rounded up: see
// `CpuQuota()`. At least 1. Some system calls; the quota is read once for the
// process.
size_t ProcessorCount();

}  // namespace rouse

#endif  // ROUSE_BASE_PROCESSOR_COUNT_H_
