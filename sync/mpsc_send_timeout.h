// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mpsc_send_timeout.h
// -----------------------------------------------------------------------------
//
// `mpsc::SendTimeout()` sends a message, and waits for room for a limited time.

#ifndef ROUSE_SYNC_MPSC_SEND_TIMEOUT_H_
#define ROUSE_SYNC_MPSC_SEND_TIMEOUT_H_

#include "rouse/sync/mpsc/send_timeout.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_MPSC_SEND_TIMEOUT_H_
