// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/peer_credentials.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace rouse {

std::string PeerCredentials::ToString() const {
  return absl::StrCat("process ", pid, " (user ", uid, ", group ", gid, ")");
}

namespace internal {

absl::StatusOr<PeerCredentials> PeerCredentialsOf(int fd) {
  ucred credentials = {};
  socklen_t size = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return absl::ErrnoToStatus(errno, "getsockopt(SO_PEERCRED)");
  }
  // The kernel returns this value if there is no peer.
  if (credentials.uid == static_cast<uid_t>(-1)) {
    return absl::FailedPreconditionError(
        "getsockopt(SO_PEERCRED): the socket is not connected");
  }
  return PeerCredentials(credentials.pid, credentials.uid, credentials.gid);
}

}  // namespace internal
}  // namespace rouse
