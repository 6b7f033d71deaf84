// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_listener.h
// -----------------------------------------------------------------------------
//
// A `TcpListener` accepts TCP connections:
//
//   absl::StatusOr<TcpListener> listener =
//       TcpListener::Bind(SocketAddr::Localhost(7777));
//   for (;;) {
//     absl::StatusOr<TcpListener::Accepted> accepted =
//         co_await listener->Accept();
//     if (!accepted.ok()) {
//       ... log it, and wait a little: see `Accept()` ...
//       continue;
//     }
//     rouse::Spawn(Serve(std::move(accepted->stream)));
//   }

#ifndef ROUSE_NET_TCP_TCP_LISTENER_H_
#define ROUSE_NET_TCP_TCP_LISTENER_H_

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/listener_base.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

// TcpListener
//
// Owns the listening socket and closes the socket in its destructor;
// connections that were not accepted by then are reset. Movable, but not while
// one of its futures is alive. For several listeners on one address, see
// `TcpListenerGroup`.
//
// Const members are thread-safe: several tasks can accept concurrently, and
// each connection goes to one of them.
//
// The members that a `TcpListener` shares with a `UnixListener`, such as
// `Accept()`, are in net/socket/listener_base.h.
class TcpListener
    : public internal::ListenerBase<TcpListener, TcpStream, SocketAddr> {
 public:
  // Listens on `addr`. With port 0 the system chooses a port, which
  // `local_addr()` returns. To set options before the bind, or the length of
  // the queue, use `TcpSocket`.
  //
  // An address can be reused immediately after its server has ended
  // (SO_REUSEADDR), but not while the server is running.
  //
  //   FailedPrecondition   the address is in use (EADDRINUSE), or the
  //                        current reactor handle is not bound to a reactor
  //   AlreadyExists        not an address of this machine (EADDRNOTAVAIL)
  //   PermissionDenied     the port is reserved for the administrator
  //   ResourceExhausted    out of descriptors or memory
  //
  // and the errors of `reactor::Registration::Create()`.
  static absl::StatusOr<TcpListener> Bind(
      const SocketAddr& addr,
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a listening TCP socket and makes the socket non-blocking. On
  // failure closes `fd`. Returns InvalidArgument if `fd` is not a TCP socket;
  // FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<TcpListener> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  TcpListener(TcpListener&&) = default;
  TcpListener& operator=(TcpListener&&) = default;

 private:
  friend EventedBase;
  friend ListenerBase;
  friend class TcpListenerGroup;
  friend class TcpSocket;

  static constexpr std::string_view kAcceptName = "TcpListener::Accept()";

  explicit TcpListener(Evented evented) : ListenerBase(std::move(evented)) {}
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_LISTENER_H_
