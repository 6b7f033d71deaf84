// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_set.h
// -----------------------------------------------------------------------------
//
// `JoinSet<T>` is a group of tasks, which are joined as they end.

#ifndef ROUSE_SCHEDULER_JOIN_SET_H_
#define ROUSE_SCHEDULER_JOIN_SET_H_

#include "rouse/scheduler/group/join_set.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_JOIN_SET_H_
