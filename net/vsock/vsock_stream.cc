// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/vsock/vsock_stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/log/vlog.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/vsock/adopt_vsock.h"
#include "rouse/net/vsock/vsock_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using internal::Socket;

static_assert(AsyncRead<const VsockStream> && AsyncWrite<const VsockStream>);

VsockStream::ConnectFuture VsockStream::Connect(const VsockAddr& addr,
                                                reactor::Handle handle) {
  return ConnectFuture(addr, std::move(handle));
}

absl::StatusOr<VsockStream> VsockStream::FromFd(OwnedFd fd,
                                                const reactor::Handle& handle) {
  return FromSocket(internal::AdoptVsock(std::move(fd)), handle);
}

absl::Status VsockStream::ConnectFuture::ConnectError(int error) const {
  return absl::ErrnoToStatus(error, absl::StrCat("connect to ", addr_));
}

absl::StatusOr<VsockStream> VsockStream::ConnectFuture::Start() const {
  absl::StatusOr<Socket> socket = Socket::Open(AF_VSOCK, SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  // Connects before registering, like `TcpStream`.
  if (socket->Connect(addr_) != 0 && errno != EINPROGRESS && errno != EINTR) {
    return ConnectError(errno);
  }
  ROUSE_VLOG(2, "connecting to ", addr_, " by descriptor ", socket->fd());
  return FromSocket(*std::move(socket), handle_);
}

PollResult<absl::StatusOr<VsockStream>> VsockStream::ConnectFuture::Poll(
    Context& cx) {
  using Result = absl::StatusOr<VsockStream>;
  if (finished_) internal::PanicFinished("VsockStream::Connect()");
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (!stream_.has_value()) {
    Result started = Start();
    if (!started.ok()) {
      unit->MadeProgress();
      finished_ = true;
      return started;
    }
    stream_.emplace(*std::move(started));
  }
  const auto event = stream_->evented().registration().PollReady(
      reactor::Direction::kWrite, cx, &waiter_);
  if (event.IsPending()) return kPending;
  unit->MadeProgress();
  finished_ = true;
  VsockStream stream = *std::exchange(stream_, std::nullopt);
  if (!event->ok()) return Result(event->status());
  const int error = stream.io().TakeError();
  if (error != 0) return Result(ConnectError(error));
  return Result(std::move(stream));
}

}  // namespace rouse
