// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: abortable.h
// -----------------------------------------------------------------------------
//
// Exports `Abortable()`, which lets other code end a future.

#ifndef ROUSE_FUTURE_ABORTABLE_H_
#define ROUSE_FUTURE_ABORTABLE_H_

#include "rouse/future/single/abortable.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_ABORTABLE_H_
