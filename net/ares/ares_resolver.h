// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ares_resolver.h
// -----------------------------------------------------------------------------
//
// An `AresResolver` asks name servers from the task that needs the name, with
// the library c-ares. A lookup takes no thread, and ends when its future is
// destroyed:
//
//   const rouse::AresResolver resolver;
//   rouse::TcpStream stream = co_await rouse::OrReturn(
//       rouse::ConnectTcp("example.com:80", resolver));
//
// The package needs c-ares (Debian: libc-ares-dev) and is no part of
// "rouse/rouse.h".

#ifndef ROUSE_NET_ARES_ARES_RESOLVER_H_
#define ROUSE_NET_ARES_ARES_RESOLVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "rouse/net/ares/ares_options.h"  // IWYU pragma: export
#include "rouse/net/resolver/resolver.h"

namespace rouse {

namespace internal {
class AresChannels;
}  // namespace internal

// AresResolver
//
// Looks up names with c-ares: in /etc/hosts, and then with queries for IPv4 and
// IPv6 addresses to the name servers, by UDP, and by TCP if an answer is long.
// The addresses are sorted as RFC 6724 says. If one of the two queries fails
// and the other finds addresses, the lookup returns these.
//
// A lookup under way has a channel of c-ares and sockets of its own, because a
// channel cannot end a single query of several. The sockets are closed at the
// end of the lookup, so each lookup has source ports that no attacker can
// guess. When a lookup has found addresses without any failure, the resolver
// keeps the channel for a later lookup.
//
// # Copies
//
// Copies of a resolver share the kept channels, and the last copy frees the
// channels. Lookups are thread-safe even through different copies. Assigning to
// a copy is not thread-safe with other uses of the same copy.
//
// # Changes of the system's files
//
// A change of /etc/resolv.conf or /etc/nsswitch.conf takes effect for attempts
// (see `AresOptions::attempts`) that begin after the change: such an attempt
// makes a new channel, and destroys kept channels that are older. An attempt
// under way goes on with the old contents. A change is noticed by the file's
// inode, size and times; docs/guide/names.md describes the exceptions.
//
// # Cancellation
//
// Destroying the future ends the lookup: the sockets are closed, the memory is
// freed, and the system discards an answer that comes later. No thread and no
// other task takes part in a lookup.
//
// # Errors
//
// In addition to the errors of `Resolver::Lookup()`:
//
//   Unavailable          all name servers were silent, could not be reached, or
//                        answered that they cannot answer
//   InvalidArgument      c-ares does not accept the name, such as "a..b", or
//                        the options are wrong
//   FailedPrecondition   the lookup is polled on a thread without a driver of
//                        timers, or without a reactor
//   ResourceExhausted    no memory or descriptors are left
//   Internal             a name server has sent an answer that makes no sense
//
// # Cost
//
// With c-ares 1.18, a lookup takes some 32,000 instructions outside the kernel
// with a kept channel, and 135,000 with a new one; docs/guide/names.md has the
// times. Each attempt calls stat(2) at most twice and reads /etc/hosts, and a
// new channel reads three more small files, all with blocking calls in the
// task. A lookup under way has a socket for each name server that was asked,
// and 76 KB of memory, most of it for tables of c-ares.
//
// A resolver and its copies keep at most 8 channels, without sockets: 75 KB for
// each lookup that was under way at once, and at most 600 KB. A channel serves
// at most 100 lookups. At the beginning and at the end, a lookup holds a lock
// of the kept channels for a few instructions.
class AresResolver : public Resolver {
 public:
  explicit AresResolver(AresOptions options = {});
  // Moving copies, so that a resolver never lacks its options.
  AresResolver(const AresResolver&) = default;
  AresResolver& operator=(const AresResolver&) = default;

 private:
  LookupFuture LookupName(std::string name, uint16_t port) const override;

  std::shared_ptr<internal::AresChannels> channels_;
};

}  // namespace rouse

#endif  // ROUSE_NET_ARES_ARES_RESOLVER_H_
