// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: background.h
// -----------------------------------------------------------------------------
//
// `Background` drives a `Reactor` on a dedicated thread, for a program that has
// no loop of its own:
//
//   absl::StatusOr<reactor::Reactor> reactor = reactor::Reactor::Create();
//   if (!reactor.ok()) return reactor.status();
//   absl::StatusOr<reactor::Background> background =
//       reactor::Background::Start(*std::move(reactor));
//   if (!background.ok()) return background.status();
//
//   rouse::BlockOn(Fetch(background->handle()));
//   rouse::BlockOn(std::move(*background).ShutdownOnIdle());

#ifndef ROUSE_REACTOR_BACKGROUND_H_
#define ROUSE_REACTOR_BACKGROUND_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {

// Background
//
// Wakes tasks on the thread. A waker that throws terminates the program.
//
// The destructor shuts the reactor down, like `Reactor::Shutdown()`, ends the
// thread and waits for the end. The destructor must not run in a waker that the
// thread calls.
//
// Move-only; must be used by one thread at a time. A moved-from object, or an
// object ended by one of the members below, can only be destroyed.
class Background {
 public:
  class ShutdownFuture;

  // Starts a thread that drives `reactor`. Returns Unavailable if no more
  // threads can be created; `reactor` is destroyed in this case.
  static absl::StatusOr<Background> Start(Reactor reactor);

  Background(Background&&) noexcept;
  Background& operator=(Background&&) = delete;
  ~Background();

  // Returns the reactor's handle, which can outlive the thread.
  Handle handle() const;

  // Shuts the reactor down as soon as no source is registered, now or later.
  // Until then further sources can be registered. No registered source is shut
  // down.
  ShutdownFuture ShutdownOnIdle() &&;

  // Shuts the reactor down. Waiters are woken and get Unavailable.
  ShutdownFuture ShutdownNow() &&;

  // Lets the thread run until the process ends.
  void Forget() &&;

 private:
  class Driver;

  explicit Background(std::unique_ptr<Driver> driver);

  std::unique_ptr<Driver> driver_;
};

// Background::ShutdownFuture
//
// A future of void that is ready when the thread has ended. The shutdown
// proceeds even if the future is not polled. Destroying the future before it is
// ready has the effect of destroying a `Background`: the destructor does not
// wait for the reactor to become idle.
//
// Move-only. Polling a finished future is a `Panic()`.
class [[nodiscard(
    "destroying the future waits for the reactor's thread")]] Background::
    ShutdownFuture {
 public:
  ShutdownFuture(ShutdownFuture&&) noexcept;
  ShutdownFuture& operator=(ShutdownFuture&&) = delete;
  ~ShutdownFuture();

  PollResult<void> Poll(Context& cx);

 private:
  friend class Background;

  explicit ShutdownFuture(std::unique_ptr<Driver> driver);

  std::unique_ptr<Driver> driver_;  // null when finished
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_BACKGROUND_H_
