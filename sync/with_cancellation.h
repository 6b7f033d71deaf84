// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: with_cancellation.h
// -----------------------------------------------------------------------------
//
// Exports `WithCancellation()`, which ends a future or a stream when a
// `CancellationToken` is cancelled.

#ifndef ROUSE_SYNC_WITH_CANCELLATION_H_
#define ROUSE_SYNC_WITH_CANCELLATION_H_

#include "rouse/sync/cancellation/with_cancellation.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_WITH_CANCELLATION_H_
