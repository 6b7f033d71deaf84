// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: interest.h
// -----------------------------------------------------------------------------
//
// Declares `Interest`, the kinds of readiness to wait for.

#ifndef ROUSE_REACTOR_INTEREST_H_
#define ROUSE_REACTOR_INTEREST_H_

#include "rouse/reactor/poll/interest.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_INTEREST_H_
