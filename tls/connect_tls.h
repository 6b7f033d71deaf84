// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: connect_tls.h
// -----------------------------------------------------------------------------
//
// Connects to a TLS server by host name:
//
//   rouse::TlsStream<rouse::TcpStream> tls =
//       co_await rouse::OrReturn(rouse::ConnectTls("example.com:443"));

#ifndef ROUSE_TLS_CONNECT_TLS_H_
#define ROUSE_TLS_CONNECT_TLS_H_

#include <string>

#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_stream.h"

namespace rouse {

// ConnectTls()
//
// Connects to `host_port`, such as "example.com:443" or "[2001:db8::1]:443",
// with `ConnectTcp()`, sets TCP_NODELAY, and performs the handshake. The
// certificate of the server must contain the host. Without a `connector`, uses
// one for the whole program that trusts the authorities of the system. The
// first call without a `connector` reads the system's certificates, and blocks
// meanwhile.
//
// Cancellation: destroying the future closes the connection.
//
// Errors are those of `ConnectTcp()` and `TlsConnector::Connect()`, and without
// a `connector`:
//
//   FailedPrecondition   the system trusts no authority; every later call
//                        returns this error, too
//
// The system waits some two minutes for an address that does not answer, and
// the handshake forever: use a `Timeout()`.
Co<absl::StatusOr<TlsStream<TcpStream>>> ConnectTls(std::string host_port);
Co<absl::StatusOr<TlsStream<TcpStream>>> ConnectTls(TlsConnector connector,
                                                    std::string host_port);

}  // namespace rouse

#endif  // ROUSE_TLS_CONNECT_TLS_H_
