// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/registry.h"

#include "absl/status/status.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"

namespace rouse::reactor {

absl::Status FdSource::Register(const Registry& registry, Token token,
                                Interest interest) {
  return registry.selector_->Register(fd_, token, interest);
}

absl::Status FdSource::Reregister(const Registry& registry, Token token,
                                  Interest interest) {
  return registry.selector_->Reregister(fd_, token, interest);
}

absl::Status FdSource::Deregister(const Registry& registry) {
  return registry.selector_->Deregister(fd_);
}

}  // namespace rouse::reactor
