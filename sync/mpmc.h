// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mpmc.h
// -----------------------------------------------------------------------------
//
// `mpmc::Channel()` and `mpmc::UnboundedChannel()` make channels from many
// senders to many receivers, each message to one of them.

#ifndef ROUSE_SYNC_MPMC_H_
#define ROUSE_SYNC_MPMC_H_

#include "rouse/sync/mpmc/mpmc.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_MPMC_H_
