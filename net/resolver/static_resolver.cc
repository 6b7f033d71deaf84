// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/resolver/static_resolver.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "rouse/base/panic.h"
#include "rouse/future/ready.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"

namespace rouse {
namespace {

std::string KeyOf(std::string_view name) {
  return absl::AsciiStrToLower(absl::StripSuffix(name, "."));
}

}  // namespace

void StaticResolver::Add(std::string_view name, std::vector<SocketAddr> addrs) {
  if (addrs.empty()) {
    Fail(name, absl::NotFoundError(absl::StrCat(
                   "Lookup(\"", name,
                   "\"): the table of the StaticResolver has no address")));
    return;
  }
  names_.insert_or_assign(KeyOf(name), std::move(addrs));
}

void StaticResolver::Fail(std::string_view name, absl::Status error) {
  if (error.ok()) {
    Panic(
        "StaticResolver::Fail() was called with an OK status; pass the error "
        "that a lookup returns, or call Add()");
  }
  names_.insert_or_assign(KeyOf(name), std::move(error));
}

Resolver::LookupFuture StaticResolver::LookupName(std::string name,
                                                  uint16_t port) const {
  const auto found = names_.find(KeyOf(name));
  if (found == names_.end()) {
    return Ready(Result(absl::NotFoundError(absl::StrCat(
        "Lookup(\"", name,
        "\"): not in the table of the StaticResolver; call Add()"))));
  }
  Result result = found->second;
  if (result.ok()) {
    for (SocketAddr& addr : *result) {
      if (addr.port() == 0) addr = addr.WithPort(port);
    }
  }
  return Ready(std::move(result));
}

}  // namespace rouse
