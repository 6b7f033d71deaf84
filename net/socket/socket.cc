// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket/socket.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

// After <sys/socket.h>, which it needs.
#include <linux/vm_sockets.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/log/vlog.h"
#include "rouse/io/fd/adopt_fd.h"
#include "rouse/io/fd/io_vectors.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {
namespace {

// The type of getsockname() and getpeername().
using NameCall = int (*)(int fd, sockaddr* addr, socklen_t* size);

// Like getpeername(2), but also works after the connection has ended, for
// example after a reset. The kernel then keeps the address, but returns it only
// through SO_PEERNAME, which requires the exact size.
int PeerName(int fd, sockaddr* addr, socklen_t* size) {
  const socklen_t room = *size;
  if (getpeername(fd, addr, size) == 0) return 0;
  const int error = errno;
  const absl::StatusOr<int> family = FamilyOf(fd);
  if (error == ENOTCONN && family.ok() &&
      (*family == AF_INET || *family == AF_INET6)) {
    *size = *family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (*size <= room &&
        getsockopt(fd, SOL_SOCKET, SO_PEERNAME, addr, size) == 0) {
      return 0;
    }
  }
  errno = error;
  return -1;
}

absl::Status NamedError(int error, std::string_view call, int fd,
                        NameCall name) {
  RawAddr addr;
  if (name(fd, addr.data(), &addr.size) != 0) {
    return absl::ErrnoToStatus(error, call);
  }
  return absl::ErrnoToStatus(error, absl::StrCat(call, " ", addr.ToString()));
}

// A kind of socket, for messages: what it is, and the types to use for it.
struct Kind {
  int family;
  int type;
  std::string_view name;
  std::string_view use;
};

constexpr Kind kKinds[] = {
    {AF_INET, SOCK_STREAM, "a TCP socket", "TcpStream or TcpListener"},
    {AF_INET, SOCK_DGRAM, "a UDP socket", "UdpSocket"},
    {AF_UNIX, SOCK_STREAM, "a Unix stream socket",
     "UnixStream or UnixListener"},
    {AF_UNIX, SOCK_DGRAM, "a Unix datagram socket", "UnixDatagram"},
    {AF_UNIX, SOCK_SEQPACKET, "a Unix seqpacket socket",
     "UnixSeqpacket or UnixSeqpacketListener"},
    {AF_VSOCK, SOCK_STREAM, "a vsock", "VsockStream or VsockListener"},
};

// Returns the kind, or null if Rouse has no type for such sockets.
const Kind* FindKind(int family, int type) {
  if (family == AF_INET6) family = AF_INET;
  for (const Kind& kind : kKinds) {
    if (kind.family == family && kind.type == type) return &kind;
  }
  return nullptr;
}

// Returns whether a protocol is not the one that the kind assumes. A stream
// socket of IPv4 or IPv6 is not always a TCP socket: with SCTP, for example, a
// read may also stop before the end of the data that has arrived.
bool HasOtherProtocol(const Kind& kind, int protocol) {
  return kind.family == AF_INET && kind.type == SOCK_STREAM &&
         protocol != IPPROTO_TCP && protocol != kMultipathTcp;
}

absl::Status CheckKind(int fd, const Kind& wanted) {
  const absl::StatusOr<int> family = FamilyOf(fd);
  if (!family.ok()) return family.status();
  const absl::StatusOr<int> type =
      GetOption(fd, SocketOption{SOL_SOCKET, SO_TYPE, "SO_TYPE"});
  if (!type.ok()) return type.status();
  const absl::StatusOr<int> protocol =
      GetOption(fd, SocketOption{SOL_SOCKET, SO_PROTOCOL, "SO_PROTOCOL"});
  if (!protocol.ok()) return protocol.status();
  const Kind* const kind = FindKind(*family, *type);
  if (kind == nullptr || HasOtherProtocol(*kind, *protocol)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the descriptor is a socket of family ", *family,
                     " and type ", *type, ", not ", wanted.name));
  }
  if (kind == &wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the descriptor is ", kind->name, ", not ", wanted.name,
                   "; use ", kind->use));
}

// Returns whether an error of socket(2) means that the system has no Multipath
// TCP: an old kernel does not know the number, a kernel can lack the protocol,
// and an administrator can turn the protocol off.
bool IsWithoutMultipathTcp(int error) {
  return error == EINVAL || error == EPROTONOSUPPORT || error == ENOPROTOOPT;
}

}  // namespace

std::string RawAddr::ToString() const {
  // For some unnamed peers the system returns no address at all.
  if (size == 0) return UnixAddr().ToString();
  switch (data()->sa_family) {
    case AF_UNIX:
      return To<UnixAddr>().ToString();
    case AF_VSOCK: {
      // Without a dependency on `VsockAddr`, which few programs need.
      const auto* vsock = reinterpret_cast<const sockaddr_vm*>(data());
      return absl::StrCat("vsock:", vsock->svm_cid, ":", vsock->svm_port);
    }
    default:
      return To<SocketAddr>().ToString();
  }
}

absl::StatusOr<Socket> Socket::Open(int family, int type) {
  OwnedFd fd(socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.IsValid()) return absl::ErrnoToStatus(errno, "socket");
  return Socket(std::move(fd));
}

absl::StatusOr<Socket> Socket::OpenMultipathTcp(int family) {
  OwnedFd fd(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    kMultipathTcp));
  if (fd.IsValid()) return Socket(std::move(fd));
  if (IsWithoutMultipathTcp(errno)) return Open(family, SOCK_STREAM);
  return absl::ErrnoToStatus(errno, "socket");
}

absl::StatusOr<std::pair<Socket, Socket>> Socket::OpenPair(int family,
                                                           int type) {
  int fds[2];
  if (socketpair(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  return std::pair(Socket(OwnedFd(fds[0])), Socket(OwnedFd(fds[1])));
}

absl::StatusOr<Socket> Socket::Adopt(OwnedFd fd, int family, int type) {
  // Checks before the socket is made non-blocking, because other descriptors
  // may share the open file.
  absl::Status status = CheckKind(fd.get(), *FindKind(family, type));
  if (status.ok()) status = AdoptFd(fd.get());
  if (!status.ok()) return status;
  return Socket(std::move(fd));
}

absl::Status Socket::BindError(const std::string& addr) {
  return absl::ErrnoToStatus(errno, absl::StrCat("bind to ", addr));
}

absl::Status Socket::Listen(int backlog) const {
  if (listen(fd(), backlog) == 0) return absl::OkStatus();
  return ErrorAtLocal(errno, "listen on");
}

absl::Status Socket::Shutdown(int how) const {
  if (shutdown(fd(), how) == 0) return absl::OkStatus();
  return ErrorAtPeer(errno, "shutdown of the connection to");
}

absl::Status Socket::GetLocalName(RawAddr& addr) const {
  if (getsockname(fd(), addr.data(), &addr.size) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "getsockname");
}

absl::Status Socket::GetPeerName(RawAddr& addr) const {
  if (PeerName(fd(), addr.data(), &addr.size) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "getpeername");
}

absl::Status Socket::ConnectUnix(const UnixAddr& addr) const {
  int result;
  do {
    result = Connect(addr);
  } while (result != 0 && errno == EINTR);
  absl::Status status =
      result == 0
          ? absl::OkStatus()
          : absl::ErrnoToStatus(errno, absl::StrCat("connect to ", addr));
  ROUSE_VLOG(2, "connection to ", addr, ": ", status.ToString());
  return status;
}

int Socket::TakeError() const {
  int error;
  socklen_t size = sizeof error;
  if (getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

int Socket::Accept(Socket& socket, RawAddr& peer) const {
  peer.size = sizeof peer.storage;
  OwnedFd accepted(
      accept4(fd(), peer.data(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted.IsValid()) return -1;
  socket = Socket(std::move(accepted));
  return 0;
}

ssize_t Socket::ReceiveParts(absl::Span<const absl::Span<char>> buffers) const {
  IoVectors vectors(buffers);
  return readv(fd(), vectors.data(), vectors.size());
}

ssize_t Socket::SendParts(absl::Span<const std::string_view> parts) const {
  IoVectors vectors(parts);
  msghdr message = {};
  message.msg_iov = vectors.data();
  message.msg_iovlen = static_cast<size_t>(vectors.size());
  return sendmsg(fd(), &message, MSG_NOSIGNAL);
}

absl::Status Socket::ErrorAtPeer(int error, std::string_view call) const {
  return NamedError(error, call, fd(), &PeerName);
}

absl::Status Socket::ErrorAtLocal(int error, std::string_view call) const {
  return NamedError(error, call, fd(), &getsockname);
}

}  // namespace rouse::internal
