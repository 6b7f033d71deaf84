// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_listener.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/acceptor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_stream.h"
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

absl::StatusOr<UnixListener> UnixListener::FromSocket(
    Socket socket, const reactor::Handle& handle) {
  absl::StatusOr<EventedSocket> evented = EventedSocket::Create(
      std::move(socket), reactor::Interest::kReadable, handle);
  if (!evented.ok()) return std::move(evented).status();
  return UnixListener(*std::move(evented));
}

absl::StatusOr<UnixListener> UnixListener::Bind(const UnixAddr& addr,
                                                const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Open(AF_UNIX, SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  absl::Status status = socket->Bind(addr);
  if (status.ok()) status = socket->Listen();
  if (!status.ok()) return status;
  return FromSocket(*std::move(socket), handle);
}

absl::StatusOr<UnixListener> UnixListener::FromFd(
    OwnedFd fd, const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Adopt(std::move(fd), SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  return FromSocket(*std::move(socket), handle);
}

PollResult<absl::StatusOr<UnixListener::Accepted>> UnixListener::PollAccept(
    Context& cx, reactor::Waiter* waiter) const {
  using Result = absl::StatusOr<Accepted>;
  auto accepted = internal::PollAcceptSocket(evented_, cx, waiter);
  if (accepted.IsPending()) return kPending;
  if (!accepted->ok()) return Result((*std::move(accepted)).status());
  const UnixAddr peer = (*accepted)->peer.To<UnixAddr>();
  absl::StatusOr<UnixStream> stream = UnixStream::FromSocket(
      std::move((*accepted)->socket), evented_.registration().handle());
  if (!stream.ok()) return Result(std::move(stream).status());
  return Result(Accepted(*std::move(stream), peer));
}

}  // namespace rouse
