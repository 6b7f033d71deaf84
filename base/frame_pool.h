// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_pool.h
// -----------------------------------------------------------------------------
//
// `FramePool`: memory for coroutine frames and tasks, which goes back to the
// system when it is not needed.

#ifndef ROUSE_BASE_FRAME_POOL_H_
#define ROUSE_BASE_FRAME_POOL_H_

#include "rouse/base/frame/frame_pool.h"  // IWYU pragma: export

#endif  // ROUSE_BASE_FRAME_POOL_H_
