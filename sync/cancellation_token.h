// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cancellation_token.h
// -----------------------------------------------------------------------------
//
// `CancellationToken` notifies any number of tasks of a cancellation.

#ifndef ROUSE_SYNC_CANCELLATION_TOKEN_H_
#define ROUSE_SYNC_CANCELLATION_TOKEN_H_

#include "rouse/sync/cancellation/cancellation_token.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_CANCELLATION_TOKEN_H_
