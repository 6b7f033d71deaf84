// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_datagram.h
// -----------------------------------------------------------------------------
//
// A `UnixDatagram` exchanges datagrams with other processes of this machine.
// Datagrams arrive whole and in order:
//
//   rouse::UnixDatagram socket =
//       co_await rouse::OrReturn(rouse::UnixDatagram::Unbound());
//   co_await rouse::OrReturn(socket.SendTo(line, log_addr));

#ifndef ROUSE_NET_UNIX_UNIX_DATAGRAM_H_
#define ROUSE_NET_UNIX_UNIX_DATAGRAM_H_

#include <sys/socket.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/datagram_base.h"
#include "rouse/net/unix/peer_credentials.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UnixDatagram
//
// Shares the members in net/socket/datagram_base.h, such as `RecvFrom()`, with
// `UdpSocket`. Thread safety, cancelling and budget are as described at
// `UdpSocket`. The path to which the socket was bound stays in the file system
// when the socket is destroyed.
//
// While the receiver's queue is full, a send waits if the socket is connected
// to that receiver. The system reports new room only to such a socket; on any
// other socket, `SendTo()` fails with ResourceExhausted instead: send again
// later, or connect the socket. An unconnected socket waits only while its own
// send buffer is full. Receivers are compared by the address as written:
// another path to the same socket, such as a relative path, counts as another
// receiver. While a connected socket waits for its peer, sends to other
// receivers wait as well.
//
// # Errors
//
// Errors are those of the system call, converted by `absl::ErrnoToStatus()`,
// among them
//
//   NotFound             no such path exists
//   Unavailable          nobody is bound there (any more)
//   ResourceExhausted    see above
//   FailedPrecondition   `Send()` without a peer
//   InvalidArgument      a datagram that is too large
class UnixDatagram : public internal::DatagramBase<UnixDatagram, UnixAddr> {
 public:
  // Opens a socket that receives at `addr`. Errors are those of
  // `UnixListener::Bind()`.
  static absl::StatusOr<UnixDatagram> Bind(
      const UnixAddr& addr, const reactor::Handle& handle = reactor::Handle());

  // Opens a socket without a name: nobody can send to the socket.
  static absl::StatusOr<UnixDatagram> Unbound(
      const reactor::Handle& handle = reactor::Handle());

  // Makes two unnamed sockets that are connected to each other.
  static absl::StatusOr<std::pair<UnixDatagram, UnixDatagram>> Pair(
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a datagram socket and makes the socket non-blocking. On failure
  // closes `fd`. Returns InvalidArgument if `fd` is not a Unix datagram socket;
  // FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<UnixDatagram> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixDatagram(UnixDatagram&&) = default;
  UnixDatagram& operator=(UnixDatagram&&) = default;

  // End one direction. After `ShutdownWrite()`, sends of this socket fail with
  // FailedPrecondition (EPIPE). After `ShutdownRead()`, sends to this socket
  // fail in this way; datagrams that have already arrived can still be
  // received.
  //
  // Datagrams have no end of a stream: on Linux, a receive that waits, at
  // either end, continues to wait.
  absl::Status ShutdownRead() const { return io().Shutdown(SHUT_RD); }
  absl::Status ShutdownWrite() const { return io().Shutdown(SHUT_WR); }

  // Like `SendTo()`, for hand-written futures: see `PollSend()`.
  PollResult<absl::StatusOr<size_t>> PollSendTo(Context& cx,
                                                std::string_view data,
                                                const UnixAddr& to,
                                                Waiter* waiter = nullptr) const;

  // Returns the credentials of the peer of a socket from `Pair()`. Other
  // sockets have no single peer.
  absl::StatusOr<PeerCredentials> GetPeerCredentials() const {
    return internal::PeerCredentialsOf(fd());
  }

 private:
  friend EventedBase;

  explicit UnixDatagram(Evented evented) : DatagramBase(std::move(evented)) {}
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_DATAGRAM_H_
