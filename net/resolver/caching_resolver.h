// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: caching_resolver.h
// -----------------------------------------------------------------------------
//
// A `CachingResolver` keeps the answers of another resolver for a while:
//
//   const rouse::SystemResolver system;
//   rouse::CachingResolver resolver(system, {.ttl = absl::Seconds(10)});

#ifndef ROUSE_NET_RESOLVER_CACHING_RESOLVER_H_
#define ROUSE_NET_RESOLVER_CACHING_RESOLVER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/co.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/sync/single_flight.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"

namespace rouse {

// CachingOptions
//
// The limits of a `CachingResolver`.
struct CachingOptions {
  // How long an answer is used, from its arrival. A `Resolver` does not return
  // the times to live of the name servers, so choose a time for which your
  // program can do with an old address.
  absl::Duration ttl = absl::Seconds(30);
  // Maximum number of names that are kept, at least 1. Beyond it, the answer
  // that arrived first is dropped.
  size_t max_names = 1000;
};

// CachingResolver
//
// Keeps addresses, but no errors. Lookups of a name that is being looked up
// share that lookup (`SingleFlight`), and its error. If the task of the shared
// lookup gives up, the next task begins another. Therefore poll a lookup until
// it ends, or destroy it: one that began the shared lookup and is kept without
// being polled stops all lookups of its name. The cache distinguishes no upper
// and lower case.
//
// Lookups of all ports share an answer. An address to which the other resolver
// gives a port of its own, as a `StaticResolver` can, keeps that port.
//
// Lookups of names must be polled where a driver of timers is current, as in a
// task of a runtime, and fail with FailedPrecondition elsewhere. The time is
// that of the driver's clock; a cache serves a single clock. Other errors are
// those of the other resolver.
//
// A kept answer costs a short lock and the copy of the addresses.
class CachingResolver : public Resolver {
 public:
  // `resolver` must outlive the new object.
  explicit CachingResolver(const Resolver& resolver
                               ABSL_ATTRIBUTE_LIFETIME_BOUND,
                           CachingOptions options = {});

  CachingResolver(const CachingResolver&) = delete;
  CachingResolver& operator=(const CachingResolver&) = delete;

  // Drops all answers, for example after the network has changed. Thread-safe.
  // A lookup under way keeps its answer nevertheless.
  void Clear() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    std::vector<SocketAddr> addrs;  // as of a lookup with port 0
    Instant arrival;
  };

  LookupFuture LookupName(std::string name, uint16_t port) const override;
  // Do the parts of `LookupName()`, for a name in lower case.
  Co<Result> FindOrAsk(std::string name, uint16_t port) const;
  Co<Result> Ask(const std::string& name, const wheel::Handle& timers) const;

  std::optional<std::vector<SocketAddr>> Find(const std::string& name,
                                              Instant now) const
      ABSL_LOCKS_EXCLUDED(mu_);
  void Keep(const std::string& name, Entry entry) const
      ABSL_LOCKS_EXCLUDED(mu_);

  const Resolver& resolver_;
  const CachingOptions options_;
  mutable SingleFlight<std::string, Result> flights_;
  mutable ThreadMutex mu_;
  mutable absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse

#endif  // ROUSE_NET_RESOLVER_CACHING_RESOLVER_H_
