// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: gen.h
// -----------------------------------------------------------------------------
//
// Exports `Gen<T>`, a coroutine that is a stream.

#ifndef ROUSE_FUTURE_GEN_H_
#define ROUSE_FUTURE_GEN_H_

#include "rouse/future/co/gen.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_GEN_H_
