// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spawn_blocking.h
// -----------------------------------------------------------------------------
//
// `SpawnBlocking()` runs a blocking call on a thread of its own.

#ifndef ROUSE_SCHEDULER_SPAWN_BLOCKING_H_
#define ROUSE_SCHEDULER_SPAWN_BLOCKING_H_

#include "rouse/scheduler/blocking/spawn_blocking.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_SPAWN_BLOCKING_H_
