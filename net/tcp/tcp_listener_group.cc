// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_listener_group.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_socket.h"
#include "rouse/reactor/handle.h"

namespace rouse {
namespace {

using internal::Socket;

// Sets both options on `socket`, and binds it.
absl::Status BindShared(
    const TcpSocket& socket, const SocketAddr& addr,
    absl::FunctionRef<absl::Status(const TcpSocket&)> configure) {
  absl::Status status = socket.SetReuseAddr(true);
  if (status.ok()) status = socket.SetReusePort(true);
  if (status.ok()) status = configure(socket);
  if (status.ok()) status = socket.Bind(addr);
  return status;
}

// Attaches the program `return cpu % count` to the group of `fd`.
absl::Status SteerByCpu(int fd, size_t count) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               static_cast<uint32_t>(SKF_AD_OFF + SKF_AD_CPU)),
      BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, static_cast<uint32_t>(count)),
      BPF_STMT(BPF_RET | BPF_A, 0),
  };
  const sock_fprog program = {static_cast<uint16_t>(std::size(code)), code};
  if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program,
                 sizeof program) == 0) {
    return absl::OkStatus();
  }
  return internal::OptionError("SO_ATTACH_REUSEPORT_CBPF");
}

}  // namespace

absl::StatusOr<TcpListenerGroup> TcpListenerGroup::Bind(
    const SocketAddr& addr, size_t count,
    const TcpListenerGroupOptions& options,
    absl::FunctionRef<absl::Status(const TcpSocket&)> configure) {
  if (count == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a group of 0 listeners on ", addr,
                     "; choose at least 1, such as one for each thread"));
  }
  // All sockets are bound before the first listens, so that nothing is accepted
  // by a group that cannot be completed.
  SocketAddr shared = addr;
  std::vector<Socket> sockets;
  sockets.reserve(count);
  while (sockets.size() < count) {
    absl::StatusOr<TcpSocket> socket = TcpSocket::Open(addr);
    if (!socket.ok()) return std::move(socket).status();
    absl::Status status = BindShared(*socket, shared, configure);
    if (!status.ok()) return status;
    if (sockets.empty()) {
      // The system has replaced port 0 by a port.
      const absl::StatusOr<SocketAddr> bound = socket->local_addr();
      if (!bound.ok()) return bound.status();
      shared = *bound;
    }
    sockets.push_back(std::move(socket->socket_));
  }
  // The order of these calls makes the indices of the kernel.
  for (const Socket& socket : sockets) {
    absl::Status status = socket.Listen(options.backlog);
    if (!status.ok()) return status;
  }
  if (options.steering == TcpSteering::kByCpu) {
    absl::Status status = SteerByCpu(sockets.front().fd(), count);
    if (!status.ok()) return status;
  }
  return TcpListenerGroup(std::move(sockets), shared);
}

absl::StatusOr<TcpListener> TcpListenerGroup::Take(
    size_t index, const reactor::Handle& handle) {
  if (index >= sockets_.size()) {
    Panic(absl::StrCat("TcpListenerGroup::Take(", index,
                       "): the group has only ", sockets_.size(),
                       " listeners; pass an index from 0 on"));
  }
  Socket& socket = sockets_[index];
  if (socket.fd() < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("listener ", index, " of the group on ", local_addr_,
                     " has been taken already; take each listener once"));
  }
  absl::StatusOr<internal::EventedSocket> evented =
      internal::EventedSocket::TryCreate(std::move(socket),
                                         TcpListener::kInterest, handle);
  if (!evented.ok()) return std::move(evented).status();
  return TcpListener(*std::move(evented));
}

}  // namespace rouse
