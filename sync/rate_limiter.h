// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: rate_limiter.h
// -----------------------------------------------------------------------------
//
// `RateLimiter` makes tasks wait so that something happens at a limited rate.

#ifndef ROUSE_SYNC_RATE_LIMITER_H_
#define ROUSE_SYNC_RATE_LIMITER_H_

#include "rouse/sync/rate_limiter/rate_limiter.h"  // IWYU pragma: export

#endif  // ROUSE_SYNC_RATE_LIMITER_H_
