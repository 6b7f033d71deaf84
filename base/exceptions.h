// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: exceptions.h
// -----------------------------------------------------------------------------
//
// Defines `try` and `catch` macros that compile in both exception modes:
//
//   ROUSE_TRY {
//     waker.Clone();
//   } ROUSE_CATCH_ALL {
//     Unlock();
//     ROUSE_RETHROW;
//   }
//
// With `-fno-exceptions`, the first block runs, and the second block is
// compiled but never entered.

#ifndef ROUSE_BASE_EXCEPTIONS_H_
#define ROUSE_BASE_EXCEPTIONS_H_

#include "rouse/base/cxx20.h"

#include "absl/base/config.h"

#ifdef ABSL_HAVE_EXCEPTIONS
#define ROUSE_TRY try
#define ROUSE_CATCH_ALL catch (...)
#define ROUSE_RETHROW throw
#else
#define ROUSE_TRY if constexpr (true)
#define ROUSE_CATCH_ALL else
#define ROUSE_RETHROW static_cast<void>(0)
#endif

#endif  // ROUSE_BASE_EXCEPTIONS_H_
