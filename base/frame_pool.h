// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_pool.h
// -----------------------------------------------------------------------------
//
// Exports `FramePool`, the memory for coroutine frames and tasks, which is
// returned to the system when not needed.

#ifndef ROUSE_BASE_FRAME_POOL_H_
#define ROUSE_BASE_FRAME_POOL_H_

#include "rouse/base/frame/frame_pool.h"  // IWYU pragma: export

#endif  // ROUSE_BASE_FRAME_POOL_H_
