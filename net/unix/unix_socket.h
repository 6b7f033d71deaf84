// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_socket.h
// -----------------------------------------------------------------------------
//
// A `UnixSocket` is a Unix stream socket that is neither connected nor
// listening yet, to choose the length of the queue, or the name of a client:
//
//   UnixSocket socket = co_await rouse::OrReturn(UnixSocket::Open());
//   co_await rouse::OrReturn(socket.Bind(addr));
//   UnixListener listener =
//       co_await rouse::OrReturn(std::move(socket).Listen(/*backlog=*/16));
//
// Otherwise, `UnixStream::Connect()` and `UnixListener::Bind()` do everything
// in one step.

#ifndef ROUSE_NET_UNIX_UNIX_SOCKET_H_
#define ROUSE_NET_UNIX_UNIX_SOCKET_H_

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

// UnixSocket
//
// Owns the socket and closes it on destruction. Needs no reactor, unlike the
// stream or listener that is made from the socket. Movable; const members are
// thread-safe.
//
// Errors are those of the system calls, converted by `absl::ErrnoToStatus()`.
class UnixSocket {
 public:
  // Opens a stream socket. Returns ResourceExhausted if out of descriptors or
  // memory.
  static absl::StatusOr<UnixSocket> Open();

  // Takes over a stream socket and makes the socket non-blocking. On failure
  // closes `fd`. Returns InvalidArgument if `fd` is not a Unix stream socket;
  // FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<UnixSocket> FromFd(OwnedFd fd);

  UnixSocket(UnixSocket&&) = default;
  UnixSocket& operator=(UnixSocket&&) = default;

  // Sets the address at which the socket will listen, or which the peer will
  // see as the address of the client. A path stays in the file system when the
  // socket is destroyed. Errors are those of `UnixListener::Bind()`.
  absl::Status Bind(const UnixAddr& addr) const { return socket_.Bind(addr); }

  // Connects to `addr`, like `UnixStream::Connect()`.
  UnixStream::ConnectFuture Connect(
      const UnixAddr& addr, reactor::Handle handle = reactor::Handle()) &&;

  // Listens at the bound address. At most about `backlog` connections, and no
  // more than the system's limit, wait to be accepted; `UnixStream::Connect()`
  // returns Unavailable to further clients. Returns InvalidArgument if the
  // socket is not bound.
  absl::StatusOr<UnixListener> Listen(
      int backlog = SOMAXCONN,
      const reactor::Handle& handle = reactor::Handle()) &&;

  // Returns the address to which the socket is bound, unnamed at first.
  absl::StatusOr<UnixAddr> local_addr() const {
    return socket_.LocalAddr<UnixAddr>();
  }

  // Returns the descriptor, which the socket continues to own.
  int fd() const { return socket_.fd(); }

  // Releases the descriptor, which stays non-blocking.
  OwnedFd IntoFd() && { return std::move(socket_).IntoFd(); }

 private:
  explicit UnixSocket(internal::Socket socket) : socket_(std::move(socket)) {}

  internal::Socket socket_;
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_SOCKET_H_
