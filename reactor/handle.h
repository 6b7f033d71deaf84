// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handle.h
// -----------------------------------------------------------------------------
//
// A `reactor::Handle` says which reactor drives a socket. Sockets without an
// explicit handle use the thread's current one:
//
//   absl::StatusOr<reactor::Reactor> reactor = reactor::Reactor::Create();
//   reactor::ScopedDefault current(reactor->handle());
//   ... sockets may be opened here ...
//
// A runtime sets the current handle on each of its threads.

#ifndef ROUSE_REACTOR_HANDLE_H_
#define ROUSE_REACTOR_HANDLE_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace rouse::reactor {

namespace internal {
class Core;
}

// Metrics
//
// Statistics of a reactor. The counts begin at zero.
struct Metrics {
  // Number of sockets, pipes and other sources that are registered now.
  size_t sources = 0;
  // Number of registrations since the start.
  uint64_t registrations = 0;
  // Number of events that the system has reported, including those of
  // `Unpark()`.
  uint64_t ready_events = 0;

  // Returns the statistics, for logs, such as "3 sources, 10 registrations, 42
  // events".
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const Metrics& metrics) {
    sink.Append(metrics.ToString());
  }
};

// Handle
//
// Refers to a reactor, from any thread. One pointer; copying counts a
// reference.
//
// A handle can outlive the reactor: pending waits then fail with `Unavailable`,
// and so do new registrations. The reactor's own descriptors are closed when
// the last handle is destroyed and the last registration has ended.
class Handle {
 public:
  // Makes an unbound handle. It stands for the handle that is current at the
  // place of use or, without a current handle, for the fallback (fallback.h).
  Handle() = default;

  Handle(const Handle& other);
  Handle(Handle&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Handle();

  // Returns the current reactor of this thread. Panics if no reactor is
  // current.
  static Handle Current();
  // Returns the current reactor of this thread, or `std::nullopt`.
  static std::optional<Handle> TryCurrent();

  // Makes this handle's reactor the fallback of the whole process, for threads
  // without a current reactor, until the process ends. Succeeds only once, and
  // only before any thread has needed a fallback.
  //
  //   AlreadyExists        a fallback exists already
  //   FailedPrecondition   the handle is unbound
  //
  // Thread-safe. After the reactor is destroyed, uses of the fallback fail with
  // Unavailable.
  absl::Status SetFallback() const;

  // Returns the fallback set by `SetFallback()` or started by
  // `FallbackHandle()`, or `std::nullopt` if no fallback exists.
  static std::optional<Handle> TryFallback();

  // Returns whether this handle refers to a reactor.
  bool IsBound() const { return core_ != nullptr; }

  // Returns whether the reactor has been shut down or destroyed. Returns false
  // if unbound.
  bool IsShutDown() const;

  // Returns the reactor's statistics, or zeros if unbound. Takes a lock
  // briefly.
  Metrics metrics() const;

  // Returns whether both handles refer to the same reactor.
  friend bool operator==(const Handle&, const Handle&) = default;

  // Returns a text that distinguishes the reactor, for logs, such as "reactor
  // 0x5581", "reactor 0x5581 (shut down)" or "no reactor".
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const Handle& handle) {
    sink.Append(handle.ToString());
  }

  // Returns the reactor's core, for use in reactor/ only, or null if unbound.
  internal::Core* core() const { return core_; }

 private:
  friend class internal::Core;

  // Takes over a reference.
  explicit Handle(internal::Core* core) : core_(core) {}

  internal::Core* core_ = nullptr;
};

// ScopedDefault
//
// Makes `handle` the current handle of the constructing thread for the lifetime
// of the scope. An unbound `handle` hides the outer current handle and the
// fallback: operations that need a reactor then fail. Scopes nest; each must
// end on the thread that made it, the innermost first.
class ScopedDefault {
 public:
  explicit ScopedDefault(Handle handle);
  ScopedDefault(const ScopedDefault&) = delete;
  ScopedDefault& operator=(const ScopedDefault&) = delete;
  ~ScopedDefault();

  // Returns whether this thread is within a scope.
  static bool IsActive();

 private:
  const Handle handle_;
  const ScopedDefault* const outer_;

  friend class Handle;
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

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_HANDLE_H_
