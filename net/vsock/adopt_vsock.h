// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: adopt_vsock.h
// -----------------------------------------------------------------------------
//
// For use in net/vsock/ only: takes over descriptors.

#ifndef ROUSE_NET_VSOCK_ADOPT_VSOCK_H_
#define ROUSE_NET_VSOCK_ADOPT_VSOCK_H_

#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// Like `Socket::Adopt()`, for a stream socket of AF_VSOCK. Returns
// InvalidArgument, and leaves the open file unchanged, if `fd` is a socket of
// another kind.
absl::StatusOr<Socket> AdoptVsock(OwnedFd fd);

}  // namespace rouse::internal

#endif  // ROUSE_NET_VSOCK_ADOPT_VSOCK_H_
