// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_socket.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

using internal::Socket;

absl::StatusOr<TcpSocket> TcpSocket::Open(const SocketAddr& addr) {
  absl::StatusOr<Socket> socket = Socket::Open(addr.family(), SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  return TcpSocket(*std::move(socket));
}

absl::StatusOr<TcpSocket> TcpSocket::OpenMultipath(const SocketAddr& addr) {
  absl::StatusOr<Socket> socket = Socket::OpenMultipathTcp(addr.family());
  if (!socket.ok()) return std::move(socket).status();
  return TcpSocket(*std::move(socket));
}

absl::StatusOr<TcpSocket> TcpSocket::FromFd(OwnedFd fd) {
  absl::StatusOr<Socket> socket =
      Socket::Adopt(std::move(fd), AF_INET, SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  return TcpSocket(*std::move(socket));
}

TcpStream::ConnectFuture TcpSocket::Connect(const SocketAddr& addr,
                                            reactor::Handle handle) && {
  return TcpStream::ConnectFuture(absl::MakeConstSpan(&addr, 1),
                                  std::move(handle), std::move(socket_));
}

absl::StatusOr<TcpListener> TcpSocket::Listen(
    int backlog, const reactor::Handle& handle) && {
  absl::Status status = socket_.Listen(backlog);
  if (!status.ok()) return status;
  return TcpListener::FromSocket(std::move(socket_), handle);
}

}  // namespace rouse
