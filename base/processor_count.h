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
// `std::thread::hardware_concurrency()`. Quotas of processor time, such as a
// container's, are not. At least 1. A system call.
size_t ProcessorCount();

}  // namespace rouse

#endif  // ROUSE_BASE_PROCESSOR_COUNT_H_
