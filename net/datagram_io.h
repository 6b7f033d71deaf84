// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: datagram_io.h
// -----------------------------------------------------------------------------
//
// For net/ itself: what sockets for datagrams share, UDP and Unix.

#ifndef ROUSE_NET_DATAGRAM_IO_H_
#define ROUSE_NET_DATAGRAM_IO_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/socket.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

inline constexpr reactor::Interest kDatagramInterest =
    reactor::Interest::kReadable | reactor::Interest::kWritable;

// RawReceived
//
// What is known of a datagram besides its bytes.
struct RawReceived {
  RawReceived() : size(0), truncated(false) {}

  size_t size;  // of what is in the buffer
  RawAddr peer;
  bool truncated;  // there was more
};

// `flags` is 0 or MSG_PEEK.
PollResult<absl::StatusOr<RawReceived>> PollReceiveRaw(
    const EventedSocket& socket, Context& cx, absl::Span<char> buffer,
    int flags, reactor::Waiter* waiter);

// The same, as the socket's own `Received`.
template <class Received>
PollResult<absl::StatusOr<Received>> PollReceive(const EventedSocket& socket,
                                                 Context& cx,
                                                 absl::Span<char> buffer,
                                                 int flags,
                                                 reactor::Waiter* waiter) {
  using Addr = decltype(Received::peer);
  using Result = absl::StatusOr<Received>;
  auto received = PollReceiveRaw(socket, cx, buffer, flags, waiter);
  if (received.IsPending()) return kPending;
  if (!received->ok()) return Result((*std::move(received)).status());
  const RawReceived& raw = **received;
  return Result(Received(raw.size, raw.peer.To<Addr>(), raw.truncated));
}

// To whom the socket is connected.
PollResult<absl::StatusOr<size_t>> PollSend(const EventedSocket& socket,
                                            Context& cx, std::string_view data,
                                            reactor::Waiter* waiter);

// The status of a failed `call`, such as "sendto 192.0.2.1:53".
absl::Status SendError(int error, std::string_view call);

// The operations of `IoFuture`, on a `UdpSocket` or a `UnixDatagram`.

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

#endif  // ROUSE_NET_DATAGRAM_IO_H_
