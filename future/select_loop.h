// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: select_loop.h
// -----------------------------------------------------------------------------
//
// Exports `SelectLoop()`, which waits for several futures again and again, and
// handles each output by name.

#ifndef ROUSE_FUTURE_SELECT_LOOP_H_
#define ROUSE_FUTURE_SELECT_LOOP_H_

#include "rouse/future/combine/flow.h"         // IWYU pragma: export
#include "rouse/future/combine/select_arm.h"   // IWYU pragma: export
#include "rouse/future/combine/select_loop.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_SELECT_LOOP_H_
