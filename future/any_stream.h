// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: any_stream.h
// -----------------------------------------------------------------------------
//
// Exports `AnyStream`, which holds a stream of any type.

#ifndef ROUSE_FUTURE_ANY_STREAM_H_
#define ROUSE_FUTURE_ANY_STREAM_H_

#include "rouse/future/any/any_stream.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_ANY_STREAM_H_
