// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: try_join.h
// -----------------------------------------------------------------------------
//
// Exports `TryJoin()`, which waits for all of several futures, or for the first
// error.

#ifndef ROUSE_FUTURE_TRY_JOIN_H_
#define ROUSE_FUTURE_TRY_JOIN_H_

#include "rouse/future/combine/try_join.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_TRY_JOIN_H_
