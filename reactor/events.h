// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: events.h
// -----------------------------------------------------------------------------
//
// `Events`: what a `Poller` has found.

#ifndef ROUSE_REACTOR_EVENTS_H_
#define ROUSE_REACTOR_EVENTS_H_

#include "rouse/reactor/poll/events.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_EVENTS_H_
