// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: by_name.h
// -----------------------------------------------------------------------------
//
// Connects and binds sockets by host name:
//
//   rouse::TcpStream stream =
//       co_await rouse::OrReturn(rouse::ConnectTcp("example.com:80"));
//
// With a `Resolver` the caller chooses how the name is looked up:
//
//   co_await rouse::OrReturn(rouse::ConnectTcp("example.com:80", resolver));
//
// "rouse/net/resolver/resolver.h" lists the resolvers.
//
// The functions are not members of `TcpStream` and similar classes, because
// those classes need no thread and no scheduler: a host name requires a runtime
// or a blocking pool, unless another resolver looks up the name.

#ifndef ROUSE_NET_BY_NAME_H_
#define ROUSE_NET_BY_NAME_H_

#include <string>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/udp_socket.h"

namespace rouse {

class Resolver;

// All functions look up `host_port` like `LookupHost()` or, if the caller
// passes a `resolver`, like `resolver.Lookup()`, with the same errors, and then
// try the addresses in the order of the result. If all addresses fail,
// `ConnectTcp()` returns an error that names all of them, and the others return
// the error of the last one.
//
// The blocking pool and the reactor are the current ones where the future is
// polled: in a task, those of its runtime. Without a current reactor the
// fallback reactor serves (reactor/fallback.h). Without a blocking pool and
// without a `resolver` a name, but not an address, fails with
// FailedPrecondition. A `resolver` must outlive the future.
//
// A future can be moved at any time, even between polls. Destroying the future
// abandons the attempt and closes the sockets opened for it.

// Connects to the first address that answers: see `ConnectHappyEyeballs()`. An
// address that does not answer delays the next one by 250 ms. If no address
// answers, the system gives up after some two minutes: use a `Timeout()`.
// Errors are those of `TcpStream::Connect()`.
Co<absl::StatusOr<TcpStream>> ConnectTcp(std::string host_port);
Co<absl::StatusOr<TcpStream>> ConnectTcp(std::string host_port,
                                         const Resolver& resolver
                                             ABSL_ATTRIBUTE_LIFETIME_BOUND);

// Listens on the first available address. Errors are those of
// `TcpListener::Bind()`.
Co<absl::StatusOr<TcpListener>> ListenTcp(std::string host_port);
Co<absl::StatusOr<TcpListener>> ListenTcp(std::string host_port,
                                          const Resolver& resolver
                                              ABSL_ATTRIBUTE_LIFETIME_BOUND);

// Opens a socket that receives at the first available address. Errors are those
// of `UdpSocket::Bind()`.
Co<absl::StatusOr<UdpSocket>> BindUdp(std::string host_port);
Co<absl::StatusOr<UdpSocket>> BindUdp(std::string host_port,
                                      const Resolver& resolver
                                          ABSL_ATTRIBUTE_LIFETIME_BOUND);

}  // namespace rouse

#endif  // ROUSE_NET_BY_NAME_H_
