// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: socket.h
// -----------------------------------------------------------------------------
//
// For net/ itself: the system calls on sockets, all of them in one place.

#ifndef ROUSE_NET_SOCKET_H_
#define ROUSE_NET_SOCKET_H_

#include <sys/types.h>

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// Socket
//
// Owns a socket, non-blocking and closed on exec. Functions with a `Status` are
// done when they return; an error names the call and the address. Functions
// that return `ssize_t` or `int` return what the system call does, and set
// `errno`: they may have to be repeated.
class Socket {
 public:
  Socket() = default;

  // A TCP socket of the family of `addr`.
  static absl::StatusOr<Socket> Open(const SocketAddr& addr);

  // Takes over a socket, and makes it non-blocking and closed on exec.
  // InvalidArgument if it is no stream socket.
  static absl::StatusOr<Socket> Adopt(OwnedFd fd);

  int fd() const { return fd_.get(); }
  OwnedFd IntoFd() && { return std::move(fd_); }

  // With SO_REUSEADDR, so that a server can be started again at once.
  absl::Status Bind(const SocketAddr& addr) const;
  // With the longest queue that the system allows.
  absl::Status Listen() const;
  absl::Status ShutdownWrite() const;
  absl::Status SetNoDelay(bool on) const;
  absl::StatusOr<bool> NoDelay() const;
  absl::StatusOr<SocketAddr> LocalAddr() const;
  absl::StatusOr<SocketAddr> PeerAddr() const;

  // Takes the socket's pending error: 0 if there is none.
  int TakeError() const;

  // 0 or -1. EINPROGRESS, and EINTR: under way, ends when writable.
  int Connect(const SocketAddr& addr) const;

  // On success sets `socket` and `addr` and returns 0.
  int Accept(Socket& socket, SocketAddr& addr) const;

  ssize_t Receive(absl::Span<char> buffer) const;
  // EPIPE comes without SIGPIPE.
  ssize_t Send(std::string_view data) const;

  // The status of a failed call, such as "recv from 192.0.2.1:80".
  absl::Status ErrorAtPeer(int error, std::string_view call) const;
  absl::Status ErrorAtLocal(int error, std::string_view call) const;

 private:
  explicit Socket(OwnedFd fd) : fd_(std::move(fd)) {}

  OwnedFd fd_;
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_H_
