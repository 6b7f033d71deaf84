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
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/ip_options.h"
#include "rouse/net/socket/datagram_io.h"
#include "rouse/net/socket/datagram_ops.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/socket_option.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UdpSocket
//
// Owns the socket and closes it when it is destroyed. Movable, but not while a
// future of it lives.
//
// Const members are thread-safe: any number of tasks may send and receive, and
// each datagram goes to one of those that receive.
//
// # Datagrams
//
// arrive whole, late, twice, in another order, or not at all. One of no bytes
// is a datagram like others, and no end. Of one that is larger than the buffer
// the rest is lost.
//
// # Cancelling
//
// Each operation is a future that does nothing before it is polled, borrows the
// socket and the buffer, and allocates nothing. Destroying it before it is
// ready means that nothing was sent or received.
//
// # Errors
//
// Those of the system call, through `absl::ErrnoToStatus()`, among them
//
//   Unavailable          of a connected socket: an earlier datagram has met
//                        nobody (ECONNREFUSED); the network is unreachable
//   InvalidArgument      `Send()` without a peer; a datagram that is too large
//   PermissionDenied     to a broadcast address, see `SetBroadcast()`
//
// and what is documented at `reactor::Registration`: Unavailable, too, when the
// reactor has been shut down.
//
// Every operation takes the task's cooperative budget (see context.h).
class UdpSocket : public IpOptions<UdpSocket> {
 private:
  struct RecvBatchOp;
  struct SendBatchOp;

 public:
  // The place of a future among those that wait: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // What is known of a datagram besides its bytes.
  struct Received {
    Received(size_t size, const SocketAddr& peer, bool truncated)
        : size(size), peer(peer), truncated(truncated) {}

    size_t size;  // in the buffer
    SocketAddr peer;
    bool truncated;  // there was more
  };

  // One of many to receive: `buffer` is for its bytes, the rest is filled in.
  struct Incoming {
    Incoming() = default;
    explicit Incoming(absl::Span<char> buffer) : buffer(buffer) {}

    absl::Span<char> buffer;
    size_t size = 0;  // in the buffer
    SocketAddr peer;
    bool truncated = false;  // there was more
  };

  // One of many to send.
  struct Outgoing {
    Outgoing(std::string_view data, const SocketAddr& to)
        : data(data), to(to) {}

    std::string_view data;
    SocketAddr to;
  };

  // How many datagrams one `RecvBatch()` or `SendBatch()` handles at most.
  static constexpr size_t kMaxBatch = 64;

  // The futures, for those who have to name them. Polling one that is finished
  // is a `Panic()`. They may be moved until they are polled.
  using RecvFuture =
      internal::IoFuture<const UdpSocket, internal::RecvOp<UdpSocket>>;
  using RecvFromFuture =
      internal::IoFuture<const UdpSocket, internal::RecvFromOp<UdpSocket>>;
  using PeekFromFuture =
      internal::IoFuture<const UdpSocket, internal::PeekFromOp<UdpSocket>>;
  using SendFuture =
      internal::IoFuture<const UdpSocket, internal::SendOp<UdpSocket>>;
  using SendToFuture =
      internal::IoFuture<const UdpSocket,
                         internal::SendToOp<UdpSocket, SocketAddr>>;
  using RecvBatchFuture = internal::IoFuture<const UdpSocket, RecvBatchOp>;
  using SendBatchFuture = internal::IoFuture<const UdpSocket, SendBatchOp>;

  // Receives at `addr`; port 0 lets the system choose one, see `local_addr()`.
  // Errors as of `TcpListener::Bind()`.
  static absl::StatusOr<UdpSocket> Bind(
      const SocketAddr& addr,
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a datagram socket and makes it non-blocking. On failure it is
  // closed.
  static absl::StatusOr<UdpSocket> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UdpSocket(UdpSocket&&) = default;
  UdpSocket& operator=(UdpSocket&&) = default;

  // From now on `Send()` sends to `addr`, and nothing is received from
  // elsewhere. Nothing is sent for it. May be called again.
  absl::Status Connect(const SocketAddr& addr) const;

  // Sends one datagram. Gives `absl::StatusOr<size_t>`, the size of `data`.
  SendToFuture SendTo(std::string_view data, const SocketAddr& to) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendToFuture(*this, data, to);
  }
  SendFuture Send(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture(*this, data);
  }

  // Receives one datagram. Gives `absl::StatusOr<Received>`. `PeekFrom()`
  // leaves it to be received again.
  RecvFromFuture RecvFrom(absl::Span<char> buffer) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFromFuture(*this, buffer);
  }
  PeekFromFuture PeekFrom(absl::Span<char> buffer) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return PeekFromFuture(*this, buffer);
  }

  // The same without the sender. Gives `absl::StatusOr<size_t>`, the number of
  // bytes in the buffer.
  RecvFuture Recv(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFuture(*this, buffer);
  }

  // Receives, in one system call, as many datagrams as there are, at least one
  // and up to the size of `batch`. Gives `absl::StatusOr<size_t>`, how many of
  // `batch`, from the front, have been filled in.
  RecvBatchFuture RecvBatch(absl::Span<Incoming> batch) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvBatchFuture(*this, batch);
  }

  // Sends, in one system call, as many datagrams of `batch` as can be sent now,
  // at least one. Gives `absl::StatusOr<size_t>`, how many, from the front. An
  // error is that of the first one; that of another one is given by the call
  // that begins with it.
  SendBatchFuture SendBatch(absl::Span<const Outgoing> batch) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendBatchFuture(*this, batch);
  }

  // The same for futures of your own. Without a `waiter` there is one task that
  // receives and one that sends: the one that polled last is woken.
  PollResult<absl::StatusOr<size_t>> PollSendTo(Context& cx,
                                                std::string_view data,
                                                const SocketAddr& to,
                                                Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollSend(Context& cx,
                                              std::string_view data,
                                              Waiter* waiter = nullptr) const {
    return internal::PollSend(evented_, cx, data, waiter);
  }
  PollResult<absl::StatusOr<Received>> PollRecvFrom(
      Context& cx, absl::Span<char> buffer, Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<Received>> PollPeekFrom(
      Context& cx, absl::Span<char> buffer, Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollRecvBatch(
      Context& cx, absl::Span<Incoming> batch, Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollSendBatch(
      Context& cx, absl::Span<const Outgoing> batch,
      Waiter* waiter = nullptr) const;

  // Groups. `group` is a multicast address of the socket's family, its port
  // does not matter; `interface` is the number of the interface. 0 is that
  // which `group.scope()` names, or else lets the system choose one.
  // AlreadyExists if it has been joined by the same interface already, NotFound
  // if what is left was not joined, or there is no such interface;
  // InvalidArgument if it is no group, or its scope is another interface.
  absl::Status JoinMulticast(const SocketAddr& group,
                             uint32_t interface = 0) const;
  absl::Status LeaveMulticast(const SocketAddr& group,
                              uint32_t interface = 0) const;

  // By which interface groups are sent to; 0, as at first: the system chooses.
  absl::Status SetMulticastInterface(uint32_t interface) const;

  // Whether what is sent to a group comes to this machine too. On at first.
  absl::Status SetMulticastLoop(bool on) const {
    return internal::SetOption(fd(), internal::IpOption::kMulticastLoop, on);
  }
  absl::StatusOr<bool> MulticastLoop() const {
    return internal::GetOption(fd(), internal::IpOption::kMulticastLoop);
  }

  // How many hops a datagram to a group may take, 0 to 255: one more than the
  // routers it may pass. 1 at first: it stays in the local network. With 0 it
  // does not leave this machine. For any other datagram there is `SetTtl()`.
  absl::Status SetMulticastTtl(int hops) const {
    return internal::SetOption(fd(), internal::IpOption::kMulticastTtl, hops);
  }
  absl::StatusOr<int> MulticastTtl() const {
    return internal::GetOption(fd(), internal::IpOption::kMulticastTtl);
  }

  // Whether it may send to a broadcast address. Off at first.
  absl::Status SetBroadcast(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kBroadcast, on);
  }
  absl::StatusOr<bool> Broadcast() const {
    return internal::GetOption(fd(), internal::SocketOption::kBroadcast);
  }

  // The address of this end, and of that which it is connected to:
  // FailedPrecondition if it is not.
  absl::StatusOr<SocketAddr> local_addr() const { return io().LocalAddr(); }
  absl::StatusOr<SocketAddr> peer_addr() const { return io().PeerAddr(); }

  // The descriptor. It stays owned.
  int fd() const { return io().fd(); }

  // Takes the descriptor out; it stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

 private:
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

  explicit UdpSocket(internal::EventedSocket evented)
      : evented_(std::move(evented)) {}

  static absl::StatusOr<UdpSocket> FromSocket(internal::Socket socket,
                                              const reactor::Handle& handle);

  const internal::Socket& io() const { return evented_.io(); }

  internal::EventedSocket evented_;
};

}  // namespace rouse

#endif  // ROUSE_NET_UDP_SOCKET_H_
