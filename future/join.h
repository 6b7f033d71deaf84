// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join.h
// -----------------------------------------------------------------------------
//
// Exports `Join()`, which waits for all of several futures.

#ifndef ROUSE_FUTURE_JOIN_H_
#define ROUSE_FUTURE_JOIN_H_

#include "rouse/future/combine/join.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_JOIN_H_
