// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: co.h
// -----------------------------------------------------------------------------
//
// Exports `Co<T>`, a coroutine that is a future.

#ifndef ROUSE_FUTURE_CO_H_
#define ROUSE_FUTURE_CO_H_

#include "rouse/future/co/co.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_CO_H_
