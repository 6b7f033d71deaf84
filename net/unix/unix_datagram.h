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

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/datagram_io.h"
#include "rouse/net/socket/datagram_ops.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/peer_credentials.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UnixDatagram
//
// Thread safety, cancelling and budget are as described at `UdpSocket`. The
// path to which the socket was bound stays in the file system when the socket
// is destroyed.
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
class UnixDatagram {
 public:
  // Represents a waiting future in the list of waiters; see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // Describes a received datagram; the buffer holds the bytes.
  struct Received {
    Received(size_t size, const UnixAddr& peer, bool truncated)
        : size(size), peer(peer), truncated(truncated) {}

    size_t size;  // bytes in the buffer
    UnixAddr peer;
    bool truncated;  // the datagram was larger
  };

  // The types of the futures. Subject to the rules for the futures of
  // `UdpSocket`.
  using RecvFuture =
      internal::IoFuture<const UnixDatagram, internal::RecvOp<UnixDatagram>>;
  using RecvFromFuture = internal::IoFuture<const UnixDatagram,
                                            internal::RecvFromOp<UnixDatagram>>;
  using SendFuture =
      internal::IoFuture<const UnixDatagram, internal::SendOp<UnixDatagram>>;
  using SendToFuture =
      internal::IoFuture<const UnixDatagram,
                         internal::SendToOp<UnixDatagram, UnixAddr>>;

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
  // closes `fd`.
  static absl::StatusOr<UnixDatagram> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixDatagram(UnixDatagram&&) = default;
  UnixDatagram& operator=(UnixDatagram&&) = default;

  // Makes `addr` the peer: from now on `Send()` sends to `addr`, and datagrams
  // from other addresses are not received.
  absl::Status Connect(const UnixAddr& addr) const;

  // Sends one datagram. Returns `absl::StatusOr<size_t>`, the size of `data`.
  SendToFuture SendTo(std::string_view data,
                      const UnixAddr& to) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendToFuture(*this, data, to);
  }
  SendFuture Send(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture(*this, data);
  }

  // Receives one datagram. `RecvFrom()` returns `absl::StatusOr<Received>`;
  // `Recv()` returns `absl::StatusOr<size_t>`, the number of bytes in the
  // buffer. Bytes that do not fit into the buffer are lost.
  RecvFromFuture RecvFrom(absl::Span<char> buffer) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFromFuture(*this, buffer);
  }
  RecvFuture Recv(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFuture(*this, buffer);
  }

  // Like the functions above, for hand-written futures. Without a `waiter` only
  // one task can wait to receive and one task to send: the task that polled
  // last is woken.
  PollResult<absl::StatusOr<size_t>> PollSendTo(Context& cx,
                                                std::string_view data,
                                                const UnixAddr& to,
                                                Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollSend(Context& cx,
                                              std::string_view data,
                                              Waiter* waiter = nullptr) const {
    return internal::PollSend(evented_, cx, data, waiter);
  }
  PollResult<absl::StatusOr<Received>> PollRecvFrom(
      Context& cx, absl::Span<char> buffer, Waiter* waiter = nullptr) const;

  // Returns the credentials of the peer of a socket from `Pair()`. Other
  // sockets have no single peer.
  absl::StatusOr<PeerCredentials> GetPeerCredentials() const {
    return internal::PeerCredentialsOf(fd());
  }

  // Returns the address of this end or of the peer. `peer_addr()` returns
  // FailedPrecondition if the socket is not connected.
  absl::StatusOr<UnixAddr> local_addr() const { return io().LocalUnixAddr(); }
  absl::StatusOr<UnixAddr> peer_addr() const { return io().PeerUnixAddr(); }

  // Returns the descriptor, which the socket continues to own.
  int fd() const { return io().fd(); }

  // Releases the descriptor, which stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

 private:
  explicit UnixDatagram(internal::EventedSocket evented)
      : evented_(std::move(evented)) {}

  static absl::StatusOr<UnixDatagram> FromSocket(internal::Socket socket,
                                                 const reactor::Handle& handle);

  const internal::Socket& io() const { return evented_.io(); }

  internal::EventedSocket evented_;
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_DATAGRAM_H_
