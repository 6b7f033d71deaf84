// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: local_set.h
// -----------------------------------------------------------------------------
//
// `LocalSet` is a set of tasks that stay on the thread running the set.

#ifndef ROUSE_SCHEDULER_LOCAL_SET_H_
#define ROUSE_SCHEDULER_LOCAL_SET_H_

#include "rouse/scheduler/local/local_set.h"  // IWYU pragma: export

#endif  // ROUSE_SCHEDULER_LOCAL_SET_H_
