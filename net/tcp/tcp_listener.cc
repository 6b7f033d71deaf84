// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_listener.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/acceptor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using internal::EventedSocket;
using internal::Socket;

absl::StatusOr<TcpListener> TcpListener::Bind(const SocketAddr& addr,
                                              const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Open(addr.family(), SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  absl::Status status = internal::SetOption(
      socket->fd(), internal::SocketOption::kReuseAddr, true);
  if (status.ok()) status = socket->Bind(addr);
  if (status.ok()) status = socket->Listen();
  if (!status.ok()) return status;
  return FromSocket(*std::move(socket), handle);
}

absl::StatusOr<TcpListener> TcpListener::FromFd(OwnedFd fd,
                                                const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::AdoptTcp(std::move(fd));
  if (!socket.ok()) return std::move(socket).status();
  return FromSocket(*std::move(socket), handle);
}

absl::StatusOr<TcpListener> TcpListener::FromSocket(
    Socket socket, const reactor::Handle& handle) {
  absl::StatusOr<EventedSocket> evented = EventedSocket::Create(
      std::move(socket), reactor::Interest::kReadable, handle);
  if (!evented.ok()) return std::move(evented).status();
  return TcpListener(*std::move(evented));
}

PollResult<absl::StatusOr<TcpListener::Accepted>> TcpListener::PollAccept(
    Context& cx, reactor::Waiter* waiter) const {
  using Result = absl::StatusOr<Accepted>;
  auto accepted = internal::PollAcceptSocket(evented_, cx, waiter);
  if (accepted.IsPending()) return kPending;
  if (!accepted->ok()) return Result((*std::move(accepted)).status());
  const SocketAddr peer = (*accepted)->peer.To<SocketAddr>();
  absl::StatusOr<TcpStream> stream = TcpStream::FromSocket(
      std::move((*accepted)->socket), evented_.registration().handle());
  if (!stream.ok()) return Result(std::move(stream).status());
  return Result(Accepted(*std::move(stream), peer));
}

}  // namespace rouse
