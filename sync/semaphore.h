// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: semaphore.h
// -----------------------------------------------------------------------------
//
// `Semaphore` holds permits. Tasks acquire and release the permits.

#ifndef ROUSE_SYNC_SEMAPHORE_H_
#define ROUSE_SYNC_SEMAPHORE_H_

#include "rouse/sync/semaphore/semaphore.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_SEMAPHORE_H_
