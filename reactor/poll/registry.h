// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: registry.h
// -----------------------------------------------------------------------------
//
// A `Registry` is the set of sources whose events a `Poller` reports.

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
// Refers to a poller's queue. Copies refer to the same queue, and keep the
// queue alive after the poller is destroyed; registering still works then, but
// nobody gets the events. Thread-safe, even while another thread polls.
//
// # Errors
//
// Errors are those of epoll_ctl(2), converted by `absl::ErrnoToStatus()`:
//
//   AlreadyExists        the descriptor is already registered (EEXIST)
//   NotFound             the descriptor is not registered (ENOENT)
//   FailedPrecondition   the descriptor is closed (EBADF)
//   PermissionDenied     the kernel cannot wait for the descriptor (EPERM)
//   ResourceExhausted    the user's limit of watches is reached (ENOSPC), or
//                        the kernel is out of memory (ENOMEM)
class Registry {
 public:
  // Starts to report events of `source` under `token`. A state that holds
  // already, for example that the source is readable, is reported as the first
  // event.
  template <Source S>
  absl::Status Register(S& source, Token token, Interest interest) const {
    return source.Register(*this, token, interest);
  }

  // Changes the token and interest of a source. A state that holds already is
  // reported again.
  template <Source S>
  absl::Status Reregister(S& source, Token token, Interest interest) const {
    return source.Reregister(*this, token, interest);
  }

  // Ends the reports. Events that a poll has already returned are not undone.
  //
  // Deregister a source before closing its descriptor. By itself, the kernel
  // forgets a descriptor only when no duplicate is left in any process; until
  // then the kernel continues to report events under a token that has lost its
  // meaning.
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
