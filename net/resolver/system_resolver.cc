// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/resolver/system_resolver.h"

#include <cstdint>
#include <string>

#include "rouse/net/lookup_host.h"
#include "rouse/net/resolver/resolver.h"

namespace rouse {

Resolver::LookupFuture SystemResolver::LookupName(std::string name,
                                                  uint16_t port) const {
  if (pool_ != nullptr) return LookupHost(*pool_, name, port);
  return LookupHost(name, port);
}

}  // namespace rouse
