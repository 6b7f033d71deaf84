// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: metrics.h
// -----------------------------------------------------------------------------
//
// `RuntimeMetrics` shows the past work of a runtime, and its queues now:
//
//   const rouse::RuntimeMetrics metrics = runtime.metrics();
//   LOG(INFO) << metrics.alive_tasks << " tasks, " << metrics.blocking.threads
//             << " blocking threads";

#ifndef ROUSE_RUNTIME_METRICS_H_
#define ROUSE_RUNTIME_METRICS_H_

#include "rouse/reactor/handle.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/metrics.h"

namespace rouse {

// RuntimeMetrics
//
// A copy of a runtime's counters. `Runtime::metrics()` and `Handle::metrics()`
// make a copy on any thread and at any time, even after the runtime was
// destroyed. The parts are read in sequence while the runtime keeps running, so
// they are of about the same moment. Making a copy is O(workers), and takes a
// single lock, the lock of the blocking pool.
struct RuntimeMetrics : scheduler::Metrics {
  // The threads for `SpawnBlocking()`, and the calls waiting for such a thread.
  // (Replacements of workers inside `BlockInPlace()` do not count.)
  scheduler::BlockingPool::Metrics blocking;
  // The threads for name lookups, and for calls on standard streams that may
  // never end (process/standard_streams.h), and the lookups and calls waiting
  // for such a thread.
  scheduler::BlockingPool::Metrics lookups;
  // The sources of the runtime's reactor, and the events seen by the reactor.
  reactor::Metrics reactor;
};

}  // namespace rouse

#endif  // ROUSE_RUNTIME_METRICS_H_
