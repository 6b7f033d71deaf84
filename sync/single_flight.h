// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: single_flight.h
// -----------------------------------------------------------------------------
//
// `SingleFlight<K, V>` lets concurrent callers share one computation.

#ifndef ROUSE_SYNC_SINGLE_FLIGHT_H_
#define ROUSE_SYNC_SINGLE_FLIGHT_H_

#include "rouse/sync/keyed/single_flight.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_SINGLE_FLIGHT_H_
