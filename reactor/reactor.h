// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reactor.h
// -----------------------------------------------------------------------------
//
// A `Reactor` wakes the tasks that wait for sockets. It is the bottom of a
// runtime's park stack (see "rouse/waker/park.h"), and works alone as well:
//
//   absl::StatusOr<reactor::Reactor> reactor = reactor::Reactor::Create();
//   reactor::ScopedDefault current(reactor->handle());
//   auto connect = rouse::TcpStream::Connect(address);
//   const Waker waker = Waker::FromCallable(
//       [unparker = reactor->unparker()] { unparker.Unpark(); });
//   for (;;) {
//     Context cx(waker);
//     auto stream = connect.Poll(cx);
//     if (stream.IsReady()) break;
//     reactor->Park();     // until something has happened
//   }
//
// # In another event loop
//
// A loop that waits for descriptors can wait for a reactor, as for one of them:
//
//   for (;;) {
//     ... poll the futures ...
//     const int timeout = reactor->PrepareToWait() ? -1 : 0;
//     ... poll(2) reactor->fd() and other descriptors with this timeout ...
//     absl::StatusOr<size_t> events = reactor->Turn(absl::ZeroDuration());
//   }

#ifndef ROUSE_REACTOR_REACTOR_H_
#define ROUSE_REACTOR_REACTOR_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/events.h"

namespace rouse::reactor {

// Options
struct Options {
  // How many sources may be registered at once; more are refused with
  // ResourceExhausted. Cut to what the table of sources can hold, 8,388,544.
  uint32_t max_sources = (uint32_t{1} << 22) - 1;

  // How many events one turn takes from the operating system, 1 to 1024. What
  // is left is taken by the next turn.
  size_t events_per_turn = 1024;
};

// Reactor
//
// A `Park`. Movable. One thread at a time turns or parks it; a second one at
// the same time is a `Panic()`. Unparkers, handles and registrations are for
// any thread.
//
// Destroying it shuts it down.
//
// A process that is forked off has no use of it, and may only call `exec()` or
// `_exit()`: the event queue stays the parent's too.
class Reactor {
 public:
  // Unparks. One pointer; copying counts a reference.
  class Unparker {
   public:
    // Ends the current `Park()` or else the next one. Does nothing after the
    // reactor has gone. What came before the call is visible after the park.
    // Makes a system call only if a thread is parked, or about to be.
    void Unpark() const;

   private:
    friend class Reactor;
    explicit Unparker(Handle handle) : handle_(std::move(handle)) {}

    Handle handle_;
  };

  // Fails where descriptors or memory are exhausted: ResourceExhausted.
  static absl::StatusOr<Reactor> Create(const Options& options = Options());

  Reactor(Reactor&&) noexcept = default;
  Reactor& operator=(Reactor&&) = delete;
  ~Reactor();

  // Refers to this reactor, also after it has gone.
  const Handle& handle() const { return handle_; }
  Unparker unparker() const;

  // Waits until there is an event or an unpark, for `max_wait` at the most (as
  // at `Poller::Poll()`: on the monotonic clock, zero or less does not wait),
  // and wakes whom the events concern. Returns how many events there were; may
  // return early with none. Uses up an unpark that came before or meanwhile.
  //
  // After a shutdown, Unavailable. If a waker throws, all others are called
  // first.
  absl::StatusOr<size_t> Turn(absl::Duration max_wait);

  // The same for whom it is no use to know more. Return at once after a
  // shutdown. A failing poll is a `Panic()`: the descriptor has been closed by
  // somebody else.
  void Park() { ParkFor(absl::InfiniteDuration()); }
  void ParkFor(absl::Duration max_wait);

  // Returns the descriptor of the event queue, for an event loop that waits for
  // more than this reactor. It stays the reactor's. It is readable while
  // `Turn()` would find events, and, after `PrepareToWait()`, once there is an
  // unpark. It may be readable for no reason. A loop that waits for edges
  // (EPOLLET) must turn the reactor until a turn finds fewer events than
  // `Options::events_per_turn`: there is no new edge for what a full turn has
  // left. Not in what was moved from.
  int fd() const;

  // Prepares a wait for `fd()` to be readable, which an unpark ends from here
  // on until the next turn. Returns false if a turn is due at once: an unpark
  // has come that no turn has used up, or the reactor has been shut down. For
  // the thread that turns the reactor, right before each such wait; a turn at
  // the same time is a `Panic()`.
  bool PrepareToWait();

  // Wakes all that wait, and ends a park. All operations on sources of this
  // reactor answer Unavailable from here on. Thread-safe; a second call does
  // nothing.
  void Shutdown();

  // Whether no source is registered.
  bool IsIdle() const;

 private:
  Reactor(Handle handle, size_t events_per_turn);

  Handle handle_;  // unbound in what was moved from
  Events events_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_REACTOR_H_
