// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: datagram_io.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: code shared by UDP and Unix datagram sockets.

#ifndef ROUSE_NET_SOCKET_DATAGRAM_IO_H_
#define ROUSE_NET_SOCKET_DATAGRAM_IO_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

inline constexpr reactor::Interest kDatagramInterest =
    reactor::Interest::kReadable | reactor::Interest::kWritable;

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

// Like `PollReceiveRaw()`, but returns the socket's own `Received` type.
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

// Sends one datagram to the connected peer.
PollResult<absl::StatusOr<size_t>> PollSend(const EventedSocket& socket,
                                            Context& cx, std::string_view data,
                                            reactor::Waiter* waiter);

// Returns the status for a failed `call`, such as "sendto 192.0.2.1:53".
absl::Status SendError(int error, std::string_view call);

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_DATAGRAM_IO_H_
