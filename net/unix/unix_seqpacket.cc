// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_seqpacket.h"

#include <sys/socket.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/datagram_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using internal::Socket;

UnixSeqpacket::ConnectFuture UnixSeqpacket::Connect(const UnixAddr& addr,
                                                    reactor::Handle handle) {
  return ConnectFuture(addr, std::move(handle));
}

absl::StatusOr<std::pair<UnixSeqpacket, UnixSeqpacket>> UnixSeqpacket::Pair(
    const reactor::Handle& handle) {
  return RegisterPair(Socket::OpenPair(AF_UNIX, SOCK_SEQPACKET), handle);
}

absl::StatusOr<UnixSeqpacket> UnixSeqpacket::FromFd(
    OwnedFd fd, const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_UNIX, SOCK_SEQPACKET),
                    handle);
}

PollResult<absl::StatusOr<size_t>> UnixSeqpacket::PollSend(
    Context& cx, std::string_view message, Waiter* waiter) const {
  if (message.empty()) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return absl::StatusOr<size_t>(absl::InvalidArgumentError(
        "send: the message is empty, which the receiver would take for the end "
        "of the connection; send at least one byte"));
  }
  return internal::PollSend(evented(), cx, message, waiter);
}

PollResult<absl::StatusOr<UnixSeqpacket::Received>> UnixSeqpacket::PollRecv(
    Context& cx, absl::Span<char> buffer, Waiter* waiter) const {
  using Result = absl::StatusOr<Received>;
  auto received =
      internal::PollReceiveRaw(evented(), cx, buffer, /*flags=*/0, waiter);
  if (received.IsPending()) return kPending;
  if (!received->ok()) return Result((*std::move(received)).status());
  return Result(Received((*received)->size, (*received)->truncated));
}

PollResult<absl::StatusOr<UnixSeqpacket>> UnixSeqpacket::ConnectFuture::Poll(
    Context& cx) {
  using Result = absl::StatusOr<UnixSeqpacket>;
  if (finished_) internal::PanicFinished("UnixSeqpacket::Connect()");
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  unit->MadeProgress();
  finished_ = true;
  absl::StatusOr<Socket> socket = Socket::Open(AF_UNIX, SOCK_SEQPACKET);
  if (!socket.ok()) return Result(std::move(socket).status());
  absl::Status status = socket->ConnectUnix(addr_);
  if (!status.ok()) return Result(std::move(status));
  return FromSocket(*std::move(socket), handle_);
}

}  // namespace rouse
