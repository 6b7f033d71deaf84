// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: selector.h
// -----------------------------------------------------------------------------
//
// The operating system's event queue, as small as it can be said. Another back
// end is another implementation of this header; selector_epoll.cc is Linux's.

#ifndef ROUSE_REACTOR_POLL_SELECTOR_H_
#define ROUSE_REACTOR_POLL_SELECTOR_H_

#include <sys/types.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/process_id.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/token.h"

namespace rouse::reactor::internal {

// How many milliseconds a poll waits where the kernel knows no finer unit:
// `timeout` rounded up, so that less than one is not none, and cut to what an
// int can hold. -1, forever, for an infinite one; 0 where there is no time.
int TimeoutMillis(absl::Duration timeout);

// Selector
//
// Edge-triggered. All members are thread-safe, but only one thread at a time
// may be in `Select()` with the same events.
class Selector {
 public:
  static absl::StatusOr<std::shared_ptr<Selector>> Open();

  // For `Open()`.
  explicit Selector(OwnedFd fd) : fd_(std::move(fd)), owner_(ProcessId()) {}

  int fd() const { return fd_.get(); }

  // As documented at `Registry`. In a process that has been forked off, to
  // deregister does nothing: the queue is the parent's too, and it would be the
  // parent that hears no more. The kernel forgets a descriptor that both have
  // closed.
  absl::Status Register(int fd, Token token, Interest interest) const;
  absl::Status Reregister(int fd, Token token, Interest interest) const;
  absl::Status Deregister(int fd) const;

  // As documented at `Poller::Poll()`.
  absl::Status Select(Events& events, absl::Duration timeout) const;

  // Whether the caller has become the owner of this queue's only waker.
  bool ClaimWaker() {
    // Guards a claim, not memory: nothing to order.
    return !has_waker_.exchange(true, std::memory_order_relaxed);
  }
  void ReleaseWaker() { has_waker_.store(false, std::memory_order_relaxed); }

 private:
  OwnedFd fd_;
  const pid_t owner_;  // the process that has opened it
  Atomic<bool> has_waker_{false};
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_POLL_SELECTOR_H_
