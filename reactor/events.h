// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: events.h
// -----------------------------------------------------------------------------
//
// Declares `Events`, the result of `Poller::Poll()`.

#ifndef ROUSE_REACTOR_EVENTS_H_
#define ROUSE_REACTOR_EVENTS_H_

#include "rouse/reactor/poll/events.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_EVENTS_H_
