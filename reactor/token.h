// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: token.h
// -----------------------------------------------------------------------------
//
// Declares `Token`, the name of a source in the events of a `Poller`.

#ifndef ROUSE_REACTOR_TOKEN_H_
#define ROUSE_REACTOR_TOKEN_H_

#include "rouse/reactor/poll/token.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_TOKEN_H_
