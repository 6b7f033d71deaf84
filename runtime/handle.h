// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handle.h
// -----------------------------------------------------------------------------
//
// A `Handle` refers to a runtime from anywhere: it spawns tasks from threads
// that are not the runtime's, and lets them use its clock and its sockets.
//
//   rouse::Handle handle = runtime.handle();
//   std::thread other([handle] { handle.Spawn(Refresh()); });

#ifndef ROUSE_RUNTIME_HANDLE_H_
#define ROUSE_RUNTIME_HANDLE_H_

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/reactor/handle.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/handle.h"

namespace rouse {

class EnterGuard;

namespace internal {

// What the handles of one runtime share. Outlives the runtime.
struct RuntimeShared {
  RuntimeShared(scheduler::Scheduler* scheduler, wheel::Handle timer,
                reactor::Handle reactor)
      : scheduler(scheduler),
        timer(std::move(timer)),
        reactor(std::move(reactor)) {}
  ~RuntimeShared() { scheduler->Unref(); }

  scheduler::Scheduler* const scheduler;  // one reference
  const wheel::Handle timer;
  const reactor::Handle reactor;
};

}  // namespace internal

// Handle
//
// Thread-safe; copying counts a reference. It may outlive its runtime: a task
// that is spawned then is cancelled at once, and joining it gives `kCancelled`.
class Handle {
 public:
  // Starts a task, from any thread: see `rouse::Spawn()`.
  template <class F>
    requires task::Spawnable<std::decay_t<F>>
  auto Spawn(F&& f) const {
    return shared_->scheduler->Spawn(std::forward<F>(f));
  }

  // Makes the runtime the current one of this thread until the guard goes:
  // `Spawn()`, `Sleep` and sockets find it.
  EnterGuard Enter() const;

  // The clock that the runtime's timers go by.
  Clock& clock() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return shared_->timer.clock();
  }

  // How many tasks have been spawned and have not ended.
  size_t alive_tasks() const { return shared_->scheduler->alive_tasks(); }

 private:
  friend class EnterGuard;
  friend class Runtime;

  explicit Handle(std::shared_ptr<const internal::RuntimeShared> shared)
      : shared_(std::move(shared)) {}

  std::shared_ptr<const internal::RuntimeShared> shared_;
};

// EnterGuard
//
// See `Handle::Enter()`. Guards nest: they are destroyed on the thread that
// made them, the last one first.
class [[nodiscard("the runtime is left when the guard goes")]] EnterGuard {
 public:
  explicit EnterGuard(const Handle& handle)
      : shared_(handle.shared_),
        scheduler_(*shared_->scheduler),
        timer_(shared_->timer),
        reactor_(shared_->reactor) {}
  EnterGuard(const EnterGuard&) = delete;
  EnterGuard& operator=(const EnterGuard&) = delete;

 private:
  const std::shared_ptr<const internal::RuntimeShared> shared_;
  const scheduler::ScopedDefault scheduler_;
  const wheel::ScopedDefault timer_;
  const reactor::ScopedDefault reactor_;
};

inline EnterGuard Handle::Enter() const { return EnterGuard(*this); }

}  // namespace rouse

#endif  // ROUSE_RUNTIME_HANDLE_H_
