// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket/stream_base.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_vectors.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/io_outcome.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

using reactor::Direction;
using reactor::IoOutcome;

IoOutcome PollStreamPeek(const EventedSocket& socket, Context& cx,
                         absl::Span<char> buffer, reactor::Waiter* waiter) {
  if (buffer.empty()) return IoOutcome::Count(0);
  const Socket& io = socket.io();
  // A peek leaves bytes in the socket, however short the peek is.
  constexpr size_t kNeverShort = 0;
  return socket.registration().PollOutcome(
      Direction::kRead, cx, waiter, kNeverShort,
      [&io, buffer] { return io.Receive(buffer, MSG_PEEK); });
}

IoOutcome PollStreamReadVectored(const EventedSocket& socket, ShortRead says,
                                 Context& cx,
                                 absl::Span<const absl::Span<char>> buffers,
                                 reactor::Waiter* waiter) {
  const size_t size = TotalSize(buffers);
  if (size == 0) return IoOutcome::Count(0);
  const Socket& io = socket.io();
  // A read may also be short because of the number of buffers.
  const bool says_nothing =
      says == ShortRead::kNothing || buffers.size() > IoVectors::kMaxParts;
  return socket.registration().PollOutcome(
      Direction::kRead, cx, waiter, says_nothing ? 0 : size,
      [&io, buffers] { return io.ReceiveParts(buffers); });
}

IoOutcome PollStreamWriteVectored(const EventedSocket& socket, Context& cx,
                                  absl::Span<const std::string_view> parts,
                                  reactor::Waiter* waiter) {
  if (TotalSize(parts) == 0) return IoOutcome::Count(0);
  const Socket& io = socket.io();
  // A write may be short because of the number of parts, and then means
  // nothing.
  constexpr size_t kNeverShort = 0;
  return socket.registration().PollOutcome(
      Direction::kWrite, cx, waiter, kNeverShort,
      [&io, parts] { return io.SendParts(parts); });
}

absl::Status StreamError(const EventedSocket& socket, IoOutcome outcome,
                         std::string_view call) {
  return socket.registration().ErrorOf(
      outcome, [&](int error) { return socket.io().ErrorAtPeer(error, call); });
}

PollResult<absl::Status> PollStreamShutdown(const EventedSocket& socket) {
  if (shutdown(socket.io().fd(), SHUT_WR) == 0) return absl::OkStatus();
  // The whole connection has ended, and so has writing.
  if (errno == ENOTCONN) return absl::OkStatus();
  return socket.io().ErrorAtPeer(errno, "shutdown of the connection to");
}

}  // namespace rouse::internal
