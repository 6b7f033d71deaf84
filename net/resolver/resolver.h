// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: resolver.h
// -----------------------------------------------------------------------------
//
// A `Resolver` finds the addresses of a host name. A function that connects by
// name takes a resolver, so that the caller chooses how names are looked up:
//
//   rouse::Co<absl::Status> Fetch(const rouse::Resolver& resolver) {
//     rouse::TcpStream stream = co_await rouse::OrReturn(
//         rouse::ConnectTcp("example.com:80", resolver));
//     ...
//
// The implementations are
//
//   SystemResolver   the operating system, on threads of a bounded pool
//   AresResolver     c-ares on the reactor, without a thread for a lookup
//   StaticResolver   a table, for tests
//   CachingResolver  another resolver, whose answers are kept for a while
//
// A resolver of your own overrides `LookupName()`:
//
//   class FromConsul : public rouse::Resolver {
//     LookupFuture LookupName(std::string name, uint16_t port) const override;
//   };

#ifndef ROUSE_NET_RESOLVER_RESOLVER_H_
#define ROUSE_NET_RESOLVER_RESOLVER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "rouse/future/any_future.h"
#include "rouse/net/socket_addr.h"

namespace rouse {

// Resolver
//
// The base class of everything that looks up names. Lookups are thread-safe: a
// program has one resolver, and any number of tasks use it concurrently.
class Resolver {
 public:
  using Result = absl::StatusOr<std::vector<SocketAddr>>;
  using LookupFuture = AnyFuture<Result>;

  virtual ~Resolver();

  // Looks up `host`. Returns the addresses of `host`, at least one, in the
  // order in which they should be tried. Each address appears once, with `port`
  // as its port.
  //
  // `host` is a name, or an IPv4 or IPv6 address without brackets; a link-local
  // address includes its interface ("fe80::1%eth0"). An address is returned
  // without a lookup. The second form takes "example.com:80", "192.0.2.1:80" or
  // "[2001:db8::1]:80". Both forms copy the text.
  //
  // The resolver must outlive the future. Destroying the future gives up the
  // lookup; the implementation says whether anything of the lookup remains.
  //
  //   NotFound          the name does not exist, or has no address
  //   Unavailable       no name server gives an answer at present
  //   InvalidArgument   `host` is empty, too long, or has a colon without being
  //                     an address; `host_port` is malformed
  //
  // and the errors of the implementation.
  LookupFuture Lookup(std::string_view host,
                      uint16_t port) const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  LookupFuture Lookup(std::string_view host_port) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

 protected:
  Resolver() = default;
  Resolver(const Resolver&) = default;
  Resolver& operator=(const Resolver&) = default;

 private:
  // Looks up `name`, which is not empty, is not an address, and has at most 254
  // characters, none of them a colon or zero. The result must be as the result
  // of `Lookup()`. Thread-safe. The work should begin when the future is first
  // polled, and end when the future is destroyed.
  virtual LookupFuture LookupName(std::string name, uint16_t port) const = 0;
};

}  // namespace rouse

#endif  // ROUSE_NET_RESOLVER_RESOLVER_H_
