// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_stream.h"

#include <sys/socket.h>

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using internal::Socket;

static_assert(AsyncRead<const UnixStream> && AsyncWrite<const UnixStream>);

absl::StatusOr<UnixStream> UnixStream::FromFd(OwnedFd fd,
                                              const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_UNIX, SOCK_STREAM), handle);
}

absl::StatusOr<std::pair<UnixStream, UnixStream>> UnixStream::Pair(
    const reactor::Handle& handle) {
  return RegisterPair(Socket::OpenPair(AF_UNIX, SOCK_STREAM), handle);
}

UnixStream::ConnectFuture UnixStream::Connect(const UnixAddr& addr,
                                              reactor::Handle handle) {
  return ConnectFuture(addr, std::move(handle), std::nullopt);
}

PollResult<absl::StatusOr<UnixStream>> UnixStream::ConnectFuture::Poll(
    Context& cx) {
  using Result = absl::StatusOr<UnixStream>;
  if (finished_) internal::PanicFinished("UnixStream::Connect()");
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  unit->MadeProgress();
  finished_ = true;
  if (!socket_.has_value()) {
    absl::StatusOr<Socket> opened = Socket::Open(AF_UNIX, SOCK_STREAM);
    if (!opened.ok()) return Result(std::move(opened).status());
    socket_ = *std::move(opened);
  }
  // The socket is closed when this poll fails.
  Socket socket = *std::exchange(socket_, std::nullopt);
  absl::Status status = socket.ConnectUnix(addr_);
  if (!status.ok()) return Result(std::move(status));
  return FromSocket(std::move(socket), handle_);
}

}  // namespace rouse
