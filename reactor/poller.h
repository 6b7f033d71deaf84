// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poller.h
// -----------------------------------------------------------------------------
//
// Declares `Poller` for waiting for the readiness of sources, like epoll.

#ifndef ROUSE_REACTOR_POLLER_H_
#define ROUSE_REACTOR_POLLER_H_

#include "rouse/reactor/poll/poller.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_POLLER_H_
