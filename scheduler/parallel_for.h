// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: parallel_for.h
// -----------------------------------------------------------------------------
//
// `ParallelFor()` is a loop whose iterations run in parallel.

#ifndef ROUSE_SCHEDULER_PARALLEL_FOR_H_
#define ROUSE_SCHEDULER_PARALLEL_FOR_H_

#include "rouse/scheduler/fork/parallel_for.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_PARALLEL_FOR_H_
