// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/vsock/adopt_vsock.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

absl::StatusOr<Socket> AdoptVsock(OwnedFd fd) {
  const absl::StatusOr<int> family = FamilyOf(fd.get());
  if (!family.ok()) return family.status();
  if (*family != AF_VSOCK) {
    return absl::InvalidArgumentError("the descriptor is not a vsock");
  }
  return Socket::Adopt(std::move(fd), SOCK_STREAM);
}

}  // namespace rouse::internal
