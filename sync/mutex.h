// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex.h
// -----------------------------------------------------------------------------
//
// `Mutex<T>`: a value that one task at a time can use.

#ifndef ROUSE_SYNC_MUTEX_H_
#define ROUSE_SYNC_MUTEX_H_

#include "rouse/sync/lock/mutex.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_MUTEX_H_
