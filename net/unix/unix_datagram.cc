// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_datagram.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/net/socket/datagram_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using internal::Socket;

// Means that the receiver's queue is full. sendto(2) itself returns ENOBUFS
// only for sockets of other families.
constexpr int kReceiverIsFull = ENOBUFS;

// Returns whether the socket can send. For a connected socket this also depends
// on the peer.
bool IsWritable(int fd) {
  pollfd polled = {fd, POLLOUT, 0};
  return poll(&polled, 1, 0) == 1 && (polled.revents & POLLOUT) != 0;
}

// Like sendto(2), but fails with EAGAIN only if an event will report room;
// otherwise the wait would never end.
ssize_t SendToName(const Socket& io, std::string_view data,
                   const UnixAddr& to) {
  const auto send = [&] {
    return sendto(io.fd(), data.data(), data.size(), MSG_NOSIGNAL, to.data(),
                  to.size());
  };
  ssize_t size = send();
  if (size >= 0 || errno != EAGAIN) return size;
  const absl::StatusOr<UnixAddr> peer = io.PeerAddr<UnixAddr>();
  if (!peer.ok()) {
    // An event reports when the socket's own buffer has room.
    if (!IsWritable(io.fd())) {
      errno = EAGAIN;
      return -1;
    }
  } else if (*peer == to) {
    // An event also reports when the peer's queue has room, unless the peer is
    // closed and another socket has its name.
    size = io.Send(data);
    if (size >= 0 || errno != ECONNREFUSED) return size;
  }
  // The receiver may have room by now.
  size = send();
  if (size < 0 && errno == EAGAIN) errno = kReceiverIsFull;
  return size;
}

}  // namespace

absl::StatusOr<UnixDatagram> UnixDatagram::Bind(const UnixAddr& addr,
                                                const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Open(AF_UNIX, SOCK_DGRAM);
  if (!socket.ok()) return std::move(socket).status();
  absl::Status status = socket->Bind(addr);
  if (!status.ok()) return status;
  return FromSocket(*std::move(socket), handle);
}

absl::StatusOr<UnixDatagram> UnixDatagram::Unbound(
    const reactor::Handle& handle) {
  return FromSocket(Socket::Open(AF_UNIX, SOCK_DGRAM), handle);
}

absl::StatusOr<std::pair<UnixDatagram, UnixDatagram>> UnixDatagram::Pair(
    const reactor::Handle& handle) {
  return RegisterPair(Socket::OpenPair(AF_UNIX, SOCK_DGRAM), handle);
}

absl::StatusOr<UnixDatagram> UnixDatagram::FromFd(
    OwnedFd fd, const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_UNIX, SOCK_DGRAM), handle);
}

PollResult<absl::StatusOr<size_t>> UnixDatagram::PollSendTo(
    Context& cx, std::string_view data, const UnixAddr& to,
    reactor::Waiter* waiter) const {
  // A short datagram is still sent as a whole.
  constexpr size_t kNeverShort = 0;
  return evented().registration().PollIo(
      reactor::Direction::kWrite, cx, waiter, kNeverShort,
      [&] { return SendToName(io(), data, to); },
      [&](int error) {
        if (error == kReceiverIsFull) {
          return absl::ResourceExhaustedError(
              absl::StrCat("sendto ", to,
                           ": the receiver's queue is full; send again later, "
                           "or use Connect() and Send(), which waits"));
        }
        return internal::SendError(error, absl::StrCat("sendto ", to));
      });
}

}  // namespace rouse
