// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: watch.h
// -----------------------------------------------------------------------------
//
// `watch::Channel()` makes a channel that keeps only the latest value.
// Receivers can wait for changes.

#ifndef ROUSE_SYNC_WATCH_H_
#define ROUSE_SYNC_WATCH_H_

#include "rouse/sync/watch/watch.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_WATCH_H_
