// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: udp_socket.h
// -----------------------------------------------------------------------------
//
// A `UdpSocket` sends and receives datagrams:
//
//   rouse::Co<absl::Status> Echo() {
//     rouse::UdpSocket socket = co_await rouse::OrReturn(
//         rouse::UdpSocket::Bind(rouse::SocketAddr::Localhost(7777)));
//     char buffer[1500];
//     for (;;) {
//       rouse::UdpSocket::Received received = co_await rouse::OrReturn(
//           socket.RecvFrom(absl::MakeSpan(buffer)));
//       std::string_view data(buffer, received.size);
//       co_await rouse::OrReturn(socket.SendTo(data, received.peer));
//     }
//   }

#ifndef ROUSE_NET_UDP_SOCKET_H_
#define ROUSE_NET_UDP_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/ip_options.h"
#include "rouse/net/socket/datagram_base.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UdpSocket
//
// Owns the socket and closes it on destruction. Movable, but not while one of
// its futures is alive.
//
// The members that a `UdpSocket` shares with a `UnixDatagram`, such as
// `SendTo()` and `RecvFrom()`, are in net/socket/datagram_base.h.
//
// Const members are thread-safe: any number of tasks can send and receive, and
// each datagram goes to one of the receiving tasks.
//
// # Datagrams
//
// A datagram arrives whole or not at all. Datagrams can arrive late, twice, or
// in another order. An empty datagram is a datagram like any other, and not the
// end of a stream. If a datagram is larger than the buffer, the rest is lost.
//
// # Cancelling
//
// Each operation is a future that does nothing before the first poll, borrows
// the socket and the buffer, and allocates nothing. If the future is destroyed
// before it is ready, nothing was sent or received.
//
// # Errors
//
// Errors are those of the system call, converted by `absl::ErrnoToStatus()`,
// among them
//
//   Unavailable          on a connected socket: nobody received an earlier
//                        datagram (ECONNREFUSED); the network is unreachable
//   InvalidArgument      `Send()` without a peer; a datagram that is too large
//   PermissionDenied     to a broadcast address, see `SetBroadcast()`
//
// and the errors of `reactor::Registration`: Unavailable, too, when the reactor
// has been shut down.
//
// Every operation takes the task's cooperative budget (see context.h).
class UdpSocket : public internal::DatagramBase<UdpSocket, SocketAddr>,
                  public IpOptions<UdpSocket> {
 private:
  struct PeekFromOp;
  struct RecvBatchOp;
  struct SendBatchOp;

 public:
  // One datagram of a batch to receive: the caller supplies `buffer` for the
  // bytes, and `RecvBatch()` fills in the rest.
  struct Incoming {
    Incoming() = default;
    explicit Incoming(absl::Span<char> buffer) : buffer(buffer) {}

    absl::Span<char> buffer;
    size_t size = 0;  // bytes in the buffer
    SocketAddr peer;
    bool truncated = false;  // the datagram was larger
  };

  // One datagram of a batch to send.
  struct Outgoing {
    Outgoing(std::string_view data, const SocketAddr& to)
        : data(data), to(to) {}

    std::string_view data;
    SocketAddr to;
  };

  // Maximum number of datagrams that one `RecvBatch()` or `SendBatch()`
  // handles.
  static constexpr size_t kMaxBatch = 64;

  // The types of further futures. Subject to the rules for `RecvFuture`.
  using PeekFromFuture = internal::IoFuture<const UdpSocket, PeekFromOp>;
  using RecvBatchFuture = internal::IoFuture<const UdpSocket, RecvBatchOp>;
  using SendBatchFuture = internal::IoFuture<const UdpSocket, SendBatchOp>;

  // Opens a socket that receives at `addr`. With port 0 the system chooses a
  // port, which `local_addr()` returns. Errors are those of
  // `TcpListener::Bind()`.
  static absl::StatusOr<UdpSocket> Bind(
      const SocketAddr& addr,
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a datagram socket of IPv4 or IPv6 and makes the socket
  // non-blocking. On failure closes `fd`. Returns InvalidArgument if `fd` is
  // not a UDP socket; FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<UdpSocket> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UdpSocket(UdpSocket&&) = default;
  UdpSocket& operator=(UdpSocket&&) = default;

  // Returns the descriptor, which the socket continues to own.
  using DatagramBase::fd;

  // Like `RecvFrom()`, but leaves the datagram to be received again.
  PeekFromFuture PeekFrom(absl::Span<char> buffer) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return PeekFromFuture(*this, buffer);
  }

  // Receives, in one system call, as many datagrams as are available, at least
  // one and at most the size of `batch`. Returns `absl::StatusOr<size_t>`, the
  // number of elements of `batch`, from the front, that have been filled in.
  RecvBatchFuture RecvBatch(absl::Span<Incoming> batch) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvBatchFuture(*this, batch);
  }

  // Sends, in one system call, as many datagrams of `batch` as can be sent now,
  // at least one. Returns `absl::StatusOr<size_t>`, the number of datagrams
  // sent, from the front. A returned error concerns the first datagram of
  // `batch`; the error of a later datagram is returned by the call whose batch
  // begins with it.
  SendBatchFuture SendBatch(absl::Span<const Outgoing> batch) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendBatchFuture(*this, batch);
  }

  // Like the functions without `Try`, but return `std::nullopt` instead of
  // waiting: see `TryRecv()`.
  std::optional<absl::StatusOr<Received>> TryPeekFrom(
      absl::Span<char> buffer) const {
    return TryNow([this, buffer](Context& cx, Waiter* waiter) {
      return PollPeekFrom(cx, buffer, waiter);
    });
  }
  std::optional<absl::StatusOr<size_t>> TryRecvBatch(
      absl::Span<Incoming> batch) const {
    return TryNow([this, batch](Context& cx, Waiter* waiter) {
      return PollRecvBatch(cx, batch, waiter);
    });
  }
  std::optional<absl::StatusOr<size_t>> TrySendBatch(
      absl::Span<const Outgoing> batch) const {
    return TryNow([this, batch](Context& cx, Waiter* waiter) {
      return PollSendBatch(cx, batch, waiter);
    });
  }

  // Like the functions without `Poll`, for hand-written futures: see
  // `PollSend()`.
  PollResult<absl::StatusOr<size_t>> PollSendTo(Context& cx,
                                                std::string_view data,
                                                const SocketAddr& to,
                                                Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<Received>> PollPeekFrom(
      Context& cx, absl::Span<char> buffer, Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollRecvBatch(
      Context& cx, absl::Span<Incoming> batch, Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollSendBatch(
      Context& cx, absl::Span<const Outgoing> batch,
      Waiter* waiter = nullptr) const;

  // Joins or leaves the multicast group `group`, an address of the socket's
  // family whose port does not matter. `interface` is the number of the
  // interface; 0 selects the interface that `group.scope()` names or, if there
  // is none, lets the system choose.
  //
  // Returns AlreadyExists if the group has already been joined on the same
  // interface; NotFound if the group to be left was not joined, or no such
  // interface exists; InvalidArgument if `group` is not a multicast group, or
  // its scope is another interface.
  absl::Status JoinMulticast(const SocketAddr& group,
                             uint32_t interface = 0) const;
  absl::Status LeaveMulticast(const SocketAddr& group,
                              uint32_t interface = 0) const;

  // Like `JoinMulticast()` and `LeaveMulticast()`, but for only those datagrams
  // to `group` that come from `source`, an address of the same family whose
  // port does not matter (source-specific multicast). Several sources of a
  // group can be joined. For IPv4, 232.0.0.0/8 is reserved for such groups, for
  // IPv6 ff3x::/32.
  //
  // Do not mix sources with `JoinMulticast()` of the same group and interface:
  // on Linux both functions then limit the membership to the joined sources,
  // even if `LeaveMulticastSource()` returns an error.
  //
  // Returns AlreadyExists if the source has already been joined; NotFound if
  // the source to be left was not joined, or no such interface exists;
  // InvalidArgument if the addresses are of different families, `group` is not
  // a multicast group, or the scope of `group` is another interface;
  // ResourceExhausted (ENOBUFS) if the system's limit of sources is reached.
  absl::Status JoinMulticastSource(const SocketAddr& group,
                                   const SocketAddr& source,
                                   uint32_t interface = 0) const;
  absl::Status LeaveMulticastSource(const SocketAddr& group,
                                    const SocketAddr& source,
                                    uint32_t interface = 0) const;

  // Sets the interface through which datagrams are sent to groups. With 0, the
  // initial value, the system chooses.
  absl::Status SetMulticastInterface(uint32_t interface) const;

  // Sets or returns whether datagrams sent to a group also come back to this
  // machine. Initially on.
  absl::Status SetMulticastLoop(bool on) const {
    return internal::SetOption(fd(), internal::IpOption::kMulticastLoop, on);
  }
  absl::StatusOr<bool> MulticastLoop() const {
    return internal::GetOption(fd(), internal::IpOption::kMulticastLoop);
  }

  // Sets or returns the maximum number of hops of a datagram to a group, 0 to
  // 255: one more than the number of routers that the datagram can pass.
  // Initially 1: the datagram stays in the local network. With 0 the datagram
  // does not leave this machine. For all other datagrams use `SetTtl()`.
  absl::Status SetMulticastTtl(int hops) const {
    return internal::SetOption(fd(), internal::IpOption::kMulticastTtl, hops);
  }
  absl::StatusOr<int> MulticastTtl() const {
    return internal::GetOption(fd(), internal::IpOption::kMulticastTtl);
  }

  // Sets or returns whether the socket can send to a broadcast address.
  // Initially off.
  absl::Status SetBroadcast(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kBroadcast, on);
  }
  absl::StatusOr<bool> Broadcast() const {
    return internal::GetOption(fd(), internal::SocketOption::kBroadcast);
  }

 private:
  friend EventedBase;

  struct PeekFromOp {
    static constexpr std::string_view kName = "UdpSocket::PeekFrom()";
    explicit PeekFromOp(absl::Span<char> buffer) : buffer(buffer) {}
    auto operator()(const UdpSocket& socket, Context& cx,
                    Waiter* waiter) const {
      return socket.PollPeekFrom(cx, buffer, waiter);
    }
    absl::Span<char> buffer;
  };
  struct RecvBatchOp {
    static constexpr std::string_view kName = "UdpSocket::RecvBatch()";
    explicit RecvBatchOp(absl::Span<Incoming> batch) : batch(batch) {}
    auto operator()(const UdpSocket& socket, Context& cx,
                    Waiter* waiter) const {
      return socket.PollRecvBatch(cx, batch, waiter);
    }
    absl::Span<Incoming> batch;
  };
  struct SendBatchOp {
    static constexpr std::string_view kName = "UdpSocket::SendBatch()";
    explicit SendBatchOp(absl::Span<const Outgoing> batch) : batch(batch) {}
    auto operator()(const UdpSocket& socket, Context& cx,
                    Waiter* waiter) const {
      return socket.PollSendBatch(cx, batch, waiter);
    }
    absl::Span<const Outgoing> batch;
  };

  explicit UdpSocket(Evented evented) : DatagramBase(std::move(evented)) {}
};

}  // namespace rouse

#endif  // ROUSE_NET_UDP_SOCKET_H_
