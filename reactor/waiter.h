// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: waiter.h
// -----------------------------------------------------------------------------
//
// Declares `Waiter` for waiting for the readiness of a registered source.

#ifndef ROUSE_REACTOR_WAITER_H_
#define ROUSE_REACTOR_WAITER_H_

#include "rouse/reactor/slot/waiter.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_WAITER_H_
