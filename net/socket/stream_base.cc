// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket/stream_base.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

using reactor::Direction;

PollResult<absl::StatusOr<size_t>> PollStreamRead(const EventedSocket& socket,
                                                  ShortRead says, Context& cx,
                                                  absl::Span<char> buffer,
                                                  reactor::Waiter* waiter) {
  if (buffer.empty()) return absl::StatusOr<size_t>(0);
  const Socket& io = socket.io();
  const size_t full = says == ShortRead::kNothing ? 0 : buffer.size();
  return socket.registration().PollIo(
      Direction::kRead, cx, waiter, full, [&] { return io.Receive(buffer); },
      [&](int error) { return io.ErrorAtPeer(error, "recv from"); });
}

PollResult<absl::StatusOr<size_t>> PollStreamPeek(const EventedSocket& socket,
                                                  Context& cx,
                                                  absl::Span<char> buffer,
                                                  reactor::Waiter* waiter) {
  if (buffer.empty()) return absl::StatusOr<size_t>(0);
  const Socket& io = socket.io();
  // A peek leaves bytes in the socket, however short the peek is.
  constexpr size_t kNeverShort = 0;
  return socket.registration().PollIo(
      Direction::kRead, cx, waiter, kNeverShort,
      [&] { return io.Receive(buffer, MSG_PEEK); },
      [&](int error) { return io.ErrorAtPeer(error, "recv from"); });
}

PollResult<absl::StatusOr<size_t>> PollStreamWrite(const EventedSocket& socket,
                                                   Context& cx,
                                                   std::string_view data,
                                                   reactor::Waiter* waiter) {
  if (data.empty()) return absl::StatusOr<size_t>(0);
  const Socket& io = socket.io();
  return socket.registration().PollIo(
      Direction::kWrite, cx, waiter, data.size(), [&] { return io.Send(data); },
      [&](int error) { return io.ErrorAtPeer(error, "send to"); });
}

PollResult<absl::StatusOr<size_t>> PollStreamWriteVectored(
    const EventedSocket& socket, Context& cx,
    absl::Span<const std::string_view> parts, reactor::Waiter* waiter) {
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  if (size == 0) return absl::StatusOr<size_t>(0);
  const Socket& io = socket.io();
  // A write may be short because of the number of parts, and then means
  // nothing.
  constexpr size_t kNeverShort = 0;
  return socket.registration().PollIo(
      Direction::kWrite, cx, waiter, kNeverShort,
      [&] { return io.SendParts(parts); },
      [&](int error) { return io.ErrorAtPeer(error, "sendmsg to"); });
}

PollResult<absl::Status> PollStreamShutdown(const EventedSocket& socket) {
  if (shutdown(socket.io().fd(), SHUT_WR) == 0) return absl::OkStatus();
  // The whole connection has ended, and so has writing.
  if (errno == ENOTCONN) return absl::OkStatus();
  return socket.io().ErrorAtPeer(errno, "shutdown of the connection to");
}

}  // namespace rouse::internal
