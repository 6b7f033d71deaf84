// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handle.h
// -----------------------------------------------------------------------------
//
// A `reactor::Handle` says which reactor a socket is driven by. Sockets that
// are given none take the thread's current one:
//
//   absl::StatusOr<reactor::Reactor> reactor = reactor::Reactor::Create();
//   reactor::ScopedDefault current(reactor->handle());
//   ... sockets may be opened here ...
//
// A runtime does this on each of its threads.

#ifndef ROUSE_REACTOR_HANDLE_H_
#define ROUSE_REACTOR_HANDLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"

namespace rouse::reactor {

namespace internal {
class Core;
}

// Metrics
//
// What a reactor has done so far. The counts begin at zero.
struct Metrics {
  // Registered now: sockets, pipes and other sources.
  size_t sources = 0;
  // How many have ever been registered.
  uint64_t registrations = 0;
  // Events that the system has had for them, those of `Unpark()` included.
  uint64_t ready_events = 0;
};

// Handle
//
// Refers to a reactor, from any thread. One pointer; copying counts a
// reference.
//
// It may outlive the reactor: what waits for it then is told so, and what is
// registered with it is refused, by `Unavailable`. The reactor's own
// descriptors are closed when the last handle, and the last registration, has
// gone.
class Handle {
 public:
  // Refers to no reactor yet: stands for the one that is current where the
  // handle is used or, where none is, for the fallback (fallback.h).
  Handle() = default;

  Handle(const Handle& other);
  Handle(Handle&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Handle();

  // The current reactor of this thread. Without one, a `Panic()`.
  static Handle Current();
  // The same, or nothing.
  static std::optional<Handle> TryCurrent();

  // Makes this handle's reactor the fallback of the whole process, for as long
  // as that lives: for threads without a current reactor. Once, and before
  // somebody has needed one.
  //
  //   AlreadyExists        there is a fallback already
  //   FailedPrecondition   the handle is unbound
  //
  // Thread-safe. After the reactor has gone, what takes the fallback is
  // Unavailable.
  absl::Status SetFallback() const;

  // What was set by that, or started by `FallbackHandle()`, if anything was.
  static std::optional<Handle> TryFallback();

  // Whether this handle refers to a reactor.
  bool IsBound() const { return core_ != nullptr; }

  // Whether the reactor has been shut down or destroyed. False if unbound.
  bool IsShutDown() const;

  // Takes a lock for a moment. All zero if unbound.
  Metrics metrics() const;

  // Whether both refer to the same reactor.
  friend bool operator==(const Handle&, const Handle&) = default;

  // For reactor/ itself; null if unbound.
  internal::Core* core() const { return core_; }

 private:
  friend class internal::Core;

  // Takes over a reference.
  explicit Handle(internal::Core* core) : core_(core) {}

  internal::Core* core_ = nullptr;
};

// ScopedDefault
//
// While it lives, `handle` is the current one of the thread that made it. An
// unbound one hides what was current, and the fallback too: what needs a
// reactor then fails. Scopes nest: each ends on its own thread, the innermost
// first.
class ScopedDefault {
 public:
  explicit ScopedDefault(Handle handle);
  ScopedDefault(const ScopedDefault&) = delete;
  ScopedDefault& operator=(const ScopedDefault&) = delete;
  ~ScopedDefault();

  // Whether this thread is within a scope.
  static bool IsActive();

 private:
  const Handle handle_;
  const ScopedDefault* const outer_;

  friend class Handle;
};

// WithDefault()
//
// Calls `function()` with `handle` as the current one, and returns its result.
template <class F>
decltype(auto) WithDefault(Handle handle, F&& function) {
  const ScopedDefault scope(std::move(handle));
  return std::invoke(std::forward<F>(function));
}

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_HANDLE_H_
