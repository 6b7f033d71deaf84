// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: socket.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: all system calls on sockets, in one place.

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
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll_evented.h"

namespace rouse::internal {

// RawAddr
//
// An address of any family, as filled in by a system call.
struct RawAddr {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): by the call
  RawAddr() : size(sizeof storage) {}

  sockaddr* data() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* data() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }

  // Returns the text of an address of any family, as the class of that family
  // prints it.
  std::string ToString() const;

  // Converts the address to an `Addr`, such as a `SocketAddr` or a `UnixAddr`.
  // Returns a default address if the family differs, as it can for the peer of
  // an adopted socket.
  template <class Addr>
  Addr To() const {
    return Addr::FromSockaddr(data(), size).value_or(Addr());
  }

  sockaddr_storage storage;
  socklen_t size;
};

// Socket
//
// Owns a socket, non-blocking and closed on exec. Functions that return a
// `Status` are complete on return; their errors name the call and the address.
// Functions that return `ssize_t` or `int` return the result of the system
// call, and set `errno`: the caller may have to repeat the call.
class Socket {
 public:
  Socket() = default;

  // Opens a socket or a pair, like socket(2) and socketpair(2).
  static absl::StatusOr<Socket> Open(int family, int type);
  static absl::StatusOr<std::pair<Socket, Socket>> OpenPair(int family,
                                                            int type);
  // Opens a socket of Multipath TCP or, if the system has none, of TCP.
  static absl::StatusOr<Socket> OpenMultipathTcp(int family);

  // Takes over a socket, and makes the socket non-blocking and closed on exec.
  // AF_INET stands for AF_INET6, too, and a stream of this family is a TCP
  // socket. Returns InvalidArgument, which names the kind of the socket, and
  // leaves the socket unchanged if the socket is of another kind.
  //
  // REQUIRES: Rouse has a type for such sockets.
  static absl::StatusOr<Socket> Adopt(OwnedFd fd, int family, int type);

  int fd() const { return fd_.get(); }
  OwnedFd IntoFd() && { return std::move(fd_); }

  // Binds the socket to `addr`.
  template <class Addr>
  absl::Status Bind(const Addr& addr) const {
    if (bind(fd(), addr.data(), addr.size()) == 0) return absl::OkStatus();
    return BindError(addr.ToString());
  }
  // Listens. At most `backlog` connections wait to be accepted.
  absl::Status Listen(int backlog = SOMAXCONN) const;
  // Shuts down one or both directions; `how` is an argument of shutdown(2).
  absl::Status Shutdown(int how) const;
  // Return the address of this end or of the peer, as an `Addr`.
  template <class Addr>
  absl::StatusOr<Addr> LocalAddr() const {
    RawAddr addr;
    absl::Status status = GetLocalName(addr);
    if (!status.ok()) return status;
    return Addr::FromSockaddr(addr.data(), addr.size);
  }
  template <class Addr>
  absl::StatusOr<Addr> PeerAddr() const {
    RawAddr addr;
    absl::Status status = GetPeerName(addr);
    if (!status.ok()) return status;
    return Addr::FromSockaddr(addr.data(), addr.size);
  }

  // Clears and returns the socket's pending error, or 0 if there is none.
  int TakeError() const;

  // Returns 0 or -1. After EINPROGRESS, and EINTR, the attempt continues, and
  // ends when the socket is writable.
  template <class Addr>
  int Connect(const Addr& addr) const {
    return connect(fd(), addr.data(), addr.size());
  }

  // Like `Connect()`, for a Unix socket, whose attempt ends with the call.
  absl::Status ConnectUnix(const UnixAddr& addr) const;

  // On success sets `socket` and `peer` and returns 0.
  int Accept(Socket& socket, RawAddr& peer) const;

  // Receives bytes. Defined in the header so that `PollIo()` can inline the
  // call. `flags` are those of recv(2).
  ssize_t Receive(absl::Span<char> buffer, int flags = 0) const {
    return recv(fd(), buffer.data(), buffer.size(), flags);
  }
  // Like `Receive()`, into the first buffers that fit into one call.
  ssize_t ReceiveParts(absl::Span<const absl::Span<char>> buffers) const;
  // Sends bytes. EPIPE comes without SIGPIPE.
  ssize_t Send(std::string_view data) const {
    return send(fd(), data.data(), data.size(), MSG_NOSIGNAL);
  }
  // Like `Send()`, for the first parts that fit into one call.
  ssize_t SendParts(absl::Span<const std::string_view> parts) const;

  // Return the status for a failed call, such as "recv from 192.0.2.1:80".
  absl::Status ErrorAtPeer(int error, std::string_view call) const;
  absl::Status ErrorAtLocal(int error, std::string_view call) const;

 private:
  explicit Socket(OwnedFd fd) : fd_(std::move(fd)) {}

  static absl::Status BindError(const std::string& addr);

  absl::Status GetLocalName(RawAddr& addr) const;
  absl::Status GetPeerName(RawAddr& addr) const;

  OwnedFd fd_;
};

// A socket for which tasks can wait.
using EventedSocket = reactor::PollEvented<Socket>;

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_SOCKET_H_
