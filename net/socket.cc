#include "rouse/net/socket.h"

#include <fcntl.h>
#include <netinet/in.h>  // IWYU pragma: keep: IPPROTO_TCP
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {
namespace {

absl::Status SetOption(int fd, int level, int option, int value,
                       std::string_view name) {
  if (setsockopt(fd, level, option, &value, sizeof value) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("setsockopt(", name, ")"));
}

// Of getsockname and getpeername.
using NameCall = int (*)(int fd, sockaddr* addr, socklen_t* size);

absl::StatusOr<SocketAddr> GetName(int fd, NameCall call,
                                   std::string_view name) {
  sockaddr_storage addr;
  socklen_t size = sizeof addr;
  if (call(fd, reinterpret_cast<sockaddr*>(&addr), &size) != 0) {
    return absl::ErrnoToStatus(errno, name);
  }
  return SocketAddr::FromSockaddr(reinterpret_cast<sockaddr*>(&addr), size);
}

absl::Status NamedError(int error, std::string_view call,
                        const absl::StatusOr<SocketAddr>& addr) {
  if (!addr.ok()) return absl::ErrnoToStatus(error, call);
  return absl::ErrnoToStatus(error, absl::StrCat(call, " ", *addr));
}

}  // namespace

absl::StatusOr<Socket> Socket::Open(const SocketAddr& addr) {
  OwnedFd fd(socket(addr.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    IPPROTO_TCP));
  if (!fd.IsValid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("socket for ", addr));
  }
  return Socket(std::move(fd));
}

absl::StatusOr<Socket> Socket::Adopt(OwnedFd fd) {
  int type;
  socklen_t size = sizeof type;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    return absl::ErrnoToStatus(errno, "getsockopt(SO_TYPE)");
  }
  if (type != SOCK_STREAM) {
    return absl::InvalidArgumentError("not a stream socket");
  }
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags < 0 || fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "fcntl(O_NONBLOCK)");
  }
  if (fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "fcntl(FD_CLOEXEC)");
  }
  return Socket(std::move(fd));
}

absl::Status Socket::Bind(const SocketAddr& addr) const {
  absl::Status status =
      SetOption(fd(), SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  if (!status.ok()) return status;
  if (bind(fd(), addr.data(), addr.size()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("bind to ", addr));
}

absl::Status Socket::Listen() const {
  if (listen(fd(), SOMAXCONN) == 0) return absl::OkStatus();
  return ErrorAtLocal(errno, "listen on");
}

absl::Status Socket::ShutdownWrite() const {
  if (shutdown(fd(), SHUT_WR) == 0) return absl::OkStatus();
  return ErrorAtPeer(errno, "shutdown of the connection to");
}

absl::Status Socket::SetNoDelay(bool on) const {
  return SetOption(fd(), IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0, "TCP_NODELAY");
}

absl::StatusOr<bool> Socket::NoDelay() const {
  int on;
  socklen_t size = sizeof on;
  if (getsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, &size) != 0) {
    return absl::ErrnoToStatus(errno, "getsockopt(TCP_NODELAY)");
  }
  return on != 0;
}

absl::StatusOr<SocketAddr> Socket::LocalAddr() const {
  return GetName(fd(), &getsockname, "getsockname");
}

absl::StatusOr<SocketAddr> Socket::PeerAddr() const {
  return GetName(fd(), &getpeername, "getpeername");
}

int Socket::TakeError() const {
  int error;
  socklen_t size = sizeof error;
  if (getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

int Socket::Connect(const SocketAddr& addr) const {
  return connect(fd(), addr.data(), addr.size());
}

int Socket::Accept(Socket& socket, SocketAddr& addr) const {
  sockaddr_storage peer;
  socklen_t size = sizeof peer;
  OwnedFd accepted(accept4(fd(), reinterpret_cast<sockaddr*>(&peer), &size,
                           SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted.IsValid()) return -1;
  absl::StatusOr<SocketAddr> parsed =
      SocketAddr::FromSockaddr(reinterpret_cast<sockaddr*>(&peer), size);
  // A peer without an address that we know, of an adopted listener.
  addr = parsed.ok() ? *parsed : SocketAddr();
  socket = Socket(std::move(accepted));
  return 0;
}

ssize_t Socket::Receive(absl::Span<char> buffer) const {
  return recv(fd(), buffer.data(), buffer.size(), 0);
}

ssize_t Socket::Send(std::string_view data) const {
  return send(fd(), data.data(), data.size(), MSG_NOSIGNAL);
}

absl::Status Socket::ErrorAtPeer(int error, std::string_view call) const {
  return NamedError(error, call, PeerAddr());
}

absl::Status Socket::ErrorAtLocal(int error, std::string_view call) const {
  return NamedError(error, call, LocalAddr());
}

}  // namespace rouse::internal
