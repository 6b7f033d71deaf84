// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex.h
// -----------------------------------------------------------------------------
//
// `Mutex<T>` holds a value for use by one task at a time.

#ifndef ROUSE_SYNC_MUTEX_H_
#define ROUSE_SYNC_MUTEX_H_

#include "rouse/sync/lock/mutex.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_MUTEX_H_
