// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/signal/signal.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/signal/signal_handler.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using reactor::AsyncFd;

absl::StatusOr<Signal> Signal::Create(int number,
                                      const reactor::Handle& handle) {
  std::optional<Signal> signal;
  const auto join = [&](OwnedFd fd) -> absl::Status {
    // Read before the registration, so that later signals are reported.
    const uint64_t seen = internal::CountOf(number);
    absl::StatusOr<AsyncFd<OwnedFd>> event_fd = AsyncFd<OwnedFd>::Create(
        std::move(fd), reactor::Interest::kReadable, handle);
    if (!event_fd.ok()) return std::move(event_fd).status();
    signal = Signal(number, seen, *std::move(event_fd));
    return absl::OkStatus();
  };
  absl::Status listening = internal::ListenTo(number, join);
  if (!listening.ok()) return listening;
  return *std::move(signal);
}

PollResult<absl::Status> Signal::PollRecv(Context& cx,
                                          reactor::Waiter* waiter) {
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  const reactor::Registration& registration = event_fd_.registration();
  for (;;) {
    PollResult<absl::StatusOr<reactor::ReadyEvent>> event =
        registration.PollReady(reactor::Direction::kRead, cx, waiter);
    if (event.IsPending()) return kPending;
    if (!event->ok()) {
      unit->MadeProgress();
      return (*std::move(event)).status();
    }
    // Before the count is read, so that a later signal is another event.
    registration.WouldBlock(**event);
    const uint64_t count = internal::CountOf(number_);
    if (count != seen_) {
      seen_ = count;
      unit->MadeProgress();
      return absl::OkStatus();
    }
  }
}

Signal::RecvFuture Signal::Recv() { return RecvFuture(*this); }

PollResult<absl::Status> Signal::RecvFuture::Poll(Context& cx) {
  if (signal_ == nullptr) {
    Panic("Signal::Recv() was polled after it completed; call Recv() again");
  }
  PollResult<absl::Status> result = signal_->PollRecv(cx, &waiter_);
  if (result.IsReady()) signal_ = nullptr;
  return result;
}

}  // namespace rouse
