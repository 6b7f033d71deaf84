// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handle.h
// -----------------------------------------------------------------------------
//
// A `wheel::Handle` says which driver a sleep waits with. Sleeps that are given
// none take the thread's current one:
//
//   wheel::Driver<ThreadParker> driver;
//   wheel::ScopedDefault current(driver.handle());
//   ... futures polled here may sleep ...
//
// A runtime does this on each of its threads.

#ifndef ROUSE_TIMER_WHEEL_HANDLE_H_
#define ROUSE_TIMER_WHEEL_HANDLE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/time/time.h"
#include "rouse/timer/clock.h"

namespace rouse::wheel {

namespace internal {
class Core;
class Shard;
}  // namespace internal

// Handle
//
// Refers to a driver, from any thread. One pointer; copying counts a reference.
// It may outlive the driver: sleeping with it then gives `kUnavailable` at
// once, and its clock goes on.
//
// A moved-from handle may only be assigned to and destroyed.
class Handle {
 public:
  Handle(const Handle& other);
  Handle(Handle&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Handle();

  // The current driver of this thread. Without one, a `Panic()`.
  static Handle Current();
  // The same, or nothing.
  static std::optional<Handle> TryCurrent();

  // The clock that the driver goes by. Lives as long as the handle.
  Clock& clock() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // The length of the driver's tick.
  absl::Duration resolution() const;

  // Whether the driver has been shut down or destroyed.
  bool IsShutDown() const;

  // Whether both refer to the same driver.
  friend bool operator==(const Handle& a, const Handle& b) {
    return a.core_ == b.core_;
  }

  // For timer/ itself.
  explicit Handle(internal::Core& core);
  internal::Core& core() const { return *core_; }

 private:
  internal::Core* core_;  // one reference
};

// ScopedDefault
//
// While it lives, `handle` is the current one of the thread that made it.
// Scopes nest: each ends on its own thread, the innermost first.
class ScopedDefault {
 public:
  explicit ScopedDefault(Handle handle);
  // For a thread that has a shard of the driver to itself, as each worker of a
  // runtime does. REQUIRES: `shard` < `Options::shards`.
  ScopedDefault(Handle handle, size_t shard);
  ScopedDefault(const ScopedDefault&) = delete;
  ScopedDefault& operator=(const ScopedDefault&) = delete;
  ~ScopedDefault();

 private:
  const Handle handle_;
  internal::Shard* const outer_;
};

// WithDefault()
//
// Calls `function()` with `handle` as the current one, and returns its result.
template <class F>
decltype(auto) WithDefault(Handle handle, F&& function) {
  const ScopedDefault scope(std::move(handle));
  return std::invoke(std::forward<F>(function));
}

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_HANDLE_H_
