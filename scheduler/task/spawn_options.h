// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spawn_options.h
// -----------------------------------------------------------------------------
//
// Options for spawning a task:
//
//   rouse::Spawn(Accept(listener), {.name = "acceptor"});

#ifndef ROUSE_SCHEDULER_TASK_SPAWN_OPTIONS_H_
#define ROUSE_SCHEDULER_TASK_SPAWN_OPTIONS_H_

#include "rouse/base/cxx20.h"

#include <string_view>

namespace rouse {

// SpawnOptions
//
// The options of a spawned task.
struct SpawnOptions {
  // The name of the task in lists of tasks, next to the place where the task
  // was spawned. Need not be unique. The name is copied, which costs one
  // allocation. An empty name, the default, means no name, and costs nothing.
  std::string_view name = {};
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_SPAWN_OPTIONS_H_
