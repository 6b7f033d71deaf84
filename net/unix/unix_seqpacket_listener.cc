// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_seqpacket_listener.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

using internal::Socket;

absl::StatusOr<UnixSeqpacketListener> UnixSeqpacketListener::Bind(
    const UnixAddr& addr, const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Open(AF_UNIX, SOCK_SEQPACKET);
  if (!socket.ok()) return std::move(socket).status();
  absl::Status status = socket->Bind(addr);
  if (status.ok()) status = socket->Listen();
  if (!status.ok()) return status;
  return FromSocket(*std::move(socket), handle);
}

absl::StatusOr<UnixSeqpacketListener> UnixSeqpacketListener::FromFd(
    OwnedFd fd, const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_UNIX, SOCK_SEQPACKET),
                    handle);
}

}  // namespace rouse
