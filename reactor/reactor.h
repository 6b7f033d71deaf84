// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reactor.h
// -----------------------------------------------------------------------------
//
// A `Reactor` wakes the tasks that wait for sockets. A reactor is the bottom of
// a runtime's park stack (see "rouse/waker/park.h"), and also works alone:
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
// A loop that waits for descriptors can include a reactor's descriptor:
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
//
// The options of a reactor.
struct Options {
  // Maximum number of sources registered at once; further registrations fail
  // with ResourceExhausted. Capped at the capacity of the table of sources,
  // 8,388,544.
  uint32_t max_sources = (uint32_t{1} << 22) - 1;

  // Maximum number of events that one turn takes from the operating system, 1
  // to 1024. The next turn takes the remaining events.
  size_t events_per_turn = 1024;
};

// Reactor
//
// A `Park`. Movable. One thread at a time can turn or park the reactor;
// a second thread that does so concurrently causes a `Panic()`. Unparkers,
// handles and registrations can be used by any thread.
//
// The destructor shuts the reactor down.
//
// A forked child process cannot use the reactor, because the event queue still
// belongs to the parent too: the child must call only `exec()` or `_exit()`.
class Reactor {
 public:
  // Unparks the reactor. One pointer; copying counts a reference.
  class Unparker {
   public:
    // Ends the current `Park()` or, if none is in progress, the next one. Does
    // nothing after the reactor is destroyed. Writes before the call are
    // visible after the park. Makes a system call only if a thread is parked,
    // or about to be.
    void Unpark() const;

   private:
    friend class Reactor;
    explicit Unparker(Handle handle) : handle_(std::move(handle)) {}

    Handle handle_;
  };

  // Makes a reactor. Returns ResourceExhausted if out of descriptors or memory.
  static absl::StatusOr<Reactor> Create(const Options& options = Options());

  Reactor(Reactor&&) noexcept = default;
  Reactor& operator=(Reactor&&) = delete;
  ~Reactor();

  // Returns a handle to this reactor, which can outlive the reactor.
  const Handle& handle() const { return handle_; }
  Unparker unparker() const;

  // Waits until an event or an unpark occurs, for at most `max_wait` (on the
  // monotonic clock, like `Poller::Poll()`; zero or less does not wait), and
  // wakes the waiters that the events concern. Returns the number of events;
  // may return early with none. Uses up an unpark from before or during the
  // call.
  //
  // Returns Unavailable after a shutdown. If a waker throws, all other wakers
  // are called first.
  absl::StatusOr<size_t> Turn(absl::Duration max_wait);

  // Like `Turn()`, for callers that need no result. Return at once after a
  // shutdown. A failing poll is a `Panic()`, because it means that the
  // descriptor was closed from outside.
  void Park() { ParkFor(absl::InfiniteDuration()); }
  void ParkFor(absl::Duration max_wait);

  // Returns the descriptor of the event queue, for an event loop that waits for
  // more than this reactor. The reactor continues to own the descriptor.
  //
  // The descriptor is readable while `Turn()` would find events and, after
  // `PrepareToWait()`, as soon as an unpark occurs. The descriptor may also be
  // readable without a reason. A loop that waits for edges (EPOLLET) must turn
  // the reactor until a turn finds fewer events than
  // `Options::events_per_turn`, because the events that a full turn leaves
  // behind raise no new edge.
  //
  // REQUIRES: the reactor was not moved from.
  int fd() const;

  // Prepares a wait for `fd()` to become readable: from now until the next
  // turn, an unpark ends such a wait. Returns false if a turn is due at once,
  // because an earlier unpark has not been used up by a turn, or the reactor
  // has been shut down. Must be called by the thread that turns the reactor,
  // right before each such wait; a concurrent turn is a `Panic()`.
  bool PrepareToWait();

  // Makes `fd()` readable until the next turn, even without `PrepareToWait()`:
  // for a thread that has turned the reactor by itself while an event loop
  // relies on the descriptor. Thread-safe. Costs a system call.
  void RequestTurn();

  // Wakes all waiters and ends a park. From now on all operations on sources of
  // this reactor return Unavailable. Thread-safe; a second call does nothing.
  void Shutdown();

  // Returns whether no source is registered.
  bool IsIdle() const;

 private:
  Reactor(Handle handle, size_t events_per_turn);

  Handle handle_;  // unbound if moved from
  Events events_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_REACTOR_H_
