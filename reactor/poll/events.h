// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: events.h
// -----------------------------------------------------------------------------
//
// The events that one `Poller::Poll()` has found.

#ifndef ROUSE_REACTOR_POLL_EVENTS_H_
#define ROUSE_REACTOR_POLL_EVENTS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "rouse/base/panic.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"

namespace rouse::reactor {

namespace internal {
class Selector;
}

// Event
//
// Describes what happened to the sources registered under one token. The
// predicates map the bits of epoll(7) as follows:
//
//   IsReadable      EPOLLIN or EPOLLPRI
//   IsWritable      EPOLLOUT
//   IsReadClosed    EPOLLHUP, or EPOLLIN with EPOLLRDHUP
//   IsWriteClosed   EPOLLHUP, or EPOLLOUT with EPOLLERR, or EPOLLERR alone
//   IsPriority      EPOLLPRI
//   IsError         EPOLLERR
//
// A closed source is usually readable and writable too: the next call on the
// source shows the closure.
class Event {
 public:
  Event(Token token, Ready ready) : token_(token), ready_(ready) {}

  // Returns the token under which the sources are registered.
  Token token() const { return token_; }
  // Returns all states that were reported.
  Ready ready() const { return ready_; }

  // Returns whether the state of this name was reported: see above.
  bool IsReadable() const { return ready_.IsReadable(); }
  bool IsWritable() const { return ready_.IsWritable(); }
  bool IsReadClosed() const { return ready_.IsReadClosed(); }
  bool IsWriteClosed() const { return ready_.IsWriteClosed(); }
  bool IsPriority() const { return ready_.IsPriority(); }
  bool IsError() const { return ready_.IsError(); }

  // Formats the event, for logs, such as "token 7: readable".
  template <class Sink>
  friend void AbslStringify(Sink& sink, const Event& event) {
    sink.Append("token ");
    AbslStringify(sink, event.token_);
    sink.Append(": ");
    AbslStringify(sink, event.ready_);
  }

 private:
  Token token_;
  Ready ready_;
};

// Events
//
// A reusable buffer for events. Not thread-safe.
class Events {
 public:
  using const_iterator = const Event*;

  // Makes room for at most `capacity` events from one poll. The next poll
  // returns the events that do not fit. The constructor makes the only
  // allocation. REQUIRES: `capacity` is at least 1.
  explicit Events(size_t capacity)
      : events_(capacity, Event(Token(), Ready())) {
    if (capacity == 0) {
      Panic("Events: the capacity is 0; choose at least 1");
    }
  }

  // A moved-from buffer has no events, and no room for any.
  Events(Events&& other) noexcept
      : events_(std::exchange(other.events_, {})),
        size_(std::exchange(other.size_, 0)) {}
  Events& operator=(Events&& other) noexcept {
    events_ = std::exchange(other.events_, {});
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // Returns the maximum number of events from one poll.
  size_t capacity() const { return events_.size(); }
  // Returns the number of events in the buffer.
  size_t size() const { return size_; }
  bool IsEmpty() const { return size_ == 0; }
  // Removes the events. `Poller::Poll()` does so itself.
  void Clear() { size_ = 0; }

  // Returns an iterator over the events, in no particular order.
  const_iterator begin() const { return events_.data(); }
  const_iterator end() const { return events_.data() + size_; }
  const Event& operator[](size_t i) const { return events_[i]; }

 private:
  friend class internal::Selector;

  // The first `size_` are the events of the last poll.
  std::vector<Event> events_;
  size_t size_ = 0;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_EVENTS_H_
