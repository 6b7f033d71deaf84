// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/poller.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/selector.h"

namespace rouse::reactor {

absl::StatusOr<Poller> Poller::Create() {
  absl::StatusOr<std::shared_ptr<internal::Selector>> selector =
      internal::Selector::Open();
  if (!selector.ok()) return std::move(selector).status();
  return Poller(*std::move(selector));
}

absl::Status Poller::Poll(Events& events, absl::Duration timeout) {
  return registry_.selector_->Select(events, timeout);
}

int Poller::fd() const { return registry_.selector_->fd(); }

}  // namespace rouse::reactor
