// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: event_waker.h
// -----------------------------------------------------------------------------
//
// `EventWaker`: wakes a thread that waits in a `Poller`.

#ifndef ROUSE_REACTOR_EVENT_WAKER_H_
#define ROUSE_REACTOR_EVENT_WAKER_H_

#include "rouse/reactor/poll/event_waker.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_EVENT_WAKER_H_
