// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spawn_options.h
// -----------------------------------------------------------------------------
//
// What may be said of a task when it is spawned:
//
//   rouse::Spawn(Accept(listener), {.name = "acceptor"});

#ifndef ROUSE_SCHEDULER_TASK_SPAWN_OPTIONS_H_
#define ROUSE_SCHEDULER_TASK_SPAWN_OPTIONS_H_

#include <string_view>

namespace rouse {

// SpawnOptions
struct SpawnOptions {
  // What the task is called where tasks are listed, beside the place where it
  // was spawned. It need not be unique. Copied, which costs one allocation;
  // empty, the default, is no name, and costs nothing.
  std::string_view name = {};
};

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_SPAWN_OPTIONS_H_
