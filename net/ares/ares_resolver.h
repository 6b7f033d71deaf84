// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ares_resolver.h
// -----------------------------------------------------------------------------
//
// An `AresResolver` asks name servers from the task that needs the name, with
// the library c-ares. A lookup takes no thread, and dropping it ends it:
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
#include <string>
#include <utility>

#include "rouse/net/ares/ares_options.h"  // IWYU pragma: export
#include "rouse/net/resolver/resolver.h"

namespace rouse {

// AresResolver
//
// Looks up names with c-ares: in /etc/hosts, and then with queries for IPv4 and
// IPv6 addresses to the name servers, by UDP, and by TCP if an answer is long.
// The addresses are sorted as RFC 6724 says. If one of the two queries fails
// and the other finds addresses, the lookup returns these.
//
// An `AresResolver` is a value that holds only its options. Each lookup has a
// channel of c-ares and sockets of its own. A channel cannot end a single query
// of several; a channel of one lookup is destroyed with the lookup, and no
// other task ever touches it. Each lookup thus has a source port that no
// attacker can guess, and sees a changed /etc/resolv.conf.
//
// # Cancellation
//
// Destroying the future ends the lookup: its sockets are closed, its memory is
// freed, and an answer that comes later reaches nobody. No thread and no other
// task takes part in a lookup.
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
// A lookup takes some 110 us of processor time (c-ares 1.18, the machine of
// docs/guide/names.md). At the start of each lookup c-ares reads four small
// files, such as /etc/resolv.conf and /etc/hosts, with blocking calls. A lookup
// under way has a socket for each name server that was asked, and 76 KB of
// memory, most of it for tables of c-ares 1.18.
class AresResolver : public Resolver {
 public:
  explicit AresResolver(AresOptions options = {})
      : options_(std::move(options)) {}

 private:
  LookupFuture LookupName(std::string name, uint16_t port) const override;

  AresOptions options_;
};

}  // namespace rouse

#endif  // ROUSE_NET_ARES_ARES_RESOLVER_H_
