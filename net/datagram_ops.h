// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: datagram_ops.h
// -----------------------------------------------------------------------------
//
// For net/ itself: the operations on datagrams for an `IoFuture` of a
// `UdpSocket` or a `UnixDatagram`, which is `S`.

#ifndef ROUSE_NET_DATAGRAM_OPS_H_
#define ROUSE_NET_DATAGRAM_OPS_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

struct SendOp {
  static constexpr std::string_view kName = "Send";

  explicit SendOp(std::string_view data) : data(data) {}

  template <class S>
  PollResult<absl::StatusOr<size_t>> operator()(const S& socket, Context& cx,
                                                reactor::Waiter* waiter) const {
    return socket.PollSend(cx, data, waiter);
  }

  std::string_view data;
};

template <class Addr>
struct SendToOp {
  static constexpr std::string_view kName = "SendTo";

  SendToOp(std::string_view data, const Addr& to) : data(data), to(to) {}

  template <class S>
  PollResult<absl::StatusOr<size_t>> operator()(const S& socket, Context& cx,
                                                reactor::Waiter* waiter) const {
    return socket.PollSendTo(cx, data, to, waiter);
  }

  std::string_view data;
  Addr to;
};

struct RecvOp {
  static constexpr std::string_view kName = "Recv";

  explicit RecvOp(absl::Span<char> buffer) : buffer(buffer) {}

  template <class S>
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

struct RecvFromOp {
  static constexpr std::string_view kName = "RecvFrom";

  explicit RecvFromOp(absl::Span<char> buffer) : buffer(buffer) {}

  template <class S>
  auto operator()(const S& socket, Context& cx, reactor::Waiter* waiter) const {
    return socket.PollRecvFrom(cx, buffer, waiter);
  }

  absl::Span<char> buffer;
};

struct PeekFromOp {
  static constexpr std::string_view kName = "PeekFrom";

  explicit PeekFromOp(absl::Span<char> buffer) : buffer(buffer) {}

  template <class S>
  auto operator()(const S& socket, Context& cx, reactor::Waiter* waiter) const {
    return socket.PollPeekFrom(cx, buffer, waiter);
  }

  absl::Span<char> buffer;
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_DATAGRAM_OPS_H_
