// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: barrier.h
// -----------------------------------------------------------------------------
//
// `Barrier`: tasks that wait for one another.

#ifndef ROUSE_SYNC_BARRIER_H_
#define ROUSE_SYNC_BARRIER_H_

#include "rouse/sync/barrier/barrier.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_BARRIER_H_
