// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/event_queue.h"

#ifndef ROUSE_MODEL

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/reactor/poll/event_waker.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/poller.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"

namespace rouse::reactor::internal {

EventQueue::EventQueue(Poller poller, EventWaker waker)
    : poller_(std::move(poller)), waker_(std::move(waker)) {}

absl::StatusOr<EventQueue> EventQueue::Open(Token interrupt) {
  absl::StatusOr<Poller> poller = Poller::Create();
  if (!poller.ok()) return std::move(poller).status();
  absl::StatusOr<EventWaker> waker =
      EventWaker::Create(poller->registry(), interrupt);
  if (!waker.ok()) return std::move(waker).status();
  return EventQueue(*std::move(poller), *std::move(waker));
}

absl::Status EventQueue::Register(int fd, Token token,
                                  Interest interest) const {
  FdSource source(fd);
  return poller_.registry().Register(source, token, interest);
}

absl::Status EventQueue::Deregister(int fd) const {
  FdSource source(fd);
  return poller_.registry().Deregister(source);
}

absl::Status EventQueue::Wait(Events& events, absl::Duration max_wait) {
  return poller_.Poll(events, max_wait);
}

absl::Status EventQueue::Interrupt() const { return waker_.Wake(); }

}  // namespace rouse::reactor::internal

#endif  // ROUSE_MODEL
