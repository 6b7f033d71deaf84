// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: barrier.h
// -----------------------------------------------------------------------------
//
// `Barrier` makes tasks wait for each other.

#ifndef ROUSE_SYNC_BARRIER_H_
#define ROUSE_SYNC_BARRIER_H_

#include "rouse/sync/barrier/barrier.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_BARRIER_H_
