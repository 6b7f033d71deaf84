// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: peer_credentials.h
// -----------------------------------------------------------------------------
//
// Who is at the other end of a Unix socket:
//
//   PeerCredentials peer =
//       co_await rouse::OrReturn(stream.GetPeerCredentials());
//   if (peer.uid != getuid()) co_return absl::PermissionDeniedError("not me");

#ifndef ROUSE_NET_UNIX_PEER_CREDENTIALS_H_
#define ROUSE_NET_UNIX_PEER_CREDENTIALS_H_

#include <sys/types.h>

#include "absl/status/statusor.h"

namespace rouse {

// PeerCredentials
//
// The process that connected, listened, or made the pair, and its effective
// user and group at that time. Vouched for by the kernel. The number of the
// process may be another's by now, and is 0 if it cannot be seen from here.
struct PeerCredentials {
  PeerCredentials(pid_t pid, uid_t uid, gid_t gid)
      : pid(pid), uid(uid), gid(gid) {}

  pid_t pid;
  uid_t uid;
  gid_t gid;
};

namespace internal {

// FailedPrecondition if the socket is not connected.
absl::StatusOr<PeerCredentials> PeerCredentialsOf(int fd);

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_PEER_CREDENTIALS_H_
