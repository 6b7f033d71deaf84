// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: blocking_pool.h
// -----------------------------------------------------------------------------
//
// `BlockingPool` runs blocking calls on threads of its own, without a runtime.

#ifndef ROUSE_SCHEDULER_BLOCKING_POOL_H_
#define ROUSE_SCHEDULER_BLOCKING_POOL_H_

#include "rouse/scheduler/blocking/blocking_pool.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_BLOCKING_POOL_H_
