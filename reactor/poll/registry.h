// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: registry.h
// -----------------------------------------------------------------------------
//
// A `Registry` is where sources are registered for the events that a `Poller`
// finds.

#ifndef ROUSE_REACTOR_POLL_REGISTRY_H_
#define ROUSE_REACTOR_POLL_REGISTRY_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/selector.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"

namespace rouse::reactor {

class Poller;

// Registry
//
// A reference to a poller's queue. Copies refer to the same queue, and keep it
// when the poller has gone; registering then works, and nobody hears of it.
// Thread-safe, also while another thread polls.
//
// # Errors
//
// Those of epoll_ctl(2), through `absl::ErrnoToStatus()`:
//
//   AlreadyExists        the descriptor is registered already (EEXIST)
//   NotFound             it is not (ENOENT)
//   FailedPrecondition   it is closed (EBADF)
//   PermissionDenied     it is of a kind that cannot be waited for (EPERM)
//   ResourceExhausted    the user's limit of watches is reached (ENOSPC), or
//                        the kernel's memory (ENOMEM)
class Registry {
 public:
  // Starts to report events of `source` under `token`. What holds already, such
  // as that it is readable, is the first event.
  template <Source S>
  absl::Status Register(S& source, Token token, Interest interest) const {
    return source.Register(*this, token, interest);
  }

  // Changes token and interest of a source. What holds already is reported
  // again.
  template <Source S>
  absl::Status Reregister(S& source, Token token, Interest interest) const {
    return source.Reregister(*this, token, interest);
  }

  // Ends the reports. Events that a poll has already returned are not undone.
  //
  // Deregister before you close. The kernel forgets a descriptor by itself only
  // when no duplicate of it is left in any process; until then it goes on to
  // report events under a token that means nothing any more.
  template <Source S>
  absl::Status Deregister(S& source) const {
    return source.Deregister(*this);
  }

 private:
  friend class EventWaker;
  friend class FdSource;
  friend class Poller;

  explicit Registry(std::shared_ptr<internal::Selector> selector)
      : selector_(std::move(selector)) {}

  std::shared_ptr<internal::Selector> selector_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_REGISTRY_H_
