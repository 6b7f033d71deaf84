// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: metrics.h
// -----------------------------------------------------------------------------
//
// What a runtime has done so far, and what waits in it now:
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
// A copy, made by `Runtime::metrics()` or `Handle::metrics()`, on any thread
// and at any time, also when the runtime has gone. Its parts are read one after
// another while the runtime goes on: they are of about the same moment. To make
// it is O(workers), and takes one lock, that of the blocking pool.
struct RuntimeMetrics : scheduler::Metrics {
  // The threads for `SpawnBlocking()`, and the calls that wait for one. (Those
  // that stand in for workers inside `BlockInPlace()` do not count.)
  scheduler::BlockingPool::Metrics blocking;
  // The threads for lookups of names, and the lookups that wait for one.
  scheduler::BlockingPool::Metrics lookups;
  // The sources of the runtime's reactor, and the events that it has seen.
  reactor::Metrics reactor;
};

}  // namespace rouse

#endif  // ROUSE_RUNTIME_METRICS_H_
