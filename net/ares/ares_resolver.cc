// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/ares/ares_resolver.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "rouse/future/poll_fn.h"
#include "rouse/net/ares/ares_channels.h"
#include "rouse/net/ares/ares_lookup.h"
#include "rouse/net/ares/ares_options.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/waker/context.h"

namespace rouse {

AresResolver::AresResolver(AresOptions options)
    : channels_(std::make_shared<internal::AresChannels>(std::move(options))) {}

Resolver::LookupFuture AresResolver::LookupName(std::string name,
                                                uint16_t port) const {
  auto lookup =
      std::make_unique<internal::AresLookup>(channels_, std::move(name), port);
  auto poll = [lookup = std::move(lookup)](Context& cx) {
    return lookup->Poll(cx);
  };
  return PollFn(std::move(poll));
}

}  // namespace rouse
