// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: paused_time.h
// -----------------------------------------------------------------------------
//
// The earlier path of `testing/paused_time.h`.

#ifndef ROUSE_RUNTIME_PAUSED_TIME_H_
#define ROUSE_RUNTIME_PAUSED_TIME_H_

#include "rouse/testing/paused_time.h"  // IWYU pragma: export

#endif  // ROUSE_RUNTIME_PAUSED_TIME_H_
