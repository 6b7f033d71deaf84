// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: happy_eyeballs.h
// -----------------------------------------------------------------------------
//
// Connects to the first of several addresses that answers, without waiting long
// for those that do not:
//
//   std::vector<rouse::SocketAddr> addrs =
//       co_await rouse::OrReturn(rouse::LookupHost("example.com:80"));
//   rouse::TcpStream stream = co_await rouse::OrReturn(
//       rouse::ConnectHappyEyeballs(std::move(addrs)));
//
// `ConnectTcp()` (rouse/net/by_name.h) combines both steps.

#ifndef ROUSE_NET_TCP_HAPPY_EYEBALLS_H_
#define ROUSE_NET_TCP_HAPPY_EYEBALLS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_stream.h"

namespace rouse {

// The time between the starts of two attempts, which RFC 8305 recommends.
inline constexpr absl::Duration kConnectionAttemptDelay =
    absl::Milliseconds(250);

// ConnectHappyEyeballs()
//
// Connects to one of `addrs`, and returns the first connection that is
// established. The attempts overlap: the next one starts when an attempt has
// failed, or `delay` after the last start, whichever comes first. The addresses
// are tried in the order of `addrs`, except that IPv6 and IPv4 take turns, so
// that a network without IPv6 costs one delay and not one for each IPv6
// address. With `absl::ZeroDuration()` the attempts start one right after
// another; with `absl::InfiniteDuration()` only a failure starts the next.
//
// If all attempts fail, returns an error that has the code of the last failure,
// and names all addresses and failures. Returns InvalidArgument if `addrs` is
// empty. There is no limit of time: see `Timeout()`.
//
// Must be polled where a driver of timers is current, as in a task of a
// runtime. Without such a driver, an attempt starts only when the one before
// has failed. The reactor is that of `TcpStream::Connect()`.
//
// Cancellation: destroying the coroutine abandons all attempts, and closes
// their sockets. So does a success for the other attempts.
//
// The algorithm is "Happy Eyeballs Version 2" (RFC 8305), sections 4 and 5.
Co<absl::StatusOr<TcpStream>> ConnectHappyEyeballs(
    std::vector<SocketAddr> addrs,
    absl::Duration delay = kConnectionAttemptDelay);

namespace internal {

// Returns the addresses such that the families take turns as long as both have
// addresses, beginning with the family of the first address. Within a family,
// the order stays.
std::vector<SocketAddr> InterleaveFamilies(
    const std::vector<SocketAddr>& addrs);

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_NET_TCP_HAPPY_EYEBALLS_H_
