// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: source.h
// -----------------------------------------------------------------------------
//
// Declares `Source`, the concept of an object to register with a `Registry`.

#ifndef ROUSE_REACTOR_SOURCE_H_
#define ROUSE_REACTOR_SOURCE_H_

#include "rouse/reactor/poll/source.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_SOURCE_H_
