// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: catch_exception.h
// -----------------------------------------------------------------------------
//
// Exports `CatchException()`, which makes a status of the exception of a
// future.

#ifndef ROUSE_FUTURE_CATCH_EXCEPTION_H_
#define ROUSE_FUTURE_CATCH_EXCEPTION_H_

#include "rouse/future/single/catch_exception.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_CATCH_EXCEPTION_H_
