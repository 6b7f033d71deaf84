// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fuse.h
// -----------------------------------------------------------------------------
//
// Exports `Fuse()`, a future that may be polled after it was ready.

#ifndef ROUSE_FUTURE_FUSE_H_
#define ROUSE_FUTURE_FUSE_H_

#include "rouse/future/single/fuse.h"  // IWYU pragma: export

#endif  // ROUSE_FUTURE_FUSE_H_
