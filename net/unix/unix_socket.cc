// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_socket.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_listener.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

using internal::Socket;

absl::StatusOr<UnixSocket> UnixSocket::Open() {
  absl::StatusOr<Socket> socket = Socket::Open(AF_UNIX, SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  return UnixSocket(*std::move(socket));
}

absl::StatusOr<UnixSocket> UnixSocket::FromFd(OwnedFd fd) {
  absl::StatusOr<Socket> socket =
      Socket::Adopt(std::move(fd), AF_UNIX, SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  return UnixSocket(*std::move(socket));
}

UnixStream::ConnectFuture UnixSocket::Connect(const UnixAddr& addr,
                                              reactor::Handle handle) && {
  return UnixStream::ConnectFuture(addr, std::move(handle), std::move(socket_));
}

absl::StatusOr<UnixListener> UnixSocket::Listen(
    int backlog, const reactor::Handle& handle) && {
  absl::Status status = socket_.Listen(backlog);
  if (!status.ok()) return status;
  return UnixListener::FromSocket(std::move(socket_), handle);
}

}  // namespace rouse
