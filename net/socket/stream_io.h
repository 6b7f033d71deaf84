// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_io.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: code shared by TCP and Unix streams.

#ifndef ROUSE_NET_SOCKET_STREAM_IO_H_
#define ROUSE_NET_SOCKET_STREAM_IO_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// The interest includes `kPriority` because a read stops before out-of-band
// data: only knowledge of that data shows that such a read has not emptied the
// socket.
inline constexpr reactor::Interest kStreamInterest =
    reactor::Interest::kReadable | reactor::Interest::kWritable |
    reactor::Interest::kPriority;

// The meaning of a read that returns fewer bytes than requested.
enum class ShortRead {
  kNoMoreForNow,
  // A short read means nothing: a read of a Unix socket ends after bytes that
  // came with descriptors, or from another process.
  kNothing,
};

// Read, write and shut down as described at `AsyncRead` and `AsyncWrite`.
PollResult<absl::StatusOr<size_t>> PollStreamRead(const EventedSocket& socket,
                                                  ShortRead says, Context& cx,
                                                  absl::Span<char> buffer,
                                                  reactor::Waiter* waiter);
PollResult<absl::StatusOr<size_t>> PollStreamWrite(const EventedSocket& socket,
                                                   Context& cx,
                                                   std::string_view data,
                                                   reactor::Waiter* waiter);
PollResult<absl::StatusOr<size_t>> PollStreamWriteVectored(
    const EventedSocket& socket, Context& cx,
    absl::Span<const std::string_view> parts, reactor::Waiter* waiter);
PollResult<absl::Status> PollStreamShutdown(const EventedSocket& socket);

// Like `PollStreamRead()`, but leaves the bytes in the socket.
PollResult<absl::StatusOr<size_t>> PollStreamPeek(const EventedSocket& socket,
                                                  Context& cx,
                                                  absl::Span<char> buffer,
                                                  reactor::Waiter* waiter);

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_STREAM_IO_H_
