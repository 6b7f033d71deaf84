// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: peer_credentials.h
// -----------------------------------------------------------------------------
//
// Identifies the process at the other end of a Unix socket:
//
//   PeerCredentials peer =
//       co_await rouse::OrReturn(stream.GetPeerCredentials());
//   if (peer.uid != getuid()) co_return absl::PermissionDeniedError("not me");

#ifndef ROUSE_NET_UNIX_PEER_CREDENTIALS_H_
#define ROUSE_NET_UNIX_PEER_CREDENTIALS_H_

#include "rouse/base/cxx20.h"

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"

namespace rouse {

// PeerCredentials
//
// Describes the process that connected, listened or made the pair, with its
// effective user and group at that time. The kernel guarantees the values.
// Meanwhile `pid` may belong to another process; `pid` is 0 if the process is
// not visible from here.
struct PeerCredentials {
  PeerCredentials(pid_t pid, uid_t uid, gid_t gid)
      : pid(pid), uid(uid), gid(gid) {}

  // Returns the credentials, for logs, as "process 7 (user 1000, group 1000)".
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const PeerCredentials& peer) {
    sink.Append(peer.ToString());
  }

  pid_t pid;
  uid_t uid;
  gid_t gid;
};

namespace internal {

// Returns the credentials of the peer of the socket `fd`, or FailedPrecondition
// if the socket is not connected.
absl::StatusOr<PeerCredentials> PeerCredentialsOf(int fd);

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_PEER_CREDENTIALS_H_
