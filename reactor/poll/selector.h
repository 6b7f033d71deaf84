// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: selector.h
// -----------------------------------------------------------------------------
//
// The minimal interface to the operating system's event queue. Another back end
// is another implementation of this header; selector_epoll.cc is the
// implementation for Linux.

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

// Returns the timeout of a poll in milliseconds, for kernels without a finer
// unit: `timeout` rounded up, so that less than a millisecond is not zero, and
// capped at the range of an int. Returns -1 (wait forever) for an infinite
// timeout, and 0 if no time is left.
int TimeoutMillis(absl::Duration timeout);

// Selector
//
// Edge-triggered. All members are thread-safe, except that only one thread at a
// time can be in `Select()` with the same events.
class Selector {
 public:
  static absl::StatusOr<std::shared_ptr<Selector>> Open();

  // For use in `Open()` only.
  explicit Selector(OwnedFd fd) : fd_(std::move(fd)), owner_(ProcessId()) {}

  int fd() const { return fd_.get(); }

  // Change the registration of a descriptor, as described at `Registry`. In a
  // forked process, `Deregister()` does nothing: the queue belongs to the
  // parent too, and the parent would lose its events. The kernel forgets a
  // descriptor after both processes have closed it.
  absl::Status Register(int fd, Token token, Interest interest) const;
  absl::Status Reregister(int fd, Token token, Interest interest) const;
  absl::Status Deregister(int fd) const;

  // Waits for events, as described at `Poller::Poll()`.
  absl::Status Select(Events& events, absl::Duration timeout) const;

  // Returns whether the caller has become the owner of this queue's only waker.
  bool ClaimWaker() {
    // Protects a claim, not memory: nothing to order.
    return !has_waker_.exchange(true, std::memory_order_relaxed);
  }
  void ReleaseWaker() { has_waker_.store(false, std::memory_order_relaxed); }

 private:
  OwnedFd fd_;
  const pid_t owner_;  // the process that opened the queue
  Atomic<bool> has_waker_{false};
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_POLL_SELECTOR_H_
