// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: notify.h
// -----------------------------------------------------------------------------
//
// `Notify` wakes tasks that wait for an event.

#ifndef ROUSE_SYNC_NOTIFY_H_
#define ROUSE_SYNC_NOTIFY_H_

#include "rouse/sync/notify/notify.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_NOTIFY_H_
