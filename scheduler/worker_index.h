// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker_index.h
// -----------------------------------------------------------------------------
//
// `WorkerIndex()` says which worker a thread runs, for statistics that threads
// do not share:
//
//   if (std::optional<size_t> worker = rouse::WorkerIndex()) {
//     ++hits[*worker].value;
//   }

#ifndef ROUSE_SCHEDULER_WORKER_INDEX_H_
#define ROUSE_SCHEDULER_WORKER_INDEX_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <optional>

namespace rouse {

// WorkerIndex()
//
// Returns the index of the worker run by the calling thread, from 0 and below
// `RuntimeMetrics::workers.size()`. Returns `nullopt` on other threads and
// inside `BlockInPlace()`. A task may get another index after each suspension.
// Costs as much as reading a thread-local variable.
std::optional<size_t> WorkerIndex();

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_WORKER_INDEX_H_
