// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handle.h
// -----------------------------------------------------------------------------
//
// A `wheel::Handle` says which driver a sleep waits with. Sleeps without a
// handle use the thread's current handle:
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
#include <string>
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
// Refers to a driver, from any thread. A handle is a pointer; copying a handle
// counts a reference. A handle may outlive the driver: sleeping with the handle
// then gives `kUnavailable` at once, and the clock goes on.
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

  // Returns the current driver of the thread. A `Panic()` if there is no
  // current driver.
  static Handle Current();
  // Returns the current driver of the thread, if any.
  static std::optional<Handle> TryCurrent();

  // Returns the driver's clock, which lives as long as the handle.
  Clock& clock() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the length of the driver's tick.
  absl::Duration resolution() const;

  // Returns whether the driver has been shut down or destroyed.
  bool IsShutDown() const;

  // Returns whether both handles refer to the same driver.
  friend bool operator==(const Handle& a, const Handle& b) {
    return a.core_ == b.core_;
  }

  // Returns a text that distinguishes the driver, for logs, such as "timer
  // 0x5581" or "timer 0x5581 (shut down)".
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const Handle& handle) {
    sink.Append(handle.ToString());
  }

  // Makes a handle from its core, and returns the core. For timer/ itself.
  explicit Handle(internal::Core& core);
  internal::Core& core() const { return *core_; }

 private:
  internal::Core* core_;  // one reference
};

// ScopedDefault
//
// Makes `handle` the current handle of the constructing thread, for the
// lifetime of the object. Scopes nest: each must end on its own thread, the
// innermost first.
class ScopedDefault {
 public:
  explicit ScopedDefault(Handle handle);
  // Like the constructor without `shard`, but for a thread that has a shard of
  // the driver to itself, as each worker of a runtime does. REQUIRES: `shard` <
  // `Options::shards`.
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
// Calls `function()` with `handle` as the current handle, and returns the
// result.
template <class F>
decltype(auto) WithDefault(Handle handle, F&& function) {
  const ScopedDefault scope(std::move(handle));
  return std::invoke(std::forward<F>(function));
}

}  // namespace rouse::wheel

#endif  // ROUSE_TIMER_WHEEL_HANDLE_H_
