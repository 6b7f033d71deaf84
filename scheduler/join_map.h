// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_map.h
// -----------------------------------------------------------------------------
//
// `JoinMap<K, T>` is a group of tasks with keys.

#ifndef ROUSE_SCHEDULER_JOIN_MAP_H_
#define ROUSE_SCHEDULER_JOIN_MAP_H_

#include "rouse/scheduler/group/join_map.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_JOIN_MAP_H_
