// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_datagram.h
// -----------------------------------------------------------------------------
//
// A `UnixDatagram` sends datagrams to other processes of this machine, which
// arrive whole and in order:
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
// Thread-safety, cancelling and budget are those of `UdpSocket`. A path that it
// was bound to stays in the file system when it is destroyed.
//
// Where the receiver's queue is full, sending waits. The system tells when
// there is room again only to a socket that is connected to that receiver; for
// any other, `SendTo()` fails then: send again later, or connect. Whether it is
// the same receiver is decided by the address as it is written: another path to
// the same socket, such as a relative one, counts as another receiver. While
// one that is connected waits for its peer, what it sends to others waits as
// well.
//
// # Errors
//
// Those of the system call, through `absl::ErrnoToStatus()`, among them
//
//   NotFound             there is no such path
//   Unavailable          nobody is bound there (any more)
//   ResourceExhausted    see above
//   FailedPrecondition   `Send()` without a peer
//   InvalidArgument      a datagram that is too large
class UnixDatagram {
 public:
  // The place of a future among those that wait: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // What is known of a datagram besides its bytes.
  struct Received {
    Received(size_t size, const UnixAddr& peer, bool truncated)
        : size(size), peer(peer), truncated(truncated) {}

    size_t size;  // in the buffer
    UnixAddr peer;
    bool truncated;  // there was more
  };

  // For those who have to name them. As the futures of `UdpSocket`.
  using RecvFuture =
      internal::IoFuture<const UnixDatagram, internal::RecvOp<UnixDatagram>>;
  using RecvFromFuture = internal::IoFuture<const UnixDatagram,
                                            internal::RecvFromOp<UnixDatagram>>;
  using SendFuture =
      internal::IoFuture<const UnixDatagram, internal::SendOp<UnixDatagram>>;
  using SendToFuture =
      internal::IoFuture<const UnixDatagram,
                         internal::SendToOp<UnixDatagram, UnixAddr>>;

  // Receives at `addr`. Errors as of `UnixListener::Bind()`.
  static absl::StatusOr<UnixDatagram> Bind(
      const UnixAddr& addr, const reactor::Handle& handle = reactor::Handle());

  // Has no name, so that nobody can send to it.
  static absl::StatusOr<UnixDatagram> Unbound(
      const reactor::Handle& handle = reactor::Handle());

  // Two without a name that are connected to each other.
  static absl::StatusOr<std::pair<UnixDatagram, UnixDatagram>> Pair(
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a datagram socket and makes it non-blocking. On failure it is
  // closed.
  static absl::StatusOr<UnixDatagram> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixDatagram(UnixDatagram&&) = default;
  UnixDatagram& operator=(UnixDatagram&&) = default;

  // From now on `Send()` sends to `addr`, and nothing is received from
  // elsewhere.
  absl::Status Connect(const UnixAddr& addr) const;

  // Sends one datagram. Gives `absl::StatusOr<size_t>`, the size of `data`.
  SendToFuture SendTo(std::string_view data,
                      const UnixAddr& to) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendToFuture(*this, data, to);
  }
  SendFuture Send(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture(*this, data);
  }

  // Receives one datagram. `RecvFrom()` gives `absl::StatusOr<Received>`,
  // `Recv()` gives `absl::StatusOr<size_t>`, the number of bytes in the buffer.
  // What does not fit into it is lost.
  RecvFromFuture RecvFrom(absl::Span<char> buffer) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFromFuture(*this, buffer);
  }
  RecvFuture Recv(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFuture(*this, buffer);
  }

  // The same for futures of your own. Without a `waiter` there is one task that
  // receives and one that sends: the one that polled last is woken.
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

  // Of a pair: others have no one peer.
  absl::StatusOr<PeerCredentials> GetPeerCredentials() const {
    return internal::PeerCredentialsOf(fd());
  }

  // The address of this end, and of that which it is connected to:
  // FailedPrecondition if it is not.
  absl::StatusOr<UnixAddr> local_addr() const { return io().LocalUnixAddr(); }
  absl::StatusOr<UnixAddr> peer_addr() const { return io().PeerUnixAddr(); }

  // The descriptor. It stays owned.
  int fd() const { return io().fd(); }

  // Takes the descriptor out; it stays non-blocking.
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
