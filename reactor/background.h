// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: background.h
// -----------------------------------------------------------------------------
//
// `Background` drives a `Reactor` on a thread of its own, for a program that
// has no loop to drive it in:
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
// Tasks are woken on the thread; a waker that throws ends the program.
//
// Destroying it shuts the reactor down, as `Reactor::Shutdown()`, ends the
// thread and waits for that; not to be done from a waker that the thread calls.
//
// Move-only; for one thread at a time. What was moved from, or ended by one of
// the members below, is only to be destroyed.
class Background {
 public:
  class ShutdownFuture;

  // Unavailable if there can be no more threads; the reactor is destroyed then.
  static absl::StatusOr<Background> Start(Reactor reactor);

  Background(Background&&) noexcept;
  Background& operator=(Background&&) = delete;
  ~Background();

  // The reactor's. It outlives the thread.
  Handle handle() const;

  // Shuts the reactor down as soon as no source is registered with it, be that
  // now or later; until then more may be. None that has been registered is
  // shut down.
  ShutdownFuture ShutdownOnIdle() &&;

  // Shuts the reactor down; who waits is woken, and told Unavailable.
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
// A future of void, ready when the thread has ended; what it has begun to do
// goes on without its being polled. Destroying it before it is ready does as
// destroying a `Background` does: it does not wait for idleness any more.
//
// Move-only. Polling it when it has been ready is a `Panic()`.
class [[nodiscard(
    "destroying it waits for the thread")]] Background::ShutdownFuture {
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
