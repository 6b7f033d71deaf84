// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: race.h
// -----------------------------------------------------------------------------
//
// Exports `Race()`, which waits for the first of several futures of the same
// type.

#ifndef ROUSE_FUTURE_RACE_H_
#define ROUSE_FUTURE_RACE_H_

#include "rouse/future/combine/race.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_RACE_H_
