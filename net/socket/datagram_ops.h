// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: datagram_ops.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: the datagram operations that an `IoFuture` of `S`, a
// `UdpSocket` or a `UnixDatagram`, performs.

#ifndef ROUSE_NET_SOCKET_DATAGRAM_OPS_H_
#define ROUSE_NET_SOCKET_DATAGRAM_OPS_H_

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

class UdpSocket;

namespace internal {

// Selects the name of an operation.
template <class S>
inline constexpr bool kIsUdp = std::is_same_v<S, UdpSocket>;

template <class S>
struct SendOp {
  static constexpr std::string_view kName =
      kIsUdp<S> ? "UdpSocket::Send()" : "UnixDatagram::Send()";

  explicit SendOp(std::string_view data) : data(data) {}

  PollResult<absl::StatusOr<size_t>> operator()(const S& socket, Context& cx,
                                                reactor::Waiter* waiter) const {
    return socket.PollSend(cx, data, waiter);
  }

  std::string_view data;
};

template <class S, class Addr>
struct SendToOp {
  static constexpr std::string_view kName =
      kIsUdp<S> ? "UdpSocket::SendTo()" : "UnixDatagram::SendTo()";

  SendToOp(std::string_view data, const Addr& to) : data(data), to(to) {}

  PollResult<absl::StatusOr<size_t>> operator()(const S& socket, Context& cx,
                                                reactor::Waiter* waiter) const {
    return socket.PollSendTo(cx, data, to, waiter);
  }

  std::string_view data;
  Addr to;
};

template <class S>
struct RecvOp {
  static constexpr std::string_view kName =
      kIsUdp<S> ? "UdpSocket::Recv()" : "UnixDatagram::Recv()";

  explicit RecvOp(absl::Span<char> buffer) : buffer(buffer) {}

  PollResult<absl::StatusOr<size_t>> operator()(const S& socket, Context& cx,
                                                reactor::Waiter* waiter) const {
    auto received = socket.PollRecvFrom(cx, buffer, waiter);
    if (received.IsPending()) return kPending;
    if (!received->ok()) {
      return absl::StatusOr<size_t>((*std::move(received)).status());
    }
    return absl::StatusOr<size_t>((*received)->size);
  }

  absl::Span<char> buffer;
};

template <class S>
struct RecvFromOp {
  static constexpr std::string_view kName =
      kIsUdp<S> ? "UdpSocket::RecvFrom()" : "UnixDatagram::RecvFrom()";

  explicit RecvFromOp(absl::Span<char> buffer) : buffer(buffer) {}

  auto operator()(const S& socket, Context& cx, reactor::Waiter* waiter) const {
    return socket.PollRecvFrom(cx, buffer, waiter);
  }

  absl::Span<char> buffer;
};

template <class S>
struct PeekFromOp {
  static constexpr std::string_view kName =
      kIsUdp<S> ? "UdpSocket::PeekFrom()" : "UnixDatagram::PeekFrom()";

  explicit PeekFromOp(absl::Span<char> buffer) : buffer(buffer) {}

  auto operator()(const S& socket, Context& cx, reactor::Waiter* waiter) const {
    return socket.PollPeekFrom(cx, buffer, waiter);
  }

  absl::Span<char> buffer;
};

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_NET_SOCKET_DATAGRAM_OPS_H_
