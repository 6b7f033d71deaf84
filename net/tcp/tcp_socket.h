// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_socket.h
// -----------------------------------------------------------------------------
//
// A `TcpSocket` is a TCP socket that is neither connected nor listening yet,
// for options that must be set before:
//
//   TcpSocket socket = co_await rouse::OrReturn(TcpSocket::Open(addr));
//   co_await rouse::OrReturn(socket.SetReceiveBufferSize(1 << 20));
//   TcpStream stream =
//       co_await rouse::OrReturn(std::move(socket).Connect(addr));
//
// If no such option is needed, `TcpStream::Connect()` and `TcpListener::Bind()`
// do everything in one step.

#ifndef ROUSE_NET_TCP_TCP_SOCKET_H_
#define ROUSE_NET_TCP_TCP_SOCKET_H_

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
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
// Owns the socket and closes it on destruction. Needs no reactor, unlike the
// stream or listener that is made from the socket. Movable; const members are
// thread-safe.
//
// Errors are those of the system calls, converted by `absl::ErrnoToStatus()`.
class TcpSocket : public TcpOptions<TcpSocket> {
 public:
  // Opens a socket of the family of `addr`, IPv4 or IPv6. Returns
  // ResourceExhausted if out of descriptors or memory.
  static absl::StatusOr<TcpSocket> Open(const SocketAddr& addr);

  // Opens a socket like `Open()`, whose connection can use several paths at
  // once, such as Wi-Fi and a mobile network (Multipath TCP). Opens a TCP
  // socket if the system has no Multipath TCP (before Linux 5.6, or with the
  // sysctl net.mptcp.enabled at 0). If the peer has none, the connection is a
  // TCP connection. `IsMultipath()` returns what became of the socket.
  static absl::StatusOr<TcpSocket> OpenMultipath(const SocketAddr& addr);

  // Takes over a TCP socket and makes the socket non-blocking. On failure
  // closes `fd`. Returns InvalidArgument if `fd` is not a TCP socket;
  // FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<TcpSocket> FromFd(OwnedFd fd);

  TcpSocket(TcpSocket&&) = default;
  TcpSocket& operator=(TcpSocket&&) = default;

  // Sets or returns whether the socket can bind to an address that an earlier
  // server released only a moment ago (SO_REUSEADDR). Off in a new socket;
  // `TcpListener::Bind()` turns the option on.
  absl::Status SetReuseAddr(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kReuseAddr, on);
  }
  absl::StatusOr<bool> ReuseAddr() const {
    return internal::GetOption(fd(), internal::SocketOption::kReuseAddr);
  }

  // Sets or returns whether several sockets, all with this option on, can
  // listen on one address (SO_REUSEPORT); the system distributes the
  // connections among the sockets. `TcpListenerGroup` makes such sockets.
  absl::Status SetReusePort(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kReusePort, on);
  }
  absl::StatusOr<bool> ReusePort() const {
    return internal::GetOption(fd(), internal::SocketOption::kReusePort);
  }

  // Sets or returns whether an IPv6 socket that listens on the unspecified
  // address ignores IPv4 (IPV6_V6ONLY). The option must be set before `Bind()`.
  absl::Status SetOnlyIPv6(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kOnlyIPv6, on);
  }
  absl::StatusOr<bool> OnlyIPv6() const {
    return internal::GetOption(fd(), internal::SocketOption::kOnlyIPv6);
  }

  // Sets or returns how many connections of clients that send bytes with their
  // first packet (TCP_FASTOPEN) can wait for the end of their handshake, on a
  // socket that will listen. 0, the initial value, refuses such bytes, and the
  // client sends them again. An application must tolerate that the bytes of a
  // first packet arrive twice.
  absl::Status SetFastOpen(int backlog) const {
    return internal::SetOption(fd(), internal::SocketOption::kFastOpen,
                               backlog);
  }
  absl::StatusOr<int> FastOpen() const {
    return internal::GetOption(fd(), internal::SocketOption::kFastOpen);
  }

  // Sets or returns whether the first bytes go with the first packet, on a
  // socket that will connect (TCP_FASTOPEN_CONNECT). If the client has a cookie
  // of the server, `Connect()` succeeds without a packet, and an error of the
  // connection is returned by the first write or read. Off in a new socket.
  absl::Status SetFastOpenConnect(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kFastOpenConnect,
                               on);
  }
  absl::StatusOr<bool> FastOpenConnect() const {
    return internal::GetOption(fd(), internal::SocketOption::kFastOpenConnect);
  }

  // Sets or returns for how long a connection without bytes is kept from a
  // socket that will listen (TCP_DEFER_ACCEPT). `Accept()` then returns a
  // connection when its first bytes have arrived, or about `limit` later. The
  // limit is rounded up to whole seconds, and then by the system to the time of
  // a number of retransmissions. Zero, the initial value, turns the option off.
  absl::Status SetDeferAccept(absl::Duration limit) const {
    return internal::SetDeferAccept(fd(), limit);
  }
  absl::StatusOr<absl::Duration> DeferAccept() const {
    return internal::GetDeferAccept(fd());
  }

  // Sets the address on which the socket will listen, or from which the socket
  // will connect. With port 0 the system chooses a port. Errors are those of
  // `TcpListener::Bind()`.
  absl::Status Bind(const SocketAddr& addr) const { return socket_.Bind(addr); }

  // Connects to `addr`, like `TcpStream::Connect()`.
  TcpStream::ConnectFuture Connect(
      const SocketAddr& addr, reactor::Handle handle = reactor::Handle()) &&;

  // Listens on the bound address. At most `backlog` connections, and no more
  // than the system's limit, wait to be accepted; further clients must try
  // again.
  absl::StatusOr<TcpListener> Listen(
      int backlog = SOMAXCONN,
      const reactor::Handle& handle = reactor::Handle()) &&;

  // Returns the address to which the socket is bound.
  absl::StatusOr<SocketAddr> local_addr() const {
    return socket_.LocalAddr<SocketAddr>();
  }

  // Returns the descriptor, which the socket continues to own.
  int fd() const { return socket_.fd(); }

  // Releases the descriptor, which stays non-blocking.
  OwnedFd IntoFd() && { return std::move(socket_).IntoFd(); }

 private:
  friend class TcpListenerGroup;

  explicit TcpSocket(internal::Socket socket) : socket_(std::move(socket)) {}

  internal::Socket socket_;
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_SOCKET_H_
