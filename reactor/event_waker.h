// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: event_waker.h
// -----------------------------------------------------------------------------
//
// Declares `EventWaker` for ending a `Poller::Poll()` from another thread.

#ifndef ROUSE_REACTOR_EVENT_WAKER_H_
#define ROUSE_REACTOR_EVENT_WAKER_H_

#include "rouse/reactor/poll/event_waker.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_EVENT_WAKER_H_
