// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: registry.h
// -----------------------------------------------------------------------------
//
// Declares `Registry`, the set of sources of a `Poller`.

#ifndef ROUSE_REACTOR_REGISTRY_H_
#define ROUSE_REACTOR_REGISTRY_H_

#include "rouse/reactor/poll/registry.h"  // IWYU pragma: export

#endif  // ROUSE_REACTOR_REGISTRY_H_
