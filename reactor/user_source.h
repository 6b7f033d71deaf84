// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: user_source.h
// -----------------------------------------------------------------------------
//
// Declares `UserSource`, the source of a program.

#ifndef ROUSE_REACTOR_USER_SOURCE_H_
#define ROUSE_REACTOR_USER_SOURCE_H_

#include "rouse/reactor/poll/user_source.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_USER_SOURCE_H_
