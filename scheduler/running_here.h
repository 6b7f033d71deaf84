// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: running_here.h
// -----------------------------------------------------------------------------
//
// Which runtime a thread is running tasks or a main future of: it must neither
// block there, nor be waited for. For the runtime and the scheduler.

#ifndef ROUSE_SCHEDULER_RUNNING_HERE_H_
#define ROUSE_SCHEDULER_RUNNING_HERE_H_

namespace rouse::scheduler {

// RunningHere
//
// While it lives, this thread runs `runtime`; with null it may block, whatever
// it runs otherwise. They nest: they are destroyed on the thread that made
// them, the last one first.
class RunningHere {
 public:
  explicit RunningHere(const void* runtime);
  RunningHere(const RunningHere&) = delete;
  RunningHere& operator=(const RunningHere&) = delete;
  ~RunningHere();

  // Whether this thread must not block.
  static bool MustNotBlock();

  // Whether this thread would wait for itself if it waited for `runtime`.
  static bool Runs(const void* runtime);

 private:
  const void* const runtime_;
  const RunningHere* const outer_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_RUNNING_HERE_H_
