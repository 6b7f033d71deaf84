// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_listener.h
// -----------------------------------------------------------------------------
//
// A `UnixListener` accepts connections from processes of this machine:
//
//   absl::StatusOr<UnixListener> listener = UnixListener::Bind(
//       UnixAddr::FromPath("/run/app.sock").value());
//   for (;;) {
//     absl::StatusOr<UnixListener::Accepted> accepted =
//         co_await listener->Accept();
//     ...
//   }

#ifndef ROUSE_NET_UNIX_UNIX_LISTENER_H_
#define ROUSE_NET_UNIX_UNIX_LISTENER_H_

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/listener_base.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

// UnixListener
//
// Shares the members in net/socket/listener_base.h, such as `Accept()`, with
// `TcpListener`.
//
// Like `TcpListener`, for Unix sockets. A path to which the listener was bound
// stays in the file system when the listener is destroyed: remove the path
// before the next listener is bound to the same path. An abstract name
// disappears with the listener.
class UnixListener
    : public internal::ListenerBase<UnixListener, UnixStream, UnixAddr> {
 public:
  // Listens at `addr`.
  //
  //   FailedPrecondition   the path exists, or the name is in use
  //                        (EADDRINUSE), or the current reactor handle is not
  //                        bound to a reactor
  //   NotFound             no such directory exists
  //   PermissionDenied     no permission to write to the directory
  //   ResourceExhausted    out of descriptors or memory
  static absl::StatusOr<UnixListener> Bind(
      const UnixAddr& addr, const reactor::Handle& handle = reactor::Handle());

  // Takes over a listening stream socket and makes the socket non-blocking. On
  // failure closes `fd`. Returns InvalidArgument if `fd` is not a Unix stream
  // socket; FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<UnixListener> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixListener(UnixListener&&) = default;
  UnixListener& operator=(UnixListener&&) = default;

 private:
  friend EventedBase;
  friend ListenerBase;
  friend class UnixSocket;

  static constexpr std::string_view kAcceptName = "UnixListener::Accept()";

  explicit UnixListener(Evented evented) : ListenerBase(std::move(evented)) {}
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_LISTENER_H_
