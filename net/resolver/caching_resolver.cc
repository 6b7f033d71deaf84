// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/resolver/caching_resolver.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/co.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"

namespace rouse {

CachingResolver::CachingResolver(const Resolver& resolver,
                                 CachingOptions options)
    : resolver_(resolver), options_(options) {}

void CachingResolver::Clear() {
  const ThreadMutexLock lock(&mu_);
  entries_.clear();
}

Resolver::LookupFuture CachingResolver::LookupName(std::string name,
                                                   uint16_t port) const {
  absl::AsciiStrToLower(&name);
  return FindOrAsk(std::move(name), port);
}

Co<Resolver::Result> CachingResolver::FindOrAsk(std::string name,
                                                uint16_t port) const {
  const std::optional<wheel::Handle> timers = wheel::Handle::TryCurrent();
  if (!timers.has_value()) {
    co_return absl::FailedPreconditionError(absl::StrCat(
        "Lookup(\"", name,
        "\"): this thread has no timers, which a CachingResolver needs; await "
        "the lookup in a task or inside Runtime::BlockOn"));
  }
  Result addrs = std::vector<SocketAddr>();
  std::optional<std::vector<SocketAddr>> kept =
      Find(name, timers->clock().Now());
  if (kept.has_value()) {
    addrs = *std::move(kept);
  } else {
    const auto ask = [this, &name, &timers] { return Ask(name, *timers); };
    auto flight = flights_.Run(name, ask);
    addrs = co_await std::move(flight);
  }
  if (addrs.ok()) {
    // Any other port is one that the other resolver has fixed.
    for (SocketAddr& addr : *addrs) {
      if (addr.port() == 0) addr = addr.WithPort(port);
    }
  }
  co_return addrs;
}

Co<Resolver::Result> CachingResolver::Ask(const std::string& name,
                                          const wheel::Handle& timers) const {
  LookupFuture lookup = resolver_.Lookup(name, 0);
  Result addrs = co_await std::move(lookup);
  if (addrs.ok()) Keep(name, Entry{*addrs, timers.clock().Now()});
  co_return addrs;
}

std::optional<std::vector<SocketAddr>> CachingResolver::Find(
    const std::string& name, Instant now) const {
  const ThreadMutexLock lock(&mu_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) return std::nullopt;
  if (now - found->second.arrival >= options_.ttl) {
    entries_.erase(found);
    return std::nullopt;
  }
  return found->second.addrs;
}

void CachingResolver::Keep(const std::string& name, Entry entry) const {
  const ThreadMutexLock lock(&mu_);
  entries_.insert_or_assign(name, std::move(entry));
  if (entries_.size() <= options_.max_names) return;
  // Rare, and cheap beside the lookup that has filled the cache.
  const auto earlier = [](const auto& a, const auto& b) {
    return a.second.arrival < b.second.arrival;
  };
  entries_.erase(std::min_element(entries_.begin(), entries_.end(), earlier));
}

}  // namespace rouse
