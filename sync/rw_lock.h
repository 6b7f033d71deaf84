// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: rw_lock.h
// -----------------------------------------------------------------------------
//
// `RwLock<T>` holds a value for one writer or many readers.

#ifndef ROUSE_SYNC_RW_LOCK_H_
#define ROUSE_SYNC_RW_LOCK_H_

#include "rouse/sync/lock/rw_lock.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_RW_LOCK_H_
