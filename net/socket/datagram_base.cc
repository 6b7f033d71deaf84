// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket/datagram_base.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {
namespace {

using reactor::Direction;

// A datagram that is smaller than the buffer need not be the last one.
constexpr size_t kNeverShort = 0;

}  // namespace

PollResult<absl::StatusOr<RawReceived>> PollReceiveRaw(
    const EventedSocket& socket, Context& cx, absl::Span<char> buffer,
    int flags, reactor::Waiter* waiter) {
  using Result = absl::StatusOr<RawReceived>;
  RawReceived received;
  iovec vector = {buffer.data(), buffer.size()};
  msghdr message = {};
  const Socket& io = socket.io();
  auto size = socket.registration().PollIo(
      Direction::kRead, cx, waiter, kNeverShort,
      [&] {
        message = {};
        message.msg_name = received.peer.data();
        message.msg_namelen = sizeof received.peer.storage;
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        return recvmsg(io.fd(), &message, flags);
      },
      [&](int error) { return io.ErrorAtLocal(error, "recvmsg on"); });
  if (size.IsPending()) return kPending;
  if (!size->ok()) return Result((*std::move(size)).status());
  received.size = **size;
  received.peer.size = message.msg_namelen;
  received.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  return Result(received);
}

absl::Status SendError(int error, std::string_view call) {
  if (error != EMSGSIZE) return absl::ErrnoToStatus(error, call);
  return absl::InvalidArgumentError(absl::StrCat(
      call, ": the datagram is too large; send a smaller datagram"));
}

PollResult<absl::StatusOr<size_t>> PollSend(const EventedSocket& socket,
                                            Context& cx, std::string_view data,
                                            reactor::Waiter* waiter) {
  const Socket& io = socket.io();
  return socket.registration().PollIo(
      Direction::kWrite, cx, waiter, kNeverShort, [&] { return io.Send(data); },
      [&](int error) {
        // The error has nothing to do with the peer.
        if (error == EMSGSIZE) return SendError(error, "send");
        return io.ErrorAtPeer(error, "send to");
      });
}

}  // namespace rouse::internal
