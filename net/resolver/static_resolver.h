// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: static_resolver.h
// -----------------------------------------------------------------------------
//
// A `StaticResolver` has the addresses of names in a table. A test of a client
// uses it in order to give the name of a service to a listener of the test:
//
//   rouse::StaticResolver names;
//   names.Add("db.example.com", {listener.local_addr().value()});
//   names.Fail("cache.example.com", absl::UnavailableError("no answer"));
//   Client client("db.example.com:5432", names);

#ifndef ROUSE_NET_RESOLVER_STATIC_RESOLVER_H_
#define ROUSE_NET_RESOLVER_STATIC_RESOLVER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"

namespace rouse {

// StaticResolver
//
// A lookup returns what the table has for the name, and NotFound for any other
// name. Upper and lower case are equal, and a dot at the end is ignored.
// Lookups need no runtime, and are ready at once.
//
// Lookups are thread-safe. The table must not be changed while other threads
// use it.
class StaticResolver : public Resolver {
 public:
  StaticResolver() = default;

  // Lets lookups of `name` return `addrs`, in this order. An address with port
  // 0 gets the port of the lookup. Any other port stays, so that a name with
  // the usual port of a service can lead to a port that the system has chosen.
  // Replaces what the table has for `name`. Without any address, a lookup
  // returns NotFound.
  void Add(std::string_view name, std::vector<SocketAddr> addrs);

  // Lets lookups of `name` return `error`, which must not be OK. Replaces what
  // the table has for `name`.
  void Fail(std::string_view name, absl::Status error);

 private:
  LookupFuture LookupName(std::string name, uint16_t port) const override;

  absl::flat_hash_map<std::string, Result> names_;
};

}  // namespace rouse

#endif  // ROUSE_NET_RESOLVER_STATIC_RESOLVER_H_
