// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_listener.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

using internal::Socket;

absl::StatusOr<TcpListener> TcpListener::Bind(const SocketAddr& addr,
                                              const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Open(addr.family(), SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  absl::Status status = internal::SetOption(
      socket->fd(), internal::SocketOption::kReuseAddr, true);
  if (status.ok()) status = socket->Bind(addr);
  if (status.ok()) status = socket->Listen();
  if (!status.ok()) return status;
  return FromSocket(*std::move(socket), handle);
}

absl::StatusOr<TcpListener> TcpListener::FromFd(OwnedFd fd,
                                                const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_INET, SOCK_STREAM), handle);
}

}  // namespace rouse
