// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_queue.h
// -----------------------------------------------------------------------------
//
// `JoinQueue<T>` is a group of tasks, which are joined in the order of
// spawning.

#ifndef ROUSE_SCHEDULER_JOIN_QUEUE_H_
#define ROUSE_SCHEDULER_JOIN_QUEUE_H_

#include "rouse/scheduler/group/join_queue.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_JOIN_QUEUE_H_
