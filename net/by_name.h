// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: by_name.h
// -----------------------------------------------------------------------------
//
// Sockets to and at what has a name:
//
//   rouse::TcpStream stream =
//       co_await rouse::OrReturn(rouse::ConnectTcp("example.com:80"));
//
// They are not members of `TcpStream` and its like, which need no thread and no
// scheduler: a name takes a runtime, or a blocking pool.

#ifndef ROUSE_NET_BY_NAME_H_
#define ROUSE_NET_BY_NAME_H_

#include <string>

#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/udp_socket.h"

namespace rouse {

// All of them look `host_port` up as `LookupHost()` does, with its errors, and
// then try the addresses one after the other, in its order. If none will do,
// they give the error of the last.
//
// The blocking pool and the reactor are those that are current where the future
// is polled: in a task, its runtime's. Without a current reactor the fallback
// serves (reactor/fallback.h). Without a pool a name, but not an address, is
// FailedPrecondition.
//
// The future may be moved at any time, also between polls. Destroying it gives
// the attempt up, and closes what it had opened.

// Connects to the first address that answers. An address that does not answer
// at all takes as long as the system has patience, some two minutes: put a
// `Timeout()` around. Errors as of `TcpStream::Connect()`.
Co<absl::StatusOr<TcpStream>> ConnectTcp(std::string host_port);

// Listens on the first address that can be had. Errors as of
// `TcpListener::Bind()`.
Co<absl::StatusOr<TcpListener>> ListenTcp(std::string host_port);

// Receives at the first address that can be had. Errors as of
// `UdpSocket::Bind()`.
Co<absl::StatusOr<UdpSocket>> BindUdp(std::string host_port);

}  // namespace rouse

#endif  // ROUSE_NET_BY_NAME_H_
