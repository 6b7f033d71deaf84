// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mpsc.h
// -----------------------------------------------------------------------------
//
// `mpsc::Channel()` and `mpsc::UnboundedChannel()` make channels from many
// senders to a single receiver.

#ifndef ROUSE_SYNC_MPSC_H_
#define ROUSE_SYNC_MPSC_H_

#include "rouse/sync/mpsc/mpsc.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_MPSC_H_
