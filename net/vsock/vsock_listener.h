// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: vsock_listener.h
// -----------------------------------------------------------------------------
//
// A `VsockListener` accepts connections from the host of this machine, from
// its guests, or from this machine itself:
//
//   absl::StatusOr<VsockListener> listener =
//       VsockListener::Bind(VsockAddr(VsockAddr::kAnyCid, 1024));
//   for (;;) {
//     absl::StatusOr<VsockListener::Accepted> accepted =
//         co_await listener->Accept();
//     ...
//   }

#ifndef ROUSE_NET_VSOCK_VSOCK_LISTENER_H_
#define ROUSE_NET_VSOCK_VSOCK_LISTENER_H_

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/listener_base.h"
#include "rouse/net/vsock/vsock_addr.h"
#include "rouse/net/vsock/vsock_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

// VsockListener
//
// Like `TcpListener`, for connections between virtual machines and their host.
// Shares the members in net/socket/listener_base.h, such as `Accept()`, with
// the other listeners. The CID of an accepted peer says which machine it is.
class VsockListener
    : public internal::ListenerBase<VsockListener, VsockStream, VsockAddr> {
 public:
  // Listens at `addr`, whose CID must be this machine's, `VsockAddr::kAnyCid`
  // or `VsockAddr::kLocal`. With `VsockAddr::kAnyPort` the system chooses a
  // port, which `local_addr()` returns.
  //
  //   FailedPrecondition   the address is in use (EADDRINUSE), or the current
  //                        reactor handle is not bound to a reactor
  //   AlreadyExists        not a CID of this machine (EADDRNOTAVAIL)
  //   PermissionDenied     the port, below 1024, is reserved for the
  //                        administrator
  //   ResourceExhausted    out of descriptors or memory
  //   Unimplemented        the kernel has no vsock (EAFNOSUPPORT)
  static absl::StatusOr<VsockListener> Bind(
      const VsockAddr& addr, const reactor::Handle& handle = reactor::Handle());

  // Takes over a listening stream socket of this family, and makes the socket
  // non-blocking. On failure closes `fd`. Returns InvalidArgument if `fd` is
  // not a stream socket of this family; FailedPrecondition if `fd` is not an
  // open descriptor.
  static absl::StatusOr<VsockListener> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  VsockListener(VsockListener&&) = default;
  VsockListener& operator=(VsockListener&&) = default;

 private:
  friend EventedBase;
  friend ListenerBase;

  static constexpr std::string_view kAcceptName = "VsockListener::Accept()";

  explicit VsockListener(Evented evented) : ListenerBase(std::move(evented)) {}
};

}  // namespace rouse

#endif  // ROUSE_NET_VSOCK_VSOCK_LISTENER_H_
