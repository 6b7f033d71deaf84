// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unhandled.h
// -----------------------------------------------------------------------------
//
// Describes and logs an exception that has ended a task. Internal to the
// scheduler.

#ifndef ROUSE_SCHEDULER_TASK_UNHANDLED_H_
#define ROUSE_SCHEDULER_TASK_UNHANDLED_H_

#include <exception>
#include <functional>
#include <string>

#include "rouse/scheduler/task/task_meta.h"

namespace rouse {

// UnhandledExceptionCallback
//
// Called with a task that an exception has ended, and with the exception, if
// the exception was never taken: see `UnhandledException::kLog`.
using UnhandledExceptionCallback =
    std::function<void(const TaskMeta&, const std::exception_ptr&)>;

namespace task {

// Returns "task 17 (spawned at x.cc:12) ended with an exception: what it says".
// The last part is missing if the exception is not a `std::exception`.
std::string DescribeThrown(const TaskMeta& task,
                           const std::exception_ptr& exception);

// Logs the description, as an error. Never throws: if memory runs out, the
// logged message is shorter.
void LogUnhandled(const TaskMeta& task,
                  const std::exception_ptr& exception) noexcept;

}  // namespace task

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_TASK_UNHANDLED_H_
