// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: set_once.h
// -----------------------------------------------------------------------------
//
// `SetOnce<T>` holds a value that is set once. Tasks can wait for the value.

#ifndef ROUSE_SYNC_SET_ONCE_H_
#define ROUSE_SYNC_SET_ONCE_H_

#include "rouse/sync/once/set_once.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_SET_ONCE_H_
