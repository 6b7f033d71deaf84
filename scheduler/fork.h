// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fork.h
// -----------------------------------------------------------------------------
//
// `Fork()` runs several futures in parallel, as parts of one computation.

#ifndef ROUSE_SCHEDULER_FORK_H_
#define ROUSE_SCHEDULER_FORK_H_

#include "rouse/scheduler/fork/fork.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_FORK_H_
