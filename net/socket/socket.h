// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: socket.h
// -----------------------------------------------------------------------------
//
// For net/ itself: the system calls on sockets, all of them in one place.

#ifndef ROUSE_NET_SOCKET_SOCKET_H_
#define ROUSE_NET_SOCKET_SOCKET_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll_evented.h"

namespace rouse::internal {

// RawAddr
//
// An address of any family, as a system call fills it in.
struct RawAddr {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): by the call
  RawAddr() : size(sizeof storage) {}

  sockaddr* data() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* data() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }

  // As a `SocketAddr` or a `UnixAddr`. Where it is of another kind, the
  // default: a peer of an adopted socket.
  template <class Addr>
  Addr To() const {
    return Addr::FromSockaddr(data(), size).value_or(Addr());
  }

  sockaddr_storage storage;
  socklen_t size;
};

// Socket
//
// Owns a socket, non-blocking and closed on exec. Functions with a `Status` are
// done when they return; an error names the call and the address. Functions
// that return `ssize_t` or `int` return what the system call does, and set
// `errno`: they may have to be repeated.
class Socket {
 public:
  Socket() = default;

  // As socket(2) and socketpair(2).
  static absl::StatusOr<Socket> Open(int family, int type);
  static absl::StatusOr<std::pair<Socket, Socket>> OpenPair(int family,
                                                            int type);

  // Takes over a socket, and makes it non-blocking and closed on exec.
  // InvalidArgument if it is not of `type`.
  static absl::StatusOr<Socket> Adopt(OwnedFd fd, int type);
  // The same of a TCP socket. What is none stays as it was.
  static absl::StatusOr<Socket> AdoptTcp(OwnedFd fd);

  int fd() const { return fd_.get(); }
  OwnedFd IntoFd() && { return std::move(fd_); }

  // `Addr` is a `SocketAddr` or a `UnixAddr`.
  template <class Addr>
  absl::Status Bind(const Addr& addr) const {
    if (bind(fd(), addr.data(), addr.size()) == 0) return absl::OkStatus();
    return BindError(addr.ToString());
  }
  // `backlog`: how many connections may wait to be accepted.
  absl::Status Listen(int backlog = SOMAXCONN) const;
  // `how` as of shutdown(2).
  absl::Status Shutdown(int how) const;
  absl::StatusOr<SocketAddr> LocalAddr() const;
  absl::StatusOr<SocketAddr> PeerAddr() const;
  absl::StatusOr<UnixAddr> LocalUnixAddr() const;
  absl::StatusOr<UnixAddr> PeerUnixAddr() const;

  // Takes the socket's pending error: 0 if there is none.
  int TakeError() const;

  // 0 or -1. EINPROGRESS, and EINTR: under way, ends when writable.
  template <class Addr>
  int Connect(const Addr& addr) const {
    return connect(fd(), addr.data(), addr.size());
  }

  // On success sets `socket` and `peer` and returns 0.
  int Accept(Socket& socket, RawAddr& peer) const;

  // In the header, so that `PollIo()` inlines it. `flags` as of recv(2).
  ssize_t Receive(absl::Span<char> buffer, int flags = 0) const {
    return recv(fd(), buffer.data(), buffer.size(), flags);
  }
  // EPIPE comes without SIGPIPE.
  ssize_t Send(std::string_view data) const {
    return send(fd(), data.data(), data.size(), MSG_NOSIGNAL);
  }
  // The same, of the first parts that fit into one call.
  ssize_t SendParts(absl::Span<const std::string_view> parts) const;

  // The status of a failed call, such as "recv from 192.0.2.1:80".
  absl::Status ErrorAtPeer(int error, std::string_view call) const;
  absl::Status ErrorAtLocal(int error, std::string_view call) const;

 private:
  explicit Socket(OwnedFd fd) : fd_(std::move(fd)) {}

  static absl::Status BindError(const std::string& addr);

  OwnedFd fd_;
};

// One that tasks wait for.
using EventedSocket = reactor::PollEvented<Socket>;

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_SOCKET_H_
