// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shared.h
// -----------------------------------------------------------------------------
//
// Exports `Shared`, a future with copies: any number of tasks wait for the
// output of one future.

#ifndef ROUSE_FUTURE_SHARED_H_
#define ROUSE_FUTURE_SHARED_H_

#include "rouse/future/shared/shared.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_SHARED_H_
