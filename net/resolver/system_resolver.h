// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: system_resolver.h
// -----------------------------------------------------------------------------
//
// A `SystemResolver` looks up names with the operating system:
//
//   const rouse::SystemResolver resolver;
//   rouse::TcpStream stream = co_await rouse::OrReturn(
//       rouse::ConnectTcp("example.com:80", resolver));

#ifndef ROUSE_NET_RESOLVER_SYSTEM_RESOLVER_H_
#define ROUSE_NET_RESOLVER_SYSTEM_RESOLVER_H_

#include <cstdint>
#include <string>

#include "absl/base/attributes.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/scheduler/blocking_pool.h"

namespace rouse {

// SystemResolver
//
// `LookupHost()` as a `Resolver`: `getaddrinfo()` with everything that the
// system is configured for, such as its files, name servers, LDAP and mDNS.
//
// A lookup occupies a thread until the system has answered, even after the
// future was destroyed. The number of these threads is bounded, and calls on
// files do not use them: see `LookupHost()`, which also lists the errors.
class SystemResolver : public Resolver {
 public:
  // Looks up on the threads that the current runtime has for lookups.
  SystemResolver() = default;
  // Looks up on threads of `pool`, which must outlive the resolver.
  explicit SystemResolver(
      scheduler::BlockingPool& pool ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : pool_(&pool) {}

 private:
  LookupFuture LookupName(std::string name, uint16_t port) const override;

  scheduler::BlockingPool* pool_ = nullptr;
};

}  // namespace rouse

#endif  // ROUSE_NET_RESOLVER_SYSTEM_RESOLVER_H_
