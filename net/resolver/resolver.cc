// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/resolver/resolver.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/future/ready.h"
#include "rouse/net/resolver/host_port.h"

namespace rouse {

Resolver::~Resolver() = default;

Resolver::LookupFuture Resolver::Lookup(std::string_view host,
                                        uint16_t port) const {
  std::optional<Result> answer =
      internal::LookupWithoutServer("Lookup", host, port);
  if (answer.has_value()) return Ready(*std::move(answer));
  return LookupName(std::string(host), port);
}

Resolver::LookupFuture Resolver::Lookup(std::string_view host_port) const {
  absl::StatusOr<internal::HostPort> split =
      internal::SplitHostPort("Lookup", host_port);
  if (!split.ok()) return Ready(Result(std::move(split).status()));
  return Lookup(split->host, split->port);
}

}  // namespace rouse
