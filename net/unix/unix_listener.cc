// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_listener.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

using internal::Socket;

absl::StatusOr<UnixListener> UnixListener::Bind(const UnixAddr& addr,
                                                const reactor::Handle& handle) {
  return BindAndListen(SOCK_STREAM, addr, handle);
}

absl::StatusOr<UnixListener> UnixListener::FromFd(
    OwnedFd fd, const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_UNIX, SOCK_STREAM), handle);
}

}  // namespace rouse
