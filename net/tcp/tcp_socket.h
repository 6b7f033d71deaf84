// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_socket.h
// -----------------------------------------------------------------------------
//
// A `TcpSocket` is a TCP socket that is not connected yet and does not listen:
// it is for what has to be set before.
//
//   TcpSocket socket = co_await rouse::OrReturn(TcpSocket::Open(addr));
//   co_await rouse::OrReturn(socket.SetReceiveBufferSize(1 << 20));
//   TcpStream stream =
//       co_await rouse::OrReturn(std::move(socket).Connect(addr));
//
// Where nothing has to be, `TcpStream::Connect()` and `TcpListener::Bind()` do
// all of it.

#ifndef ROUSE_NET_TCP_TCP_SOCKET_H_
#define ROUSE_NET_TCP_TCP_SOCKET_H_

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_options.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

// TcpSocket
//
// Owns the socket and closes it when it is destroyed. Needs no reactor: the
// stream or listener that is made of it does. Movable; const members are
// thread-safe.
//
// Errors are those of the system calls, by `absl::ErrnoToStatus()`.
class TcpSocket : public TcpOptions<TcpSocket> {
 public:
  // A socket of the family of `addr`, IPv4 or IPv6. ResourceExhausted if out of
  // descriptors or memory.
  static absl::StatusOr<TcpSocket> Open(const SocketAddr& addr);

  // Takes over a TCP socket and makes it non-blocking. On failure it is closed.
  // InvalidArgument if it is of another kind, such as a Unix socket.
  static absl::StatusOr<TcpSocket> FromFd(OwnedFd fd);

  TcpSocket(TcpSocket&&) = default;
  TcpSocket& operator=(TcpSocket&&) = default;

  // Whether an address can be bound to that an earlier server has left a moment
  // ago (SO_REUSEADDR). Off in a new socket; on for `TcpListener::Bind()`.
  absl::Status SetReuseAddr(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kReuseAddr, on);
  }
  absl::StatusOr<bool> ReuseAddr() const {
    return internal::GetOption(fd(), internal::SocketOption::kReuseAddr);
  }

  // Whether several sockets that all have it on can listen on one address
  // (SO_REUSEPORT); the system spreads the connections over them.
  absl::Status SetReusePort(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kReusePort, on);
  }
  absl::StatusOr<bool> ReusePort() const {
    return internal::GetOption(fd(), internal::SocketOption::kReusePort);
  }

  // Whether an IPv6 socket that listens on any address keeps away from IPv4
  // (IPV6_V6ONLY). Set it before `Bind()`.
  absl::Status SetOnlyIPv6(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kOnlyIPv6, on);
  }
  absl::StatusOr<bool> OnlyIPv6() const {
    return internal::GetOption(fd(), internal::SocketOption::kOnlyIPv6);
  }

  // Where it will listen, or connect from. Port 0 lets the system choose one.
  // Errors as of `TcpListener::Bind()`.
  absl::Status Bind(const SocketAddr& addr) const { return socket_.Bind(addr); }

  // Connects to `addr`, as `TcpStream::Connect()`.
  TcpStream::ConnectFuture Connect(
      const SocketAddr& addr, reactor::Handle handle = reactor::Handle()) &&;

  // Listens where it is bound. Up to `backlog` connections wait to be accepted,
  // and no more than the system's limit; those beyond have to try again.
  absl::StatusOr<TcpListener> Listen(
      int backlog = SOMAXCONN,
      const reactor::Handle& handle = reactor::Handle()) &&;

  // Where it is bound.
  absl::StatusOr<SocketAddr> local_addr() const { return socket_.LocalAddr(); }

  // The descriptor. It stays owned.
  int fd() const { return socket_.fd(); }

  // Takes the descriptor out; it stays non-blocking.
  OwnedFd IntoFd() && { return std::move(socket_).IntoFd(); }

 private:
  explicit TcpSocket(internal::Socket socket) : socket_(std::move(socket)) {}

  internal::Socket socket_;
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_SOCKET_H_
