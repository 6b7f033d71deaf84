// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: once_cell.h
// -----------------------------------------------------------------------------
//
// `OnceCell<T>` holds a value. The first task to ask for the value computes it.

#ifndef ROUSE_SYNC_ONCE_CELL_H_
#define ROUSE_SYNC_ONCE_CELL_H_

#include "rouse/sync/once/once_cell.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_ONCE_CELL_H_
