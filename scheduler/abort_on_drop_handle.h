// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: abort_on_drop_handle.h
// -----------------------------------------------------------------------------
//
// `AbortOnDropHandle<T>` is a handle whose destruction aborts the task.

#ifndef ROUSE_SCHEDULER_ABORT_ON_DROP_HANDLE_H_
#define ROUSE_SCHEDULER_ABORT_ON_DROP_HANDLE_H_

#include "rouse/scheduler/group/abort_on_drop_handle.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_ABORT_ON_DROP_HANDLE_H_
