// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fork_all.h
// -----------------------------------------------------------------------------
//
// `ForkAll()` runs any number of futures of one type in parallel.

#ifndef ROUSE_SCHEDULER_FORK_ALL_H_
#define ROUSE_SCHEDULER_FORK_ALL_H_

#include "rouse/scheduler/fork/fork_all.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_FORK_ALL_H_
