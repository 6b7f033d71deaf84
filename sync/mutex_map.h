// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex_map.h
// -----------------------------------------------------------------------------
//
// `MutexMap<K>` is a lock for each key.

#ifndef ROUSE_SYNC_MUTEX_MAP_H_
#define ROUSE_SYNC_MUTEX_MAP_H_

#include "rouse/sync/keyed/mutex_map.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_MUTEX_MAP_H_
