// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: broadcast.h
// -----------------------------------------------------------------------------
//
// `broadcast::Channel()` makes a channel from many senders to many receivers:
// every receiver gets every message.

#ifndef ROUSE_SYNC_BROADCAST_H_
#define ROUSE_SYNC_BROADCAST_H_

#include "rouse/sync/broadcast/broadcast.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_BROADCAST_H_
