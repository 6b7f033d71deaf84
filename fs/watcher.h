// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: watcher.h
// -----------------------------------------------------------------------------
//
// A `Watcher` reports changes of files and directories.

#ifndef ROUSE_FS_WATCHER_H_
#define ROUSE_FS_WATCHER_H_

#include "rouse/fs/watch/watcher.h"  // IWYU pragma: export

#endif  // ROUSE_FS_WATCHER_H_
