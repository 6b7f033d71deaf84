// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: processor_count.h
// -----------------------------------------------------------------------------

#ifndef ROUSE_BASE_PROCESSOR_COUNT_H_
#define ROUSE_BASE_PROCESSOR_COUNT_H_

#include "rouse/base/cxx20.h"

#include <cstddef>

namespace rouse {

// ProcessorCount()
//
// Returns the number of processors on which the calling thread, and thus each
// thread started by the calling thread, may run. Unlike
// `std::thread::hardware_concurrency()`, the result respects `taskset` and
// cpusets. If the quota of the process's control group or of an enclosing group
// (usually a container's limit) grants less time than this number of processors
// has, the result is that time in processors, rounded up: see `CpuQuota()`. At
// least 1. Makes some system calls. The quota is read once for the process.
size_t ProcessorCount();

}  // namespace rouse

#endif  // ROUSE_BASE_PROCESSOR_COUNT_H_
