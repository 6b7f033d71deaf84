// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: task_tracker.h
// -----------------------------------------------------------------------------
//
// `TaskTracker` waits until all tasks of a group have ended.

#ifndef ROUSE_SCHEDULER_TASK_TRACKER_H_
#define ROUSE_SCHEDULER_TASK_TRACKER_H_

#include "rouse/scheduler/group/task_tracker.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_TASK_TRACKER_H_
