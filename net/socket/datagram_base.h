// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: datagram_base.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: the members that `UdpSocket` and `UnixDatagram` share,
// and the calls that `UnixSeqpacket` shares with them.

#ifndef ROUSE_NET_SOCKET_DATAGRAM_BASE_H_
#define ROUSE_NET_SOCKET_DATAGRAM_BASE_H_

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// RawReceived
//
// Describes a received datagram; the buffer holds the bytes.
struct RawReceived {
  RawReceived() : size(0), truncated(false) {}

  size_t size;  // bytes in the buffer
  RawAddr peer;
  bool truncated;  // the datagram was larger
};

// Receives one datagram. `flags` is 0 or MSG_PEEK.
PollResult<absl::StatusOr<RawReceived>> PollReceiveRaw(
    const EventedSocket& socket, Context& cx, absl::Span<char> buffer,
    int flags, reactor::Waiter* waiter);

// Sends one datagram to the connected peer.
PollResult<absl::StatusOr<size_t>> PollSend(const EventedSocket& socket,
                                            Context& cx, std::string_view data,
                                            reactor::Waiter* waiter);

// Returns the status for a failed `call`, such as "sendto 192.0.2.1:53".
absl::Status SendError(int error, std::string_view call);

// DatagramBase
//
// The base class of a socket `S` that sends datagrams to an `Addr`, by a
// function `PollSendTo()` of its own.
template <class S, class Addr>
class DatagramBase : public EventedBase<S, Socket> {
 private:
  struct RecvOp;
  struct RecvFromOp;
  struct SendOp;
  struct SendToOp;

 public:
  using typename EventedBase<S, Socket>::Waiter;

  // The kinds of events for which a datagram socket is registered.
  static constexpr reactor::Interest kInterest =
      reactor::Interest::kReadable | reactor::Interest::kWritable;

  // Describes a received datagram; the buffer holds the bytes.
  struct Received {
    Received(size_t size, const Addr& peer, bool truncated)
        : size(size), peer(peer), truncated(truncated) {}

    size_t size;  // bytes in the buffer
    Addr peer;
    bool truncated;  // the datagram was larger
  };

  // The types of the futures. Polling a finished future is a `Panic()`. A
  // future can be moved until it is polled.
  using RecvFuture = IoFuture<const S, RecvOp>;
  using RecvFromFuture = IoFuture<const S, RecvFromOp>;
  using SendFuture = IoFuture<const S, SendOp>;
  using SendToFuture = IoFuture<const S, SendToOp>;

  // Makes `addr` the peer: from now on `Send()` sends to `addr`, and datagrams
  // from other addresses are not received. `Connect()` sends no packet, and can
  // be called again.
  absl::Status Connect(const Addr& addr) const {
    if (this->io().Connect(addr) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrCat("connect to ", addr));
  }

  // Sends one datagram. Returns `absl::StatusOr<size_t>`, the size of `data`.
  SendToFuture SendTo(std::string_view data,
                      const Addr& to) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendToFuture(this->self(), data, to);
  }
  SendFuture Send(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture(this->self(), data);
  }

  // Receives one datagram. Returns `absl::StatusOr<Received>`. Bytes that do
  // not fit into the buffer are lost.
  RecvFromFuture RecvFrom(absl::Span<char> buffer) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFromFuture(this->self(), buffer);
  }

  // Like `RecvFrom()`, but without the sender's address. Returns
  // `absl::StatusOr<size_t>`, the number of bytes in the buffer.
  RecvFuture Recv(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFuture(this->self(), buffer);
  }

  // Like the functions without `Try`, but return a `std::optional`, which is
  // `std::nullopt` if the operation would have to wait (see
  // net/evented_base.h). Take no budget.
  std::optional<absl::StatusOr<size_t>> TrySend(std::string_view data) const {
    return this->TryNow([this, data](Context& cx, Waiter* waiter) {
      return PollSend(cx, data, waiter);
    });
  }
  std::optional<absl::StatusOr<size_t>> TrySendTo(std::string_view data,
                                                  const Addr& to) const {
    return this->TryNow([this, data, &to](Context& cx, Waiter* waiter) {
      return this->self().PollSendTo(cx, data, to, waiter);
    });
  }
  std::optional<absl::StatusOr<size_t>> TryRecv(absl::Span<char> buffer) const {
    return this->TryNow([this, buffer](Context& cx, Waiter* waiter) {
      return RecvOp(buffer)(this->self(), cx, waiter);
    });
  }
  std::optional<absl::StatusOr<Received>> TryRecvFrom(
      absl::Span<char> buffer) const {
    return this->TryNow([this, buffer](Context& cx, Waiter* waiter) {
      return PollRecvFrom(cx, buffer, waiter);
    });
  }

  // Like the functions above, for hand-written futures. Without a `waiter` only
  // one task can wait to receive and one task to send: the task that polled
  // last is woken.
  PollResult<absl::StatusOr<size_t>> PollSend(Context& cx,
                                              std::string_view data,
                                              Waiter* waiter = nullptr) const {
    return internal::PollSend(this->evented(), cx, data, waiter);
  }
  PollResult<absl::StatusOr<Received>> PollRecvFrom(
      Context& cx, absl::Span<char> buffer, Waiter* waiter = nullptr) const {
    return PollReceive(cx, buffer, /*flags=*/0, waiter);
  }

  // Returns the address of this end or of the peer. `peer_addr()` returns
  // FailedPrecondition if the socket is not connected.
  absl::StatusOr<Addr> local_addr() const {
    return this->io().template LocalAddr<Addr>();
  }
  absl::StatusOr<Addr> peer_addr() const {
    return this->io().template PeerAddr<Addr>();
  }

 protected:
  explicit DatagramBase(EventedSocket evented)
      : EventedBase<S, Socket>(std::move(evented)) {}

  static absl::StatusOr<S> FromSocket(absl::StatusOr<Socket> socket,
                                      const reactor::Handle& handle) {
    return DatagramBase::Register(std::move(socket), handle);
  }

  // Receives one datagram. `flags` is 0 or MSG_PEEK.
  PollResult<absl::StatusOr<Received>> PollReceive(Context& cx,
                                                   absl::Span<char> buffer,
                                                   int flags,
                                                   Waiter* waiter) const {
    using Result = absl::StatusOr<Received>;
    auto received = PollReceiveRaw(this->evented(), cx, buffer, flags, waiter);
    if (received.IsPending()) return kPending;
    if (!received->ok()) return Result((*std::move(received)).status());
    const RawReceived& raw = **received;
    return Result(
        Received(raw.size, raw.peer.template To<Addr>(), raw.truncated));
  }

 private:
  // Selects the name of an operation.
  static constexpr bool kIsUdp = std::is_same_v<Addr, SocketAddr>;

  struct SendOp {
    static constexpr std::string_view kName =
        kIsUdp ? "UdpSocket::Send()" : "UnixDatagram::Send()";

    explicit SendOp(std::string_view data) : data(data) {}

    PollResult<absl::StatusOr<size_t>> operator()(const S& socket, Context& cx,
                                                  Waiter* waiter) const {
      return socket.PollSend(cx, data, waiter);
    }

    std::string_view data;
  };

  struct SendToOp {
    static constexpr std::string_view kName =
        kIsUdp ? "UdpSocket::SendTo()" : "UnixDatagram::SendTo()";

    SendToOp(std::string_view data, const Addr& to) : data(data), to(to) {}

    PollResult<absl::StatusOr<size_t>> operator()(const S& socket, Context& cx,
                                                  Waiter* waiter) const {
      return socket.PollSendTo(cx, data, to, waiter);
    }

    std::string_view data;
    Addr to;
  };

  struct RecvOp {
    static constexpr std::string_view kName =
        kIsUdp ? "UdpSocket::Recv()" : "UnixDatagram::Recv()";

    explicit RecvOp(absl::Span<char> buffer) : buffer(buffer) {}

    PollResult<absl::StatusOr<size_t>> operator()(const S& socket, Context& cx,
                                                  Waiter* waiter) const {
      auto received = socket.PollRecvFrom(cx, buffer, waiter);
      if (received.IsPending()) return kPending;
      if (!received->ok()) {
        return absl::StatusOr<size_t>((*std::move(received)).status());
      }
      return absl::StatusOr<size_t>((*received)->size);
    }

    absl::Span<char> buffer;
  };

  struct RecvFromOp {
    static constexpr std::string_view kName =
        kIsUdp ? "UdpSocket::RecvFrom()" : "UnixDatagram::RecvFrom()";

    explicit RecvFromOp(absl::Span<char> buffer) : buffer(buffer) {}

    auto operator()(const S& socket, Context& cx, Waiter* waiter) const {
      return socket.PollRecvFrom(cx, buffer, waiter);
    }

    absl::Span<char> buffer;
  };
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_DATAGRAM_BASE_H_
