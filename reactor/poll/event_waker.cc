// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/event_waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/selector.h"
#include "rouse/reactor/poll/token.h"

#ifdef ROUSE_SCALING
#include "rouse/testing/scaling/kernel.h"
#endif

namespace rouse::reactor {

#ifdef ROUSE_SCALING
constexpr auto* read = &scaling::Read;
constexpr auto* write = &scaling::Write;
#endif

EventWaker::EventWaker(OwnedFd fd, std::shared_ptr<internal::Selector> selector)
    : fd_(std::move(fd)), selector_(std::move(selector)) {}

absl::StatusOr<EventWaker> EventWaker::Create(const Registry& registry,
                                              Token token) {
  if (!registry.selector_->ClaimWaker()) {
    return absl::AlreadyExistsError(
        "this poller already has an EventWaker; share the EventWaker, or "
        "destroy it first");
  }
  // The destructor of `waker` gives the claim back on failure.
  EventWaker waker(OwnedFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
                   registry.selector_);
  if (!waker.fd_.IsValid()) return absl::ErrnoToStatus(errno, "eventfd");
  absl::Status status =
      waker.selector_->Register(waker.fd(), token, Interest::kReadable);
  if (!status.ok()) return status;
  return waker;
}

EventWaker::~EventWaker() {
  if (selector_ == nullptr) return;
  // Fails if the eventfd was never registered.
  if (fd_.IsValid()) selector_->Deregister(fd()).IgnoreError();
  selector_->ReleaseWaker();
}

absl::Status EventWaker::Wake() const {
  // Every write to an eventfd is an edge, whatever the counter was, so no
  // thread needs to read the counter.
  const uint64_t one = 1;
  while (write(fd(), &one, sizeof one) < 0) {
    if (errno == EAGAIN) {
      // The counter is full. Reading resets the counter. If another thread has
      // already read it, there is nothing to read, which is fine too.
      uint64_t count;
      if (read(fd(), &count, sizeof count) < 0 && errno != EAGAIN &&
          errno != EINTR) {
        return absl::ErrnoToStatus(errno, "read from an EventWaker");
      }
    } else if (errno != EINTR) {
      return absl::ErrnoToStatus(errno, "write to an EventWaker");
    }
  }
  return absl::OkStatus();
}

}  // namespace rouse::reactor
