// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: lazy.h
// -----------------------------------------------------------------------------
//
// Exports `Lazy()`, a future that calls a function at the first poll.

#ifndef ROUSE_FUTURE_LAZY_H_
#define ROUSE_FUTURE_LAZY_H_

#include "rouse/future/single/lazy.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_LAZY_H_
