// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: oneshot.h
// -----------------------------------------------------------------------------
//
// `oneshot::Channel()` makes a channel for a single value, from a sender to a
// receiver.

#ifndef ROUSE_SYNC_ONESHOT_H_
#define ROUSE_SYNC_ONESHOT_H_

#include "rouse/sync/oneshot/oneshot.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_ONESHOT_H_
