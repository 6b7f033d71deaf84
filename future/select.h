// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: select.h
// -----------------------------------------------------------------------------
//
// Exports `Select()`, which waits for the first of several futures and destroys
// the others.

#ifndef ROUSE_FUTURE_SELECT_H_
#define ROUSE_FUTURE_SELECT_H_

#include "rouse/future/combine/select.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_SELECT_H_
