// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: parallel_reduce.h
// -----------------------------------------------------------------------------
//
// `ParallelReduce()` combines the results of calls that run in parallel.

#ifndef ROUSE_SCHEDULER_PARALLEL_REDUCE_H_
#define ROUSE_SCHEDULER_PARALLEL_REDUCE_H_

#include "rouse/scheduler/fork/parallel_reduce.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_PARALLEL_REDUCE_H_
