// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: any_future.h
// -----------------------------------------------------------------------------
//
// Exports `AnyFuture`, which holds a future of any type.

#ifndef ROUSE_FUTURE_ANY_FUTURE_H_
#define ROUSE_FUTURE_ANY_FUTURE_H_

#include "rouse/future/any/any_future.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_ANY_FUTURE_H_
